import { execFileSync } from "node:child_process";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { kindTables } from "../../../../emulator/tables";
import type { Inventory } from "../../../../provider/access/documents/inventory";
import { parseReport } from "../../../../provider/access/report/report";
import type { DriftReport } from "../../../../provider/access/report/report";
import type { Finding } from "../../../../provider/access/review/finding";
import { reportFormats } from "../../../../provider/access/report/render/options";
import { exportText } from "../../../../scripts/lib/documents.cjs";
import { randomOf } from "../../../../scripts/lib/random.cjs";
import { addresses, bodyOf, changeByHand, withUids } from "../../../support/byHand";
import { CommandChain } from "../../../support/commandChain";
import { builtInRoles, randomOrganisation, small } from "../../../support/organisation";
import { seedsOf, spreadOf } from "../../../support/properties";
import { programResources, sampleUids } from "../../../support/randomChange";
import type { ProgramResource } from "../../../support/randomChange";
import { expectForm, isSevere } from "../../../support/reportForms";
import { samples } from "../../../support/samples";
import { call } from "../../../support/wire";

const NOW = "2026-06-01T00:00:00Z";
const seeds = seedsOf(12);

/** Names that mean something to a shell. */
const NAMES = [
  "it's",
  "a b",
  '"$(touch pwned)"',
  "`id`;",
  "a\\b",
  "x & y | z > w",
  "*?[a]",
  "#!~{}",
  "-n --stack x",
];

/** The sorts of differences of which an exception was tried. */
const tried = new Set<string>();

/** Of the differences of a report one of each sort that no report before had, and one that stands elsewhere in each. */
function untried(differences: DriftReport["differences"], seed: number): DriftReport["differences"] {
  return spreadOf(differences, 5, seed).filter(({ type, kind, direction }, i) => {
    const sort = `${type} ${kind} ${direction}`;
    const isNew = !tried.has(sort);
    tried.add(sort);
    return isNew || i === seed;
  });
}

let builtIn: string[];
beforeAll(async () => {
  builtIn = await builtInRoles();
});

/** Samples of which more can be made by hand below any group, next to what is there. */
const creatable = samples.filter(
  ({ kind, own }) =>
    own === undefined &&
    kindTables.some((table) => table.kind === kind && kind in addresses && table.parent === "Group"),
);

/** Changes, deletes and creates some objects of an organisation past its program. The same seed does the same. */
async function driftAtRandom(
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

/** What is recorded of an organisation whose objects were then changed by hand, and what lives. */
async function recordAndDrift(chain: CommandChain, emulator: Emulator, root: string, seed: number) {
  await chain.succeed([0], "inventory", "--root", root, "-o", `json=${chain.path("recorded.json")}`);
  const recorded = JSON.parse(chain.read("recorded.json")) as Inventory;
  const resources = programResources(recorded).map((resource, i) => ({
    ...resource,
    name: i % 2 === 0 ? resource.name : `${resource.name} ${NAMES[i % NAMES.length] ?? ""}`,
  }));
  chain.write("state.json", exportText(resources));
  await driftAtRandom(emulator, recorded, resources, seed);
  const printed = await chain.succeed([0], "inventory", "--root", root, "-o", "json");
  await chain.succeed([0], "inventory", "--root", root, "-o", `json=${chain.path("live.json")}`);
  const without = (text: string): object => ({ ...(JSON.parse(text) as Inventory), takenAt: "" });
  expect(without(chain.read("live.json"))).toEqual(without(printed));
}

describe.each(seeds)("random drift %d", (seed) => {
  const chain = new CommandChain();
  let report: DriftReport;

  const drift = (...argv: string[]) =>
    chain.run(
      "drift",
      "--state",
      chain.path("state.json"),
      "--inventory",
      chain.path("live.json"),
      "--now",
      NOW,
      ...argv,
    );
  const driftReport = async (...argv: string[]): Promise<DriftReport> => {
    const { stdout, stderr } = await drift("-o", "json", ...argv);
    if (stdout === "") throw new Error(stderr);
    return JSON.parse(stdout) as DriftReport;
  };
  const fingerprints = (findings: readonly Finding[]): string[] =>
    findings.map((each) => each.fingerprint).sort();

  beforeAll(async () => {
    const { root, seed: objects } = randomOrganisation(seed, small, builtIn);
    const emulator = await startEmulator({ seed: objects });
    const live = new CommandChain(emulator, chain.folder);
    await recordAndDrift(live, emulator, root, seed);
    await emulator.close();
    report = await driftReport();
  });
  afterAll(() => chain.remove());

  test("is written in every form, and posted", async () => {
    const outputs = reportFormats.flatMap((format) => ["-o", `${format}=${chain.path(`drift.${format}`)}`]);
    const { code } = await drift(...outputs);
    expect(parseReport(chain.read("drift.json"), "drift.json")).toEqual(report);
    expect(code).toBe(report.complete ? 7 : 4);
    for (const format of reportFormats) expectForm(format, chain.read(`drift.${format}`), report);
    const { stderr } = await chain.run("post", chain.path("drift.json"), "--to", "github-issue", "--dry-run");
    expect(stderr).toContain("this would be posted");
    expect(stderr).not.toContain("warning");
    const rules = report.findings.map(({ id }) => id).filter((id) => !id.startsWith("drift-"));
    await chain.succeed([0], "explain", ...new Set(rules));
  });

  test("each generated exception, once completed, suppresses its own finding and no other", async () => {
    for (const { answers, fingerprint } of untried(report.differences, seed)) {
      const entry = completed(answers.suppress);
      const { findings, suppressed } = await driftReport(
        "--policy",
        chain.write("one.yaml", `allow:\n${entry}\n`),
      );
      expect(fingerprints(suppressed)).toEqual([fingerprint]);
      expect(fingerprints([...findings, ...suppressed])).toEqual(fingerprints(report.findings));
    }
  });

  test("a baseline leaves only the findings that a person must accept", async () => {
    const policy = chain.path("baseline.yaml");
    await drift("--write-baseline", policy);
    const { findings, suppressed, policy: entries } = await driftReport("--policy", policy);
    expect(fingerprints(findings)).toEqual(fingerprints(report.findings.filter(isSevere)));
    expect(fingerprints([...findings, ...suppressed])).toEqual(fingerprints(report.findings));
    expect(entries).toEqual({ unused: [], expired: [] });
    const before = chain.read("baseline.yaml");
    await drift("--policy", policy, "--write-baseline", policy);
    expect(chain.read("baseline.yaml")).toBe(before);
  });

  test("a shell reads the words of its commands as intended", () => {
    const commands = report.differences.flatMap(({ answers }) => answers.revert ?? []);
    const words = wordsOf(chain, commands);
    const meant = report.differences.filter(({ answers }) => answers.revert !== undefined);
    expect(words).toHaveLength(meant.length);
    for (const [i, { urn, uid }] of meant.entries()) {
      if (urn === undefined) expect(words[i]?.join(" ")).toContain(uid);
      else expect(words[i]).toEqual(expect.arrayContaining([urn, "prod"]));
    }
  });
});

/** What a person writes into an entry that waits for one. */
const completed = (entry = ""): string =>
  entry.replace('reason: ""', "reason: agreed").replace('acceptedBy: ""', "acceptedBy: grace");

/** The words of each command, as bash reads them; the programs that they call do not run. */
function wordsOf(chain: CommandChain, commands: readonly string[]): string[][] {
  if (commands.length === 0) return [];
  const show = ["pulumi", "curl"].map((name) => `${name}() { printf '%s\\0' ${name} "$@"; printf '\\n'; }`);
  const script = chain.write("answers.sh", [...show, ...commands].join("\n"));
  execFileSync("bash", ["-n", script]);
  const printed = execFileSync("bash", ["--norc", script], { cwd: chain.folder, env: {}, encoding: "utf8" });
  return printed
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\0").slice(0, -1));
}
