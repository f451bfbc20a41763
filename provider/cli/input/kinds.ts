import { inventoryKinds, listedKinds } from "../../access/documents/inventory";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";

/** The kinds that `--types` names; `+KIND` adds to the default ones. @throws UsageError */
export function readKinds(values: readonly string[]): readonly string[] {
  const words = values.flatMap((text) => text.split(",")).map((word) => word.trim());
  if (words.length === 0) return listedKinds;
  for (const word of words) {
    if (!inventoryKinds.includes(word.replace(/^\+/, ""))) {
      throw new UsageError(
        "PP5008",
        `--types must name kinds of ${inventoryKinds.join(", ")}, not "${printable(word, 80)}"`,
      );
    }
  }
  const added = words.filter((word) => word.startsWith("+")).map((word) => word.slice(1));
  const exact = words.filter((word) => !word.startsWith("+"));
  return [...new Set([...(exact.length === 0 ? listedKinds : exact), ...added])];
}
