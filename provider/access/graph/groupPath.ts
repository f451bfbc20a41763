/**
 * The path of a group: names from the root down. A slash in a name is escaped, so that one group whose name is
 * `acme / sandbox` does not have the path of the group sandbox in acme.
 */
export function groupPath(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\/]/g, "\\$&")).join(" / ");
}
