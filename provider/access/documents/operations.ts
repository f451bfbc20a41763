/** What becomes of one resource of the stack. */
export type Op = "create" | "update" | "replace" | "delete" | "same" | "read" | "import";

/** What each operation of the engine means for a resource; undefined if another step of the resource already covers it. */
export const operations: ReadonlyMap<string, Op | undefined> = new Map([
  ["same", "same"],
  ["create", "create"],
  ["update", "update"],
  ["replace", "replace"],
  // The half of a replacement that contains all of it, in documents that do not contain the whole.
  ["create-replacement", "replace"],
  ["delete-replaced", undefined],
  ["delete", "delete"],
  ["discard", "delete"],
  ["discard-replaced", undefined],
  ["remove-pending-replace", undefined],
  ["read", "read"],
  ["read-replacement", "read"],
  ["import", "import"],
  ["import-replacement", "import"],
  ["refresh", "same"],
  // The engine compares before it decides: the next step contains the decision.
  ["diff", undefined],
] as const);
