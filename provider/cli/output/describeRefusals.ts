import type { Inventory } from "../../access/documents/inventory";
import { printable } from "../../text/printable";

/** What an inventory lacks, a line each. */
export function describeRefusals({ refused }: Inventory): string[] {
  return refused.map(
    ({ kind, scope, code, errorCode, message }) =>
      `${kind}${scope === undefined ? "" : ` at ${scope}`} was not read: ${code}: ${printable(message, 300)}` +
      (errorCode === undefined ? "" : ` (${errorCode})`),
  );
}
