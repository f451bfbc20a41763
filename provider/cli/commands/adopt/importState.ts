import { CodedError } from "../../../errors/codedError";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { slug } from "../../../access/adopt/program";
import type { Adoption } from "../../../access/adopt/program";
import { mergeState, StateMergeError } from "../../../access/adopt/state";
import type { StateParts } from "../../../access/adopt/state";
import { printable } from "../../../text/printable";
import { plural, tryParseJson, quoteWord } from "../../../text/plain";
import { UsageError } from "../../framework/exitCodes";
import { readProjectName } from "../../input/backend";
import { PulumiError, readStackConfig, runPulumi } from "../../input/pulumi";
import { writeText } from "../../output/writeFiles";

/** The stack whose state takes the adopted resources. */
interface TargetStack {
  readonly stack: string;
  /** The folder of the program. */
  readonly out: string;
  /** The export of the stack before anything is imported. */
  readonly exported: string;
}

/** The JSON that the CLI prints, also where it fails: a preview that fails describes why. */
async function runPulumiJson(args: readonly string[], stack: string, cwd: string): Promise<unknown> {
  try {
    return tryParseJson(await runPulumi(args, stack, cwd));
  } catch (error) {
    const document = error instanceof PulumiError ? tryParseJson(error.stdout) : undefined;
    if (document === undefined) throw error;
    return document;
  }
}

/** What a program reads from its stack's configuration: settings and secrets, and which of them are still to be set. */
interface ProgramSettings {
  readonly secrets: ReadonlyMap<string, string>;
  /** The arguments of `pulumi config set`. */
  readonly unset: readonly string[];
}

/** The program reads its settings from the namespace of its project alone. A uid of another organisation is not set. */
function readProgramSettings(
  { resources, settings: needed }: Adoption,
  config: StateParts["config"],
  out: string,
): ProgramSettings {
  const keys = resources.flatMap(({ secrets }) => secrets.map(({ key }) => key));
  const project = readProjectName(out) ?? "";
  const valueOf = (key: string): string | undefined => config[`${project}:${key}`]?.value;
  return {
    secrets: new Map(
      keys.flatMap((key): [string, string][] => {
        const value = valueOf(key);
        return value === undefined ? [] : [[key, value]];
      }),
    ),
    unset: [
      ...keys.filter((key) => valueOf(key) === undefined).map((key) => `--secret ${key}`),
      ...Object.entries(needed).flatMap(([key, value]) =>
        valueOf(key) === value ? [] : [`${key} ${value}`],
      ),
    ],
  };
}

/** What of a program's settings a stack lacks, as the arguments of `pulumi config set`; all where there is no stack yet. */
export async function findUnset(
  adoption: Adoption,
  out: string,
  stack: string | undefined,
): Promise<readonly string[]> {
  const config = stack === undefined ? {} : await readStackConfig(stack, out);
  return readProgramSettings(adoption, config, out).unset;
}

function chooseBackupPath(out: string, stack: string): string {
  const base = join(out, `${slug(stack) || "stack"}.before-adopt`);
  for (let i = 0; ; i += 1) {
    const path = i === 0 ? `${base}.json` : `${base}.${i}.json`;
    if (!existsSync(path)) return path;
  }
}

/** Imports a state into a stack. It may contain secrets, so only the owner may read the temporary file. */
async function importDocument(document: unknown, stack: string, cwd: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-adopt-"));
  try {
    const path = join(folder, "state.json");
    writeText(path, JSON.stringify(document), "the state", { isPrivate: true });
    await runPulumi(["stack", "import", "--file", path], stack, cwd);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Checks that the program changes nothing after the import; otherwise puts the state back. */
async function verifyImport({ stack, out, exported }: TargetStack, backup: string): Promise<void> {
  try {
    await runPulumi(["preview", "--expect-no-changes"], stack, out);
  } catch (error) {
    await importDocument(JSON.parse(exported), stack, out);
    const reason =
      error instanceof PulumiError ? printable(`${error.message} ${error.stdout}`, 1500) : "it failed";
    throw new CodedError(
      "PP5012",
      `the preview after the import shows changes, so the state was put back as it was (also in ${backup}): ${reason}`,
      { cause: error },
    );
  }
}

/**
 * Imports the adopted resources into the state of a stack, with a backup.
 *
 * @returns one line that says what was imported.
 * @throws StateMergeError that names what is not set, UsageError where nothing was imported; Error where the import was undone.
 */
export async function importState(target: TargetStack, adoption: Adoption): Promise<string> {
  const { stack, out, exported } = target;
  const config = await readStackConfig(stack, out);
  const { secrets, unset } = readProgramSettings(adoption, config, out);
  if (unset.length > 0) {
    throw new StateMergeError([
      "the program is written, the state is not: set what it reads from the stack's configuration, then run again; the API never returns a secret:",
      ...unset.map(
        (setting) => `pulumi config set ${setting} --stack ${quoteWord(stack)} --cwd ${quoteWord(out)}`,
      ),
    ]);
  }
  const preview = await runPulumiJson(["preview", "--json"], stack, out);
  const { document, urns } = mergeState({
    exported: JSON.parse(exported) as unknown,
    preview,
    resources: adoption.resources,
    secrets,
    config,
    newId: randomUUID,
  });
  const backup = chooseBackupPath(out, stack);
  writeText(backup, exported, "--out", { isPrivate: true });
  if ((await runPulumi(["stack", "export"], stack, out)) !== exported) {
    throw new UsageError("PP5012", `stack ${stack} changed during the run: nothing was imported; run again`);
  }
  await importDocument(document, stack, out);
  await verifyImport(target, backup);
  return `${plural(urns.length, "resource is", "resources are")} in the state of ${stack}; backup of the state before: ${backup}`;
}
