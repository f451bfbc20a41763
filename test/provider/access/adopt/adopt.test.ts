import { startEmulator } from "../../../../emulator";
import { generateProgram } from "../../../../provider/access/adopt/program";
import type { Inventory } from "../../../../provider/access/documents/inventory";
import { takeInventory } from "../../../../provider/inventory/takeInventory";
import { clientOf } from "../../../support/driftMatrix";
import { builtInRoles, randomOrganisation, small } from "../../../support/organisation";

const takeInventoryOf = async (): Promise<Inventory> => {
  const { root, seed: resources } = randomOrganisation(1, small, await builtInRoles());
  const emulator = await startEmulator({ seed: resources });
  const inventory = await takeInventory(clientOf(emulator), { root, now: Date.now });
  await emulator.close();
  return inventory;
};

// Whole organisations are adopted through the real engine (test/engine/adopt.test.ts).
describe("the program that adopts an organisation", () => {
  test("declares a single object with uids, and leaves out an object that is managed already", async () => {
    const inventory = await takeInventoryOf();
    const role = inventory.objects.find(({ kind, builtIn }) => kind === "Role" && !builtIn);
    const uid = role?.uid ?? "";
    const { code, resources } = generateProgram({ inventory, only: [uid] });
    expect(resources.map((one) => one.uid)).toEqual([uid]);
    expect(code).toContain("new Role(");
    expect(code).toContain("parentUid: organisation,");
    // Only the uid of an organisation is a setting, not that of a group below it.
    const below = inventory.objects.find((one) => one.kind === "Group" && one.uid.split("/").length > 2);
    const root = below?.uid.slice(0, -17) ?? "";
    const ofGroup = generateProgram({ inventory: { ...inventory, root }, only: [below?.uid ?? ""] });
    expect(ofGroup.code.replace(/\s+/g, " ")).toContain(`const organisation = "${root}";`);
    const name = resources[0]?.name ?? "";
    const again = generateProgram({ inventory, only: [uid], usedNames: new Set([`Role ${name}`]) });
    expect(again.resources[0]?.name).not.toBe(name);
    const none = generateProgram({
      inventory,
      only: [uid],
      managers: new Map([[`Role ${uid}`, "the stack"]]),
    });
    expect(none.resources).toEqual([]);
    expect(none.skipped).toEqual([expect.objectContaining({ uid, reason: "the stack manages it already" })]);
  });

  test("leaves out the bindings of a group whose access another stack manages as a whole", async () => {
    const inventory = await takeInventoryOf();
    const bindings = inventory.objects.filter(({ kind }) => kind === "RoleBinding");
    const group = bindings[0]?.uid.slice(0, -17) ?? "";
    const isThere = ({ uid }: { uid: string }) => uid.slice(0, -17) === group;
    const { resources, skipped: leftOut } = generateProgram({
      inventory,
      only: ["RoleBinding"],
      managers: new Map([[`GroupAccess ${group}`, "stack acme/prod"]]),
    });
    const reason =
      "the GroupAccess of stack acme/prod has all of its group, this one as well: add it there only if drift says that it is missing";
    expect(leftOut.filter(isThere)).toEqual(
      bindings.filter(isThere).map(() => expect.objectContaining({ reason }) as object),
    );
    expect(resources.filter(isThere)).toEqual([]);
    expect(resources.length + leftOut.length).toBe(bindings.length);
  });
});
