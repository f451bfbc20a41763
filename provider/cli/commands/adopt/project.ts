import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { urnParts } from "../../../access/documents/engineState";
import { listManaged, parseStateExport } from "../../../access/documents/stateExport";
import type { StateExport } from "../../../access/documents/stateExport";
import { objectKey } from "../../../fields/resourceSpec";
import { readTextFile } from "../../../text/files";
import { printable } from "../../../text/printable";
import { UsageError } from "../../framework/exitCodes";
import { readProjectName } from "../../input/backend";
import { findPackageManager } from "../../input/packageManager";
import { GITIGNORE, findProjectFile, withFoldersAbove } from "../../input/projectFiles";
import { runPulumi } from "../../input/pulumi";
import { readStates } from "../../input/states";
import { installedFolder, packageSource } from "../../output/packageSource";
import { writeText } from "../../output/writeFiles";
import { newProjectFiles } from "../init/workflows";

const HEADER = "// Written by pulumi-platform adopt";

/** Where a program goes. */
interface ProgramTarget {
  /** The folder. */
  readonly out: string;
  /** The name of the project, where the folder becomes one. */
  readonly projectName: string;
  /** Whether a file with other content is overwritten. */
  readonly force: boolean;
}

/** Whether a folder does not exist, or is empty. */
const isEmptyFolder = (path: string): boolean => !existsSync(path) || readdirSync(path).length === 0;

/** The files of a program, of which a folder without a project may have one all the same. */
const PROGRAM_FILES = ["index.ts", "tsconfig.json"];

/** Whether a folder becomes a project: there is none in it or above it, and no program. */
const becomesProject = (path: string): boolean =>
  isEmptyFolder(path) ||
  (findProjectFile(resolve(path)) === undefined &&
    !PROGRAM_FILES.some((name) => existsSync(join(path, name))));

interface FileChoice {
  /** `--file` */
  readonly name?: string;
  /** Whether the stack manages resources, which the main file declares. */
  readonly isManaging: boolean;
  /** Whether `--only` selects what is declared: the main file may declare more. */
  readonly isPartial: boolean;
}

/** The commands that install what the program needs, in its folder. */
export function describeInstallation(out: string): readonly string[] {
  const manifest = join(out, "package.json");
  const { name, add } = findPackageManager(withFoldersAbove(resolve(out)));
  if (existsSync(manifest) && readTextFile(manifest).includes('"pulumi-platform"'))
    return existsSync(join(out, "node_modules", "pulumi-platform")) ? [] : [`${name} install`];
  const { prepare, specifier } = packageSource(installedFolder(), out);
  return [...prepare, `${add} ${specifier}`];
}

/** Chooses the file of the program: the main one of a folder that is new, or that this command has written. */
export function chooseFile(out: string, code: string, { name, isManaging, isPartial }: FileChoice): string {
  if (name !== undefined) return name;
  const index = join(out, "index.ts");
  const text = existsSync(index) ? readTextFile(index) : "";
  const declaresMore = isManaging || (isPartial && text !== code);
  return becomesProject(out) || (text.startsWith(HEADER) && !declaresMore) ? "index.ts" : "adopted.ts";
}

/** Writes the program, and what makes a folder a project that is none. @throws UsageError for a file with other content. */
export function writeProject(
  { out, projectName, force }: ProgramTarget,
  program: Readonly<Record<string, string>>,
): void {
  const ofProject: Readonly<Record<string, string>> = becomesProject(out)
    ? { ...newProjectFiles(projectName, "index.ts"), ".gitignore": GITIGNORE }
    : {};
  // A folder that has these keeps its own.
  const isKept = (name: string): boolean =>
    ["package.json", ".gitignore"].includes(name) && existsSync(join(out, name));
  const files = {
    ...Object.fromEntries(Object.entries(ofProject).filter(([name]) => !isKept(name))),
    ...program,
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(out, name);
    if (!force && existsSync(path) && readTextFile(path) !== text) {
      throw new UsageError(
        "PP5011",
        `${printable(path, 200)} exists with other content: give another name with --file, or --force`,
      );
    }
  }
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(out, name)), { recursive: true });
    writeText(join(out, name), text, "--out");
  }
}

/** What a stack contains. */
export interface ExistingStack {
  readonly exported?: string;
  readonly usedNames: ReadonlySet<string>;
  /** What is not to be adopted again, and which stack manages it. */
  readonly managers: ReadonlyMap<string, string>;
}

/** What a stack manages, by kind and uid, each with the stack. */
const managersIn = (state: StateExport, manager: string): [string, string][] =>
  listManaged(state).map(({ kind, id }) => [objectKey(kind, id), manager]);

/** The names that resources of a state have. @param project only those of this project. */
const resourceNamesIn = ({ resources }: StateExport, project?: string): string[] =>
  resources.flatMap(({ kind, urn }) => {
    const parts = urnParts(urn);
    return kind === undefined || (project ?? parts.project) !== parts.project
      ? []
      : [objectKey(kind, parts.name)];
  });

/**
 * What other stacks manage, and the names that the program in the folder gives to some of it: all stacks of a project
 * share its program.
 *
 * @param patterns Files that `pulumi stack export` wrote.
 */
export async function readOtherStacks(patterns: readonly string[], out: string): Promise<ExistingStack> {
  const project = isEmptyFolder(out) ? undefined : readProjectName(out);
  const states = await readStates(patterns, [], undefined);
  const managers = states.flatMap((state) =>
    managersIn(state, state.stack === undefined ? "another stack" : `stack ${printable(state.stack, 200)}`),
  );
  const usedNames = project === undefined ? [] : states.flatMap((state) => resourceNamesIn(state, project));
  return { usedNames: new Set(usedNames), managers: new Map(managers) };
}

/**
 * Reads what a stack contains; undefined where there is no project yet, and none is required.
 * @throws UsageError if there is no project, and the state is to be written.
 */
export async function readStack(
  out: string,
  stack: string,
  isRequired: boolean,
): Promise<ExistingStack | undefined> {
  const isEmpty = isEmptyFolder(out);
  if (isEmpty || findProjectFile(resolve(out)) === undefined) {
    if (!isRequired) return undefined;
    const what = !existsSync(out) ? "does not exist" : isEmpty ? "is empty" : "holds no Pulumi project";
    throw new UsageError(
      "PP5011",
      `${printable(out, 200)} ${what}: run adopt without --write-state first, then the commands that it prints; or name the folder of a program`,
    );
  }
  const exported = await runPulumi(["stack", "export"], stack, out);
  const state = parseStateExport(exported, `the export of stack ${stack}`);
  return {
    exported,
    usedNames: new Set(resourceNamesIn(state)),
    managers: new Map(managersIn(state, "the stack")),
  };
}
