import type { ResourceSpec } from "../../engine/description";
import { kinds } from "../../resources";

/** Without a prototype: a kind may be called `constructor`. */
export const specs: Readonly<Record<string, ResourceSpec | undefined>> = Object.assign(
  Object.create(null) as Record<string, ResourceSpec>,
  Object.fromEntries(kinds.map(({ spec }) => [spec.kind, spec])),
);
