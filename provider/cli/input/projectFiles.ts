import { existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { isAlias, isScalar, parseDocument, visit } from "yaml";
import type { Document } from "yaml";
import { ConfigError } from "../../http/errors";
import { readTextFile } from "../../text/files";
import { printable } from "../../text/printable";
import { isObject } from "../../fields/values";

/** The extensions of project and stack files, in the order in which the Pulumi CLI looks for them. */
const EXTENSIONS = [".json", ".yaml", ".yml"];

/**
 * The .gitignore of a new program: files that the documented commands write. They tell what the organisation holds, set up
 * its CI, or, as the backups of adopt, hold encrypted secrets.
 */
export const GITIGNORE = [
  "node_modules/",
  "inventory.json",
  "inv.json",
  "before.json",
  "preview.json",
  "plan.json",
  "export.json",
  "stack.json",
  "access.csv",
  "access.html",
  "drift.html",
  "report.html",
  "report.json",
  "report.txt",
  "review.html",
  "review.json",
  "review.md",
  "review.sarif",
  "ci-commands.sh",
  "*.before-adopt*.json",
  "",
].join("\n");

/** In the order in which the Pulumi CLI looks for them. */
export const PROJECT_FILES = EXTENSIONS.map((extension) => `Pulumi${extension}`);

/** A folder and those above it, the last one included. */
export const withFoldersAbove = (folder: string, last?: string): string[] =>
  folder === last || dirname(folder) === folder
    ? [folder]
    : [folder, ...withFoldersAbove(dirname(folder), last)];

/**
 * The nearest folder with a `.git`, which no change can have; undefined outside of a checkout. A change can have a link to the
 * checkout, so a link is taken for it only where nothing above it is.
 */
export function findCheckout(folder: string): string | undefined {
  const found = withFoldersAbove(resolve(folder)).filter((at) => existsSync(join(at, ".git")));
  return found.find((at) => !lstatSync(at).isSymbolicLink()) ?? found.at(-1);
}

const projectFilesIn = (folders: readonly string[]): string[] =>
  folders.flatMap((folder) => PROJECT_FILES.map((name) => join(folder, name)));

/** The project file of a folder, or of the nearest folder above it, as the Pulumi CLI finds it. */
export const findProjectFile = (folder: string): string | undefined =>
  projectFilesIn(withFoldersAbove(folder)).find((file) => existsSync(file));

/** The name of a project after its folder, with the characters that Pulumi takes; undefined where the folder has none of them. */
export function projectNameOf(folder: string): string | undefined {
  const name = basename(folder)
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 100);
  return name === "" ? undefined : name;
}

/** What keeps Pulumi from running a TypeScript program as it is; undefined where nothing does. */
export function findModuleProblem(folder: string, main = ""): string | undefined {
  const read = (name: string): string => {
    const path = join(folder, name);
    return existsSync(path) ? readTextFile(path) : "";
  };
  const isModule = /\.m?ts$/.test(main) && /"type"\s*:\s*"module"/.test(read("package.json"));
  // A loader that the project names may run it as it is.
  return isModule && !read("Pulumi.yaml").includes("nodeargs")
    ? 'Pulumi runs a TypeScript program as CommonJS: take the type "module" out of package.json, or write the program in JavaScript'
    : undefined;
}

const refuse = (message: string): never => {
  throw new ConfigError("PP2012", message);
};

/** Characters that a parser may take for the end of a line, or leave out: `\r` alone, U+0085, U+2028; U+FFFD is what was no UTF-8. */
const AMBIGUOUS_CHARACTER =
  /\r(?!\n)|[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffc\u{10000}-\u{10ffff}]/u;

/** The member that a key names in JSON, which the CLI reads in any letter case. */
const foldKey = (key: string): string => key.normalize("NFKC").toLowerCase();

/** What parsers do not read alike: other ends of lines, tags, and what stands for another part. */
function findAmbiguity(text: string, document: Document): string | undefined {
  const character = AMBIGUOUS_CHARACTER.exec(text)?.[0].codePointAt(0);
  if (character !== undefined)
    return `the character U+${character.toString(16).toUpperCase().padStart(4, "0")}`;
  if (/^%/m.test(text)) return "a directive (%)";
  let found: string | undefined;
  visit(document, {
    Node: (_, node) => {
      if (!isAlias(node) && node.anchor === undefined && node.tag === undefined) return undefined;
      found =
        isAlias(node) || node.anchor !== undefined
          ? "an anchor or an alias"
          : `the tag ${printable(node.tag ?? "", 80)}`;
      return visit.BREAK;
    },
    Pair: (_, { key }) => {
      if (!isScalar(key) || key.value !== "<<") return undefined;
      found = "a merge (<<)";
      return visit.BREAK;
    },
  });
  return found;
}

/** A member that stands in two spellings: the CLI reads either. The keys of configuration are the program's. */
function findTwoSpellings(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  const spellings = new Map<string, string>();
  for (const [key, member] of Object.entries(value)) {
    const folded = foldKey(key);
    const other = spellings.get(folded);
    if (other !== undefined)
      return `both ${printable(JSON.stringify(other), 80)} and ${printable(JSON.stringify(key), 80)}`;
    spellings.set(folded, key);
    const inner = folded === "config" ? undefined : findTwoSpellings(member);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** What a project or stack file holds, by its names in lower case. */
type Members = Readonly<Record<string, unknown>>;

/** @throws ConfigError for a file that cannot be judged, since the CLI may read it in another way. */
export function readMembers(path: string): Members {
  const shown = printable(path, 200);
  const unreadable = `${shown} cannot be read as YAML or JSON; correct it first`;
  const text = readTextFile(path).replace(/^\ufeff/, "");
  let parsed: Document.Parsed;
  try {
    parsed = parseDocument(text);
  } catch {
    return refuse(unreadable);
  }
  if (parsed.errors.length > 0) return refuse(unreadable);
  const refuseAmbiguity = (ambiguity: string | undefined): void => {
    if (ambiguity === undefined) return;
    refuse(
      `${shown} has ${ambiguity}, which Pulumi and this command may read differently; write it as plain keys and values`,
    );
  };
  // Values are made of it only where it has no alias: many of them would be very large, and one of nothing fails.
  refuseAmbiguity(findAmbiguity(text, parsed));
  const document: unknown = parsed.toJS();
  refuseAmbiguity(findTwoSpellings(document));
  // A pointer of Git LFS is a text here, and another file in a checkout that fetches it.
  if (!isObject(document ?? {})) refuse(`${shown} holds no settings; correct it first`);
  return Object.fromEntries(Object.entries(document ?? {}).map(([key, value]) => [foldKey(key), value]));
}

const isEmptySetting = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0);

/** A member of a project or stack file. @param path names in lower case */
export const settingOf = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (outer, name) =>
      isObject(outer) ? Object.entries(outer).find(([key]) => foldKey(key) === name)?.[1] : undefined,
    value,
  );

/** The runtime of a project, which is a name, or an object that has one. */
export const runtimeOf = ({ runtime }: Members): unknown =>
  isObject(runtime) ? settingOf(runtime, "name") : runtime;

/** A published package, with or without its version; everything else may be a folder. */
const PUBLISHED = /^[a-z0-9][\w-]*[a-z0-9](@v?\d[\w.+-]*)?$/i;

function checkProject({ path, members }: Project): void {
  const shown = printable(path, 200);
  if (runtimeOf(members) === "client") {
    refuse(
      `runtime of ${shown} is "client": another process would decide what the program is; write runtime: nodejs`,
    );
  }
  if (!isEmptySetting(members["plugins"])) {
    refuse(
      `plugins of ${shown}: a project file may not replace plugins, since the engine would run another one with the credentials of this machine; remove it`,
    );
  }
  const { packages } = members;
  for (const [name, spec] of Object.entries(isObject(packages) ? packages : {})) {
    const source = isObject(spec) ? settingOf(spec, "source") : spec;
    if (typeof source !== "string" || !PUBLISHED.test(source)) {
      refuse(
        `packages.${printable(name, 80)} of ${shown}: a project file may not replace the plugin of a package by a folder or an address; name a published package, as in random@4.16.7, or remove it`,
      );
    }
  }
}

interface Project {
  readonly path: string;
  readonly members: Members;
}

/** The project of a folder, or of the nearest folder above it. @throws ConfigError for a file that cannot be judged. */
export function readProject(folder: string): Project | undefined {
  const path = findProjectFile(resolve(folder));
  return path === undefined ? undefined : { path, members: readMembers(path) };
}

/** The folder of the stack files: `stackConfigDir`, whose older form is a string as `config`. */
export function stackFolder({ path, members }: Project): string {
  const given = members["stackconfigdir"] ?? members["config"];
  return typeof given === "string" ? join(dirname(path), given) : dirname(path);
}

/** The configuration files of a stack, or of all, in the folder of the stack files. */
export function stackFiles(folder: string, stack: string | undefined): string[] {
  if (stack !== undefined) {
    const name = stack.slice(stack.lastIndexOf("/") + 1);
    return EXTENSIONS.map((extension) => join(folder, `Pulumi.${name}${extension}`)).filter(existsSync);
  }
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => /^Pulumi\..+\.(json|ya?ml)$/i.test(name))
    .map((name) => join(folder, name));
}

function checkStackFile(file: string): void {
  if (isEmptySetting(readMembers(file)["environment"])) return;
  refuse(
    `environment of ${printable(file, 200)}: Pulumi ESC sets environment variables before the engine starts, such as PLATFORM_BASE_URL, HTTPS_PROXY and NODE_OPTIONS, so ${printable(basename(file), 80)} alone would decide where a credential goes; ` +
      "set variables where the command runs, and write the configuration of the stack as config",
  );
}

/**
 * Refuses a project whose files decide what runs beside the program, or with which environment variables: whoever can
 * change such a file would choose where a credential goes.
 *
 * @param stack absent: all stacks of the project.
 * @returns the path of the project file, if there is one.
 * @throws ConfigError naming the file and the property.
 */
export function checkProjectFiles(folder: string, stack?: string): string | undefined {
  const project = readProject(folder);
  if (project === undefined) return undefined;
  checkProject(project);
  stackFiles(stackFolder(project), stack).forEach(checkStackFile);
  return project.path;
}

/** @throws ConfigError where the path or a folder on the way to it is a link: elsewhere it may lead to another file. */
export function refuseLink(root: string, path: string): void {
  for (const at of withFoldersAbove(path, root)) {
    if (at !== root && lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink())
      refuse(`${printable(at, 200)} is a link, and the review cannot see where it leads; write a file there`);
  }
}

/**
 * The same for the files of a change, which are read as data where nothing of the change runs: of all stacks, since a
 * preview of the change names its own stack. What another checkout could read in another place is refused.
 *
 * @returns the path of the project file, if there is one.
 * @throws ConfigError naming the file and the property.
 */
export function checkFilesOfChange(folder: string): string | undefined {
  const start = resolve(folder);
  // What lies above is none of the change's.
  const root = findCheckout(start) ?? start;
  refuseLink(root, start);
  if (!existsSync(start)) return undefined;
  // Also a link that leads nowhere here can lead somewhere in a checkout of the whole change.
  const path = projectFilesIn(withFoldersAbove(start, root)).find(
    (file) => lstatSync(file, { throwIfNoEntry: false }) !== undefined,
  );
  if (path === undefined) return undefined;
  refuseLink(root, path);
  const project = { path, members: readMembers(path) };
  checkProject(project);
  const stacks = stackFolder(project);
  const isInside = `${stacks}${sep}`.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
  if (isInside) refuseLink(root, stacks);
  if (!isInside || !existsSync(stacks)) {
    refuse(
      `stackConfigDir of ${printable(path, 200)} names a folder that the change does not have; name one of the repository`,
    );
  }
  for (const file of stackFiles(stacks, undefined)) {
    refuseLink(root, file);
    checkStackFile(file);
  }
  return path;
}
