import type { Method } from "../gateway/routes";
import * as tables from "./exports";
import type { KindTable } from "./kindTable";
import { standardMethods } from "./methods";
import { methodsWithoutKind } from "./methodsWithoutKind";

/** Every kind of resource. */
export const kindTables: readonly KindTable[] = Object.values(tables);

/** Custom methods come first, because their paths also match those with a uid. */
export const allMethods: readonly Method[] = [
  ...[...kindTables.flatMap(({ custom = [] }) => custom), ...methodsWithoutKind].map((method): Method => ({
    ...method,
    run: (call, platform) => ({ message: method.run(call, platform) }),
  })),
  ...kindTables.flatMap(standardMethods),
];
