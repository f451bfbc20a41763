import { startEmulator } from "../../../emulator";
import { writeProgram } from "../../../provider/access/adopt/program";
import { findDrift } from "../../../provider/access/drift/drift";
import { parseStateExport } from "../../../provider/access/stateExport";
import { takeInventory } from "../../../provider/access/takeInventory";
import { clientOf } from "../../support/driftMatrix";
import { randomOrganisation } from "../../support/organisation";

test("an organisation of 20,000 objects takes at most 120 lists for drift, and is adopted from the same document", async () => {
  const size = { groups: 1500, identities: 6000, roles: 490, bindings: 11_000, repos: 1000, others: 2 };
  const { root, seed, count } = randomOrganisation(1, size, []);
  const emulator = await startEmulator({ seed });
  const started = performance.now();
  const inventory = await takeInventory(clientOf(emulator), { root, now: Date.now });
  const lists = emulator.requests.filter(({ query }) => query.includes("page_size"));
  await emulator.close();
  const own = inventory.objects.filter(({ builtIn, kind }) => !builtIn && kind !== "GroupInvite");
  const rows = own.map(({ kind, uid, inputs }, i) => {
    const type = `pulumi-nodejs:dynamic/platform:${kind}`;
    return {
      urn: `urn:pulumi:test::test::${type}::${i}`,
      type,
      custom: true,
      id: uid,
      inputs,
      outputs: inputs,
    };
  });
  const exported = JSON.stringify({ version: 3, deployment: { resources: rows.slice(1) } });
  const states = [parseStateExport(exported, "export.json")];
  const report = await findDrift({
    states,
    inventories: [inventory],
    failOn: "any",
    now: Date.now(),
    version: "0",
  });
  const driftMs = performance.now() - started;
  const adoption = writeProgram({ inventory });
  const adoptMs = performance.now() - started - driftMs;
  console.log(
    `${count} objects: ${lists.length} lists, drift ${Math.round(driftMs)} ms, program ${Math.round(adoptMs)} ms, ${Math.round(process.memoryUsage().rss / 1e6)} MB`,
  );
  expect(count).toBeGreaterThanOrEqual(20_000);
  expect(lists.length).toBeLessThanOrEqual(120);
  expect(report.summary.kept).toBe(rows.length - 1);
  // What is in no state: the invites, and the row that was left out.
  expect(new Set(report.findings.map(({ kind }) => kind))).toEqual(new Set(["GroupInvite", own[0]?.kind]));
  expect(adoption.resources.length + adoption.leftOut.length).toBe(count);
  // The machine decides the time; these are the bounds that it was built for.
  expect(driftMs).toBeLessThan(60_000);
  expect(adoptMs).toBeLessThan(120_000);
}, 200_000);
