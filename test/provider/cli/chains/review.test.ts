import { readdirSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import type { Inventory } from "../../../../provider/access/documents/inventory";
import { parseReport } from "../../../../provider/access/report/report";
import type { Report, ReviewReport, VerifyReport } from "../../../../provider/access/report/report";
import { postHosts } from "../../../../provider/cli/framework/options";
import { reportFormats } from "../../../../provider/access/report/render/options";
import { exportText } from "../../../../scripts/lib/documents.cjs";
import { CommandChain } from "../../../support/commandChain";
import { ROOT } from "../../../support/engine";
import { builtInRoles, randomOrganisation, small } from "../../../support/organisation";
import type { Organisation } from "../../../support/organisation";
import { carryOut, previewOf, randomChange } from "../../../support/randomChange";
import type { RandomChange } from "../../../support/randomChange";
import { seedsOf } from "../../../support/properties";
import { expectForm } from "../../../support/reportForms";

const PREVIEWS = join(ROOT, "test/fixtures/previews");
const recorded = readdirSync(PREVIEWS).filter(
  (file) => /\.(json|ndjson)$/.test(file) && !/^export/.test(file),
);

const NOW = "2026-06-01T00:00:00Z";
const chain = new CommandChain();
afterAll(() => chain.remove());

/** Runs a command once for all forms of its report, each into a file; answers the report. */
async function reportInEveryForm<Kind extends Report = Report>(
  codes: readonly number[],
  ...argv: readonly string[]
): Promise<Kind> {
  const name = argv[0] ?? "";
  const outputs = reportFormats.flatMap((format) => ["-o", `${format}=${chain.path(`${name}.${format}`)}`]);
  await chain.succeed(codes, ...argv, "--now", NOW, ...outputs);
  const report = parseReport(chain.read(`${name}.json`), `${name}.json`);
  for (const format of reportFormats) expectForm(format, chain.read(`${name}.${format}`), report);
  return report as Kind;
}

/** Posts a report, to every host, without sending it. */
async function expectPosted(report: Report): Promise<void> {
  const path = chain.path(`${report.command}.json`);
  for (const host of postHosts) {
    const { code, stderr } = await chain.run("post", path, "--to", host, "--dry-run");
    expect(code).toBe(0);
    expect(stderr).not.toContain("warning");
    expect(stderr).toContain(`--post ${host}: this would be posted:`);
    for (const { id, severity } of report.findings.slice(0, 1)) {
      expect(stderr).toContain(`**${severity}** \`${id}`);
    }
  }
}

const ofReview = [0, 4, 5];

test.each(recorded)(
  "the report of the recorded preview %s is written in every form and posted",
  async (file) => {
    await expectPosted(await reportInEveryForm(ofReview, "review", join(PREVIEWS, file)));
  },
);

describe("a random change", () => {
  let organisation: Organisation;
  let inventory: Inventory;

  /** Writes the inventory of an organisation. */
  const takeInventory = (emulator: Emulator, file: string): Promise<string> =>
    new CommandChain(emulator, chain.folder).succeed(
      [0],
      ...["inventory", "--root", organisation.root, "--types", "+Tag", "-o", `json=${chain.path(file)}`],
    );

  beforeAll(async () => {
    organisation = randomOrganisation(7, small, await builtInRoles());
    const emulator = await startEmulator({ seed: organisation.seed });
    await takeInventory(emulator, "inventory.json");
    await emulator.close();
    inventory = JSON.parse(chain.read("inventory.json")) as Inventory;
  });

  const reviewChange = (change: RandomChange): Promise<ReviewReport> => {
    const preview = chain.write("preview.json", previewOf(change));
    const argv = ["review", preview, "--inventory", chain.path("inventory.json")];
    return reportInEveryForm<ReviewReport>(ofReview, ...argv);
  };

  /** Carries out a change at a server, and writes what it then holds and what the stack records. */
  async function carryOutAtServer(change: RandomChange): Promise<void> {
    const emulator = await startEmulator({ seed: organisation.seed });
    chain.write("export.json", exportText(await carryOut(emulator, change)));
    await takeInventory(emulator, "after.json");
    await emulator.close();
  }

  const verify = (codes: readonly number[]): Promise<VerifyReport> => {
    const argv = ["--inventory", chain.path("after.json"), "--state", chain.path("export.json")];
    return reportInEveryForm<VerifyReport>(codes, "verify", chain.path("review.json"), ...argv);
  };

  test.each(seedsOf(12))("%d is reviewed, posted, applied, verified, and posted again", async (seed) => {
    const change = randomChange(inventory, seed);
    const report = await reviewChange(change);
    await expectPosted(report);
    expect(report.complete).toBe(true);
    await carryOutAtServer(change);
    const verified = await verify([0]);
    expect(verified).toMatchObject({ complete: true, failing: 0, missing: [], unannounced: [] });
    expect(verified.grants).toEqual(report.grants);
    await expectPosted(verified);
  });

  test.each(seedsOf(6))("%d fails the verification if another change was applied", async (seed) => {
    await reviewChange(randomChange(inventory, seed));
    await carryOutAtServer(randomChange(inventory, seed + 1000));
    await expectPosted(await verify([4, 5]));
  });
});
