import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { parseDocument, stringify } from "yaml";
import { CodedError } from "../../../errors/codedError";
import { isLoopback } from "../../../text/address";
import { UsageError } from "../../framework/exitCodes";
import { PULUMI_CLOUD } from "../../input/backend";
import { LOCKFILES, unexpectedFiles } from "../../input/packageManager";
import type { PackageManager } from "../../input/packageManager";
import { PROJECT_FILES } from "../../input/projectFiles";
import { installedFolder } from "../../output/packageSource";
import { readTextFile } from "../../../text/files";
import { quoteWord } from "../../../text/plain";
import { isSelfManaged, parameterOf, isTarball, localDependencies } from "./folder";
import type { CiBackend, CiHost, ProjectFolder, Runtime } from "./folder";

/*
 * The first project of a repository has the names of the examples. Each further one has names of its own, and runs for
 * changes of its own files.
 */

/** What the names of a project's files and jobs end with, and the paths whose changes are reviewed. */
interface FurtherProject {
  readonly suffix: string;
  /** Below the root of the repository; a folder ends with a slash. */
  readonly paths: readonly string[];
}

/** The values of a project in the files for CI. */
export interface CiSettings {
  /** Of the stack. */
  readonly organization: string;
  readonly project: string;
  readonly stack: string;
  /** The folder of the project below the root of the repository. */
  readonly path: string;
  readonly defaultBranch: string;
  readonly packageManager: PackageManager;
  readonly runtime: Runtime;
  readonly backend: CiBackend;
  /** Where another project of the repository has the names of the examples. */
  readonly further?: FurtherProject;
  readonly baseUrl?: string;
  readonly issuerUrl?: string;
}

/** What stands in for values that `init` cannot know, with what each of them is. */
export const STAND_IN = {
  organization: "ORGANIZATION",
  repository: "OWNER/REPOSITORY",
  baseUrl: "https://api.platform.example",
  issuerUrl: "https://issuer.platform.example",
} as const;

/** The images in a pipeline of GitLab. */
export const imagesIn = (text: string): readonly string[] =>
  [...text.matchAll(/^[ \t]*image:[ \t]*["']?([^\s"'#{*&]+)/gm)].map(([, image = ""]) => image);

/** Whether an image is named by its digest: a tag can be moved. */
export const isPinnedImage = (image: string): boolean => /@sha256:[0-9a-f]{64}$/.test(image);

/** The folder of the files for CI: GitLab's pipeline belongs into a project of its own. */
const ciFolder = (host: CiHost): string => (host === "github" ? ".github/workflows" : "access-ci");

/** The templates of a host by the paths of the files that they become, below the root of the repository. */
function ciPaths(host: CiHost, suffix = ""): Map<string, string> {
  const all = readdirSync(join(installedFolder(), "templates", "init", host));
  // One run compares all stacks of an organisation.
  const names = suffix === "" ? all : all.filter((name) => name !== "access-drift.yml");
  return new Map(
    names.map((name) => [`${ciFolder(host)}/${name.replace(/\.yml$/, `${suffix}.yml`)}`, `${host}/${name}`]),
  );
}

/** As YAML writes a text where it is a whole value. */
const quoted = (text: string): string => stringify(text, { lineWidth: 0 }).trimEnd();

/** An address that a job can reach: not that of an emulator on this machine. */
const addressForCi = (url: string | undefined): string | undefined =>
  url === undefined || isLoopback(new URL(url)) ? undefined : url;

/** What the workflows, the pipeline and the commands for CI have in place of their placeholders. */
function ciValues(host: CiHost, settings: CiSettings): TemplateValues {
  const { organization, project, stack, path, defaultBranch, packageManager, backend, further } = settings;
  const { kind, url, hasPassphrase } = backend;
  const paths = further?.paths ?? [];
  const isGithub = host === "github";
  const address = isGithub ? '"<address of the API>"' : STAND_IN.baseUrl;
  const issuer = isGithub ? '"<issuer of the API>"' : STAND_IN.issuerUrl;
  return {
    [host]: true,
    [kind]: true,
    [settings.runtime]: true,
    // The small image has no host of another language.
    image: settings.runtime === "nodejs" ? "pulumi-nodejs" : "pulumi",
    suffix: further?.suffix ?? "",
    further: further !== undefined,
    paths,
    stack: `${organization}/${project}/${stack}`,
    unexpected: unexpectedFiles(packageManager).join(" "),
    lockfile: packageManager.lockfile,
    installInCi: packageManager.installInCi,
    organization: quoted(organization),
    path: isGithub ? quoted(path) : path,
    branch: quoted(defaultBranch),
    branchWord: quoteWord(defaultBranch),
    folder: paths[0] ?? "",
    // Characters of a folder that a pattern of GitHub gives a meaning.
    patterns: paths.map((one) => quoted(`${one.replace(/\+/g, "\\+")}${one.endsWith("/") ? "**" : ""}`)),
    globs: paths.map((one) => JSON.stringify(one.endsWith("/") ? `${one}**/*` : one)).join(", "),
    lines: JSON.stringify(paths.join("\n")).slice(1, -1),
    baseUrl: addressForCi(settings.baseUrl) ?? address,
    issuerUrl: addressForCi(settings.issuerUrl) ?? issuer,
    backend: isGithub ? quoted(url ?? "${{ vars.PULUMI_BACKEND_URL }}") : (url ?? PULUMI_CLOUD),
    unnamed: url === undefined && kind !== "cloud" && kind !== "local",
    cloud: kind === "cloud" || kind === "local",
    organizations: !isSelfManaged(kind),
    region: quoted(parameterOf(url, "region") ?? "${{ vars.AWS_REGION }}"),
    bucketRegion: parameterOf(url, "region") ?? "<region of the bucket>",
    needsRegion: parameterOf(url, "region") === undefined,
    account: kind === "azblob" && parameterOf(url, "storage_account") === undefined,
    passphrase: hasPassphrase,
    scopes: ["access-preview", "production --protected"],
  };
}

/** The commands that set the variables of CI, a line each. */
export const ciCommands = (host: CiHost, settings: CiSettings): string[] =>
  fillTemplate("commands.txt", ciValues(host, settings)).trimEnd().split("\n");

/** The files for CI, by their paths below the root of the repository. */
export function ciFiles(host: CiHost, settings: CiSettings): Record<string, string> {
  const ofProduction = ciCommands(host, settings).flatMap(
    (line) => /^glab variable set (\w+) .*--scope production/.exec(line)?.[1] ?? [],
  );
  const values = { ...ciValues(host, settings), variables: ofProduction.join(", ") };
  const paths = ciPaths(host, settings.further?.suffix);
  return Object.fromEntries([...paths].map(([file, template]) => [file, fillTemplate(template, values)]));
}

const OWNER_FILES = {
  github: [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"],
  gitlab: ["CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"],
} as const;

/** The file of the code owners: the one that the host reads, else the one that it would read first. */
export const ownersFile = (root: string, host: CiHost): string =>
  OWNER_FILES[host].find((path) => existsSync(join(root, path))) ?? OWNER_FILES[host][0];

/** The team that files of a repository are given to, until somebody names another one. */
export const proposeOwner = (repository: string | undefined): string =>
  `@${repository?.split("/")[0] ?? "OWNER"}/security`;

/** The file of own rules that the policy file names, below the root of the repository. */
function findRulesFile({ folder, path }: ProjectFolder): string[] {
  const policy = join(folder, "access-policy.yaml");
  if (!existsSync(policy)) return [];
  const rules: unknown = parseDocument(readTextFile(policy)).get("rules");
  return typeof rules === "string" ? [join(path, rules).split(sep).join("/")] : [];
}

/** The folders that package.json names, and the file of own rules, as patterns of CODEOWNERS. */
export const ownedPaths = (found: ProjectFolder): string[] =>
  [
    ...localDependencies(found).flatMap(({ inRepository }) =>
      inRepository === undefined || isTarball(inRepository) ? [] : [`${inRepository}/`],
    ),
    ...findRulesFile(found),
  ].map((path) => `/${path.replaceAll(" ", "\\ ")}`);

/** The host, and whether the file lies outside of the folder .github, which has its owner there. */
export const ownersPlace = (root: string, host: CiHost) => ({
  github: host === "github",
  outside: !ownersFile(root, host).startsWith(".github/"),
});

/** The text of CODEOWNERS. @param paths as `ownedPaths` finds them. */
export const ownersText = (
  { name }: PackageManager,
  values: {
    readonly owner: string;
    readonly github: boolean;
    readonly outside: boolean;
    readonly paths: readonly string[];
  },
): string => fillTemplate("CODEOWNERS.txt", { ...values, lockfiles: LOCKFILES, [name]: true });

/** The files that decide what is installed and run, in whatever folder they are, as patterns of CODEOWNERS. */
export const decidingFiles = (packageManager: PackageManager): readonly string[] =>
  ownersText(packageManager, { owner: "", github: false, outside: true, paths: [] })
    .split("\n")
    .slice(1)
    .map((line) => line.trim())
    .filter((pattern) => !["", "CODEOWNERS", "access-policy.yaml"].includes(pattern));

/** The folder that a file for CI names; undefined where it names none. */
function folderIn(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const text = readTextFile(path);
  const [, folder] =
    /(?:working-directory: |ACCESS_FOLDER: \{ value: )"?([^"\n]+?)"?(?:, | \}|$)/m.exec(text) ?? [];
  return folder;
}

/** The files above the folder that decide what is installed, and the dependencies that the repository holds. */
function sharedPaths(found: ProjectFolder): string[] {
  const { path, folders, root, packageManager } = found;
  const above = folders.filter((folder) => folder !== found.folder);
  const deciding = decidingFiles(packageManager).filter((name) => !/[*/]/.test(name));
  const files = above.flatMap((folder) =>
    deciding
      .map((name) => join(folder, name))
      .filter((file) => existsSync(file))
      .map((file) => file.slice(root.length + 1)),
  );
  const dependencies = localDependencies(found).flatMap(({ inRepository }) =>
    inRepository === undefined ? [] : [isTarball(inRepository) ? inRepository : `${inRepository}/`],
  );
  return [...new Set([...files, ...dependencies])].filter((file) => !file.startsWith(`${path}/`)).sort();
}

/**
 * Decides whether the names of the examples are those of another project of the repository.
 *
 * @throws UsageError where all names are taken.
 */
export function findFurtherProject(
  found: ProjectFolder,
  project: string,
  host: CiHost,
): FurtherProject | undefined {
  const filesOf = (suffix: string): string[] => [...ciPaths(host, suffix).keys()];
  const foldersOf = (suffix: string): string[] =>
    filesOf(suffix).flatMap((file) => folderIn(join(found.root, file)) ?? []);
  const isOfAnother = (folder: string): boolean =>
    folder !== found.path && PROJECT_FILES.some((name) => existsSync(join(found.root, folder, name)));
  const suffixes = ["", `-${project}`, `-${found.path.replace(/[^\w.-]+/g, "-")}`];
  const suffix =
    suffixes.find((one) => foldersOf(one).includes(found.path)) ??
    suffixes.find((one) => !foldersOf(one).some(isOfAnother));
  if (suffix === "") return undefined;
  if (suffix !== undefined)
    return {
      suffix,
      paths: found.path === "." ? [] : [`${found.path}/`, ...sharedPaths(found)],
    };
  const [byName = "", byFolder = ""] = suffixes.slice(1).flatMap((one) => filesOf(one).slice(0, 1));
  throw new UsageError(
    "PP5011",
    `${byName} and ${byFolder} belong to other projects of the repository: rename the folder or the project of this one`,
  );
}

/** The files that make a folder the project of a new program. @param main The file of the program. */
export function newProjectFiles(project: string, main: string) {
  const values = {
    project: stringify(project).trimEnd(),
    // A name that npm accepts.
    packageName: project.toLowerCase().replace(/^[._]+/, "") || "access",
    main,
    typescript: main.endsWith(".ts"),
  };
  const fill = (name: string): string => fillTemplate(`program/${name}`, values);
  return {
    "Pulumi.yaml": fill("Pulumi.yaml"),
    "package.json": fill("package.txt"),
    ...(values.typescript && { "tsconfig.json": fill("tsconfig.txt") }),
  };
}

/** What stands in a template for its names: a text, a text for each copy of the line, or a condition. */
export type TemplateValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

const PLACEHOLDER = /«(\w+)»/g;

function fillLine(line: string, values: TemplateValues): string[] {
  const [, first = ""] = /«(\w+)»/.exec(line) ?? [];
  const list = values[first];
  if (typeof list === "object") return list.flatMap((one) => fillLine(line, { ...values, [first]: one }));
  const filled = line.replace(PLACEHOLDER, (_, name: string) => {
    const value = values[name];
    if (typeof value !== "string") throw new CodedError("PP9001", `a template has no value for ${name}`);
    return value;
  });
  return [filled];
}

/**
 * Fills a template of the folder templates/init. «name» is replaced by a value. A line with a list is repeated for each of
 * its values. What stands between `#if name` or `#if !name` and `#end` is kept or left out.
 */
export function fillTemplate(name: string, values: TemplateValues): string {
  const isSet = (condition: string): boolean => {
    const value = values[condition];
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  };
  const open: boolean[] = [];
  const lines = readFileSync(join(installedFolder(), "templates", "init", name), "utf8").split("\n");
  const filled = lines.flatMap((line) => {
    const [, not, condition] = /^#if (!?)(\w+)$/.exec(line) ?? [];
    if (condition !== undefined) open.push(isSet(condition) !== (not === "!"));
    else if (line === "#end") open.pop();
    else if (!open.includes(false)) return fillLine(line, values);
    return [];
  });
  return filled.join("\n");
}
