import { printable } from "../../text/printable";
import { parentUidOf } from "../../fields/wire";
import { isObject } from "../../fields/values";
import { INVENTORY_VERSION } from "./inventory";
import type { Inventory } from "./inventory";
import { DocumentError, parseJson } from "./jsonText";
import { checkInputSizes, checkNameLengths } from "./limits";
import { specs } from "./specs";
import { documentProblem } from "./jsonSchema";

/** An object lies in the group that its uid begins with: so no group lies in one that lies in it. */
function placeProblem({ objects }: Inventory): string | undefined {
  for (const [i, { kind, uid, inputs }] of objects.entries()) {
    const spec = specs[kind];
    const { parentUid } = inputs;
    if (spec === undefined || parentUid === undefined) continue;
    const parent = parentUidOf(spec, uid);
    if (parentUid === parent) continue;
    return `objects[${i}].inputs.parentUid must be ${parent ?? "left out"}, where its uid ${printable(uid, 80)} says that it lies`;
  }
  return undefined;
}

/** Checks what a schema cannot: valid calendar times, and members that agree. */
function contentProblem({ takenAt, complete, refused }: Inventory): string | undefined {
  if (Number.isNaN(Date.parse(takenAt))) return "takenAt must be an RFC 3339 time";
  return complete && refused.length > 0 ? "complete must be false where refused names lists" : undefined;
}

/**
 * Reads the document of `pulumi-platform inventory` (`schema/inventory.schema.json`).
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line that names the property: `objects[3].uid must be a uid`.
 */
export function parseInventory(input: string | Uint8Array, name = "the inventory"): Inventory {
  const file = printable(name, 200);
  const value = parseJson(input, file);
  if (isObject(value) && isObject(value["deployment"])) {
    throw new DocumentError(
      "PP6002",
      `${file} is an export of a stack, not an inventory: give it to --state, and make an inventory with npx --no pulumi-platform inventory`,
    );
  }
  const refuse = (problem: string | undefined): void => {
    if (problem === undefined) return;
    throw new DocumentError("PP6003", `${file} is not a valid inventory: ${problem}`);
  };
  refuse(documentProblem(value, { name: "inventory", version: INVENTORY_VERSION }));
  const inventory = value as Inventory;
  refuse(contentProblem(inventory));
  for (const { kind, uid, inputs, details } of inventory.objects) {
    const who = `${file}: ${kind} ${printable(uid, 80)}`;
    checkNameLengths(who, { uid });
    checkInputSizes(who, kind, inputs);
    checkInputSizes(who, kind, details);
  }
  refuse(placeProblem(inventory));
  return inventory;
}
