import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import type { Report } from "../../provider/access/report/report";
import { takeInventory } from "../../provider/inventory/takeInventory";
import { main as reviewMain } from "../../provider/cli/commands/review";
import { exitCode, FOLDER, plantOrganisation, policyFile } from "./adversarial";
import type { HostileProgram, Outcome } from "./adversarial";
import { clientOf } from "./driftMatrix";
import { Stack, WRITES_STATE_ONCE } from "./engine";
import { call } from "./wire";

interface Step {
  readonly op: string;
  readonly urn: string;
}

interface Diagnostic {
  readonly urn?: string;
}

/** What `pulumi preview --json` prints, as far as it is taken apart here. */
interface Preview {
  readonly steps: readonly Step[];
  readonly diagnostics?: readonly Diagnostic[];
}

/** One program of a batch, with an organisation of its own at the server. */
interface Part {
  readonly program: HostileProgram;
  readonly ids: Readonly<Record<string, string>>;
}

const prefixOf = ({ id }: HostileProgram): string => `${id}.`;
const isPlatform = (urn: string): boolean => urn.includes("::pulumi-nodejs:dynamic/platform:");

/** The preview as it is of one program alone: the steps of its resources, and what all programs share. */
function previewOf(program: HostileProgram, { steps, diagnostics = [], ...more }: Preview): Preview {
  const isOwn = (urn: string): boolean => !isPlatform(urn) || urn.includes(`::${prefixOf(program)}`);
  const own = steps.filter(({ urn }) => isOwn(urn));
  const changeSummary: Record<string, number> = {};
  for (const { op } of own) changeSummary[op] = (changeSummary[op] ?? 0) + 1;
  return {
    ...more,
    steps: own,
    diagnostics: diagnostics.filter(({ urn }) => urn === undefined || isOwn(urn)),
    ...{ changeSummary },
  };
}

/** Writes the program of each part into a folder of its own, and one that runs all of them. */
function writePrograms(stack: Stack, parts: readonly Part[]): void {
  for (const { program, ids } of parts) {
    mkdirSync(join(stack.directory, program.id));
    stack.files({
      [`${program.id}/base.js`]: readFileSync(join(FOLDER, "base.js"), "utf8"),
      [`${program.id}/ids.json`]: JSON.stringify({ ...ids, prefix: prefixOf(program) }),
      [`${program.id}/program.js`]: program.text,
    });
  }
}

const runEach = (parts: readonly Part[], line: (id: string) => string) => ({
  "index.js": parts.map(({ program: { id } }) => `${line(id)}\n`).join(""),
});

/** The honest organisations with what somebody granted by hand since. */
async function applyHonest(emulator: Emulator, stack: Stack, parts: readonly Part[]): Promise<void> {
  stack.files(runEach(parts, (id) => `require("./${id}/base").declare();`));
  await stack.init();
  // The state is written once instead of after each of a thousand resources.
  await stack.succeed(["up", "--yes", "--skip-preview"], WRITES_STATE_ONCE);
  const uids = stack.ids();
  for (const { program, ids } of parts) {
    const sandbox = uids[`${prefixOf(program)}sandbox`] ?? "";
    const grant = { identityUid: ids["mallory"], roleUid: ids["owner"] };
    await call(emulator, "POST", `/iam/v2/roleBindings/${sandbox}`, grant);
  }
}

/** The review of one part by its part of the preview and an inventory of its organisation. */
async function review(
  { program, ids }: Part,
  preview: Preview,
  emulator: Emulator,
  folder: string,
): Promise<Outcome> {
  const path = (name: string): string => join(folder, `${program.id}-${name}`);
  const inventory = await takeInventory(clientOf(emulator), { root: ids["root"] ?? "", now: Date.now });
  writeFileSync(path("preview.json"), JSON.stringify(previewOf(program, preview)));
  writeFileSync(path("before.json"), JSON.stringify(inventory));
  writeFileSync(path("policy.yaml"), policyFile(new Date()));
  const start = process.cpuUsage();
  const args = ["--inventory", path("before.json"), "--policy", path("policy.yaml")];
  const { code, error } = await exitCode(() =>
    reviewMain([path("preview.json"), ...args, "-o", `json=${path("review.json")}`]),
  );
  const { user, system } = process.cpuUsage(start);
  return {
    id: program.id,
    review: code,
    report: JSON.parse(readFileSync(path("review.json"), "utf8")) as Report,
    applied: false,
    gained: [],
    remaining: [],
    reviewSeconds: (user + system) / 1e6,
    said: `review ${code}: ${error}`,
  };
}

/**
 * Previews hostile programs in one run of the engine and reviews each alone, with its own resources and its own
 * organisation. None of them is applied.
 */
export async function reviewTogether(
  programs: readonly HostileProgram[],
): Promise<ReadonlyMap<string, Outcome>> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-adversarial-"));
  const emulator = await startEmulator();
  const stack = new Stack(emulator);
  try {
    const parts: Part[] = [];
    for (const program of programs) parts.push({ program, ids: await plantOrganisation(emulator) });
    writePrograms(stack, parts);
    await applyHonest(emulator, stack, parts);
    stack.files(runEach(parts, (id) => `require("./${id}/program");`));
    const { code, stdout, stderr } = await stack.pulumi(["preview", "--json", "--show-sames"], {
      GITHUB_EVENT_NAME: "pull_request",
    });
    const preview = JSON.parse(stdout) as Preview;
    if (code !== 0) {
      const problems = JSON.stringify(preview.diagnostics ?? []).slice(0, 2_000);
      throw new Error(`a program of the batch needs the line "// runs alone": ${stderr} ${problems}`);
    }
    const outcomes = new Map<string, Outcome>();
    for (const part of parts) {
      outcomes.set(part.program.id, await review(part, preview, emulator, folder));
    }
    return outcomes;
  } finally {
    await emulator.close();
    stack.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}
