import type { ResourceSpec } from "../../fields/resourceSpec";
import { kinds } from "../../kinds";

/** Without a prototype: a kind may be called `constructor`. */
export const specs: Readonly<Record<string, ResourceSpec | undefined>> = Object.assign(
  Object.create(null) as Record<string, ResourceSpec>,
  Object.fromEntries(kinds.map(({ spec }) => [spec.kind, spec])),
);
