import type { Emulator } from "../../emulator";
import { kindTables } from "../../emulator/tables";
import type { Inventory } from "../../provider/access/documents/inventory";
import { randomOf } from "../../scripts/lib/random.cjs";
import { addresses, bodyOf, changeByHand, withUids } from "./byHand";
import { sampleUids } from "./randomChange";
import type { ProgramResource } from "./randomChange";
import { samples } from "./samples";
import { call } from "./wire";

/** Samples of which more can be made by hand below any group, next to what is there. */
const creatable = samples.filter(
  ({ kind, own }) =>
    own === undefined &&
    kindTables.some((table) => table.kind === kind && kind in addresses && table.parent === "Group"),
);

/** Changes, deletes and creates some objects of an organisation past its program. The same seed does the same. */
export async function driftAtRandom(
  emulator: Emulator,
  inventory: Inventory,
  resources: readonly ProgramResource[],
  seed: number,
): Promise<void> {
  const random = randomOf(seed);
  const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const ids = sampleUids(inventory, pick);
  for (const resource of resources) {
    const { kind, uid } = resource;
    if (random() < 0.7) continue;
    const users = [ids, ...resources.filter((other) => other !== resource)];
    const isUsed = users.some((user) => JSON.stringify(user).includes(uid));
    const address = addresses[kind];
    if (!isUsed && address !== undefined && random() < 0.5)
      await call(emulator, "DELETE", `${address}/${uid}`);
    else if (kind !== "Group" || uid !== inventory.root) {
      await changeByHand(emulator, resource, Math.floor(random() * 10), ids);
    }
  }
  for (const { kind, args } of creatable) {
    if (random() < 0.7) continue;
    const { parentUid = inventory.root, ...body } = withUids(args, ids) as Record<string, unknown>;
    await call(emulator, "POST", `${addresses[kind] ?? ""}/${String(parentUid)}`, bodyOf(body));
  }
}
