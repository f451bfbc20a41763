import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../../../emulator";
import { generateProgram } from "../../../../provider/access/adopt/program";
import type { Inventory } from "../../../../provider/access/documents/inventory";
import { findDrift } from "../../../../provider/access/drift/drift";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { takeInventory } from "../../../../provider/inventory/takeInventory";
import { clientOf } from "../../../support/driftMatrix";
import { ROOT } from "../../../support/engine";
import { builtInRoles, randomOrganisation, small } from "../../../support/organisation";
import type { OrganisationSize } from "../../../support/organisation";
import { isQuick, spreadOf } from "../../../support/properties";
import { exportText } from "../../../../scripts/lib/documents.cjs";
import { clean, compile, lint } from "../../../support/tools";

const inventoryOf = async (seed: number, size: OrganisationSize = small): Promise<Inventory> => {
  const { root, seed: resources } = randomOrganisation(seed, size, await builtInRoles());
  const emulator = await startEmulator({ seed: resources });
  const inventory = await takeInventory(clientOf(emulator), { root, now: Date.now });
  await emulator.close();
  return inventory;
};

describe("the program that adopts an organisation", () => {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-adopt-"));
  beforeAll(() => {
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    writeFileSync(join(folder, "package.json"), "{}");
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          ...{ strict: true, noUnusedLocals: true, noUncheckedIndexedAccess: true, noEmit: true },
          ...{ module: "commonjs", moduleResolution: "node10", target: "ES2020", esModuleInterop: true },
          ...{ skipLibCheck: true, types: ["node"] },
          paths: { "pulumi-platform": [join(ROOT, "dist/provider/index.d.ts")] },
        },
        include: ["*.ts"],
      }),
    );
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test("is the same each time, and passes strict types and the recommended lint rules", async () => {
    const files: string[] = [];
    const tried = spreadOf([1, 2, 3], 1, 0);
    for (const seed of tried) {
      const inventory = await inventoryOf(seed);
      for (const byTeam of [false, true]) {
        const layout = byTeam ? { teamFolder: `teams${seed}` } : {};
        const { code, files: ofTeams } = generateProgram({ inventory, ...layout });
        const again = generateProgram({ inventory: structuredClone(inventory), ...layout });
        expect([again.code, again.files]).toEqual([code, ofTeams]);
        const written = { ...ofTeams, [`org${seed}${byTeam ? "ByTeam" : ""}.ts`]: code };
        if (byTeam) {
          mkdirSync(join(folder, `teams${seed}`));
          // The shared file imports none of the others, so no two import each other.
          expect(ofTeams[`teams${seed}/shared.ts`]).not.toMatch(/from "\.\//);
        }
        for (const [file, text] of Object.entries(written)) writeFileSync(join(folder, file), text);
        files.push(...Object.keys(written));
      }
    }
    // A program in one file, and one of a main file, a shared one and at least one for a team.
    expect(files.length).toBeGreaterThanOrEqual(tried.length * (1 + 3));
    expect(compile(folder)).toEqual(clean);
    expect(lint(folder)).toEqual(clean);
  });

  const seeds = Array.from(
    { length: Number(process.env["PULUMI_PLATFORM_SEEDS"] ?? (isQuick ? "3" : "12")) },
    (_, i) => 100 + i,
  );

  test("declares each object so that the provider's own diff finds nothing, and names what it leaves out", async () => {
    for (const seed of seeds) {
      const inventory = await inventoryOf(seed);
      const { resources, skipped: leftOut } = generateProgram({ inventory });
      const names = resources.map(({ kind, name }) => `${kind} ${name}`);
      expect(new Set(names).size).toBe(names.length);
      const exported = exportText(resources, "test");
      const report = await findDrift({
        states: [parseStateExport(exported, "export.json")],
        inventories: [inventory],
        failOn: "any",
        now: Date.now(),
        version: "0",
      });
      expect(report.complete).toBe(true);
      const missing = new Set(leftOut.map(({ uid }) => uid));
      for (const { uid, drift } of report.findings) {
        expect(drift?.kind).toBe("unmanaged");
        expect(missing).toContain(uid);
      }
    }
  });

  test("declares a single object with uids, and leaves out an object that is managed already", async () => {
    const inventory = await inventoryOf(1);
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
    const inventory = await inventoryOf(1);
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
