import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isObject } from "../../../fields/values";
import type { Environment } from "../../../settings/environment";
import { printableAddress } from "../../../text/address";
import { describeFileError, readTextFile } from "../../../text/files";
import { quoteForShell, quoteWord } from "../../../text/plain";
import { printable } from "../../../text/printable";
import { UsageError } from "../../framework/exitCodes";
import { PULUMI_CLOUD, readDefaultOrganization } from "../../input/backend";
import type { NamedBackend } from "../../input/backend";
import { findPackageManager } from "../../input/packageManager";
import {
  readMembers,
  readProject,
  runtimeOf,
  stackFiles,
  stackFolder,
  withFoldersAbove,
} from "../../input/projectFiles";
import type { PackageManager } from "../../input/packageManager";
import { runGit } from "../../input/programs";

export type CiHost = "github" | "gitlab";

/** The members of a package.json that decide something. */
interface Manifest {
  readonly type?: unknown;
  readonly main?: unknown;
  readonly packageManager?: unknown;
  readonly dependencies?: object;
  readonly devDependencies?: object;
}

/** Every package that a package.json names, with its version. */
export const packagesOf = (manifest: Manifest | undefined): Readonly<Record<string, unknown>> => ({
  ...manifest?.dependencies,
  ...manifest?.devDependencies,
});

/** A folder of the repository with its package.json, if it has one. */
type PackageFolder = Pick<ProjectFolder, "folder" | "root" | "manifest">;

/** What `init` finds out of a folder and of what is around it. */
export interface ProjectFolder {
  /** Its real path; it may not exist yet. */
  readonly folder: string;
  /** The root of the git repository, or the folder itself. */
  readonly root: string;
  /** The folder below the root, with slashes; `.` for the root itself. */
  readonly path: string;
  /** The folder and those above it, up to the root. */
  readonly folders: readonly string[];
  readonly host?: CiHost;
  /** Owner and name of the repository `origin`: `acme/access`; in GitLab with all groups. */
  readonly repository?: string;
  /** The name of the machine that has it. */
  readonly server: string;
  readonly defaultBranch: string;
  /** How that is known, in words. */
  readonly branchSource: string;
  readonly packageManager: PackageManager;
  readonly manifest?: Manifest;
  /** The folders above it in the repository, the nearest first. */
  readonly above: readonly PackageFolder[];
  readonly hasTsconfig: boolean;
  /** Whether the folder or one above it in the repository has a .gitignore. */
  readonly hasGitignore: boolean;
  /** The name of the Pulumi project that exists. */
  readonly project?: string;
  readonly runtime: Runtime;
  /** The file of the program that Pulumi runs, by its path below the folder, with slashes; undefined where none is found. */
  readonly main?: string;
  /** The only stack with a configuration file. */
  readonly stack?: string;
  /** The folder of the stacks' configuration files. */
  readonly stacks: string;
}

/** The output of git without its line break; undefined where git fails or does not exist. */
function git(folder: string, ...args: readonly string[]): string | undefined {
  const { status, stdout } = runGit(folder, args);
  return status === 0 ? stdout.trimEnd() : undefined;
}

/** @throws UsageError for what is hardly meant as the name of a folder. */
function checkFolderName(given: string): void {
  if (given.trim() !== "" && !/^-|[\\\p{Cc}]/u.test(given)) return;
  const shown = printable(given, 80);
  throw new UsageError(
    "PP5002",
    `DIR must be a folder, not "${shown}": write slashes between folders, options before --, and ./${shown} for this name`,
  );
}

/** The real path of a folder that may not exist yet. @throws UsageError for a file. */
function realFolder(given: string): string {
  checkFolderName(given);
  const path = resolve(given);
  const missing: string[] = [];
  let existing = path;
  while (lstatSync(existing, { throwIfNoEntry: false }) === undefined) {
    missing.unshift(basename(existing));
    existing = dirname(existing);
  }
  try {
    const real = realpathSync(existing);
    if (!lstatSync(real).isDirectory()) throw Object.assign(new Error(), { code: "ENOTDIR" });
    return join(real, ...missing);
  } catch (error) {
    const isFile = (error as { code?: unknown }).code === "ENOTDIR";
    const reason = isFile ? "it is a file; name a folder" : describeFileError(error);
    throw new UsageError("PP5005", `DIR names ${printable(existing, 200)}: ${reason}`);
  }
}

/** @throws UsageError for a file that is not valid. */
function readManifest(folder: string): Manifest | undefined {
  const path = join(folder, "package.json");
  if (!existsSync(path)) return undefined;
  const text = readTextFile(path);
  try {
    const manifest: unknown = JSON.parse(text);
    if (isObject(manifest)) return manifest;
  } catch {
    // The message of a parser may hold what the file holds.
  }
  throw new UsageError("PP5011", `${printable(path, 200)} is no JSON, or holds no object; correct it first`);
}

/** The machine of a remote, and the path of the repository there. */
function parseRemote(remote: string): { readonly server: string; readonly repository: string | undefined } {
  const [, ofUrl, ofScp, path = ""] =
    /^(?:[a-z+]+:\/\/(?:[^@/]*@)?([^:/]+)(?::\d+)?\/|(?:[^@/]*@)?([^:/]{2,}):)(.+?)(?:\.git)?\/?$/i.exec(
      remote,
    ) ?? [];
  const host = (ofUrl ?? ofScp ?? "").toLowerCase();
  // The files hold the name: what is no name of a machine is not known.
  return {
    server: /^[\w.-]+$/.test(host) ? host : "",
    repository: /^[\w.-]+(?:\/[\w.-]+)+$/.test(path) ? path : undefined,
  };
}

/** Whether the machine of a remote is that of github.com, which one that is not known is taken for. */
export const isGithubCom = (server: string): boolean => ["", "github.com", "ssh.github.com"].includes(server);

/** The host that the name of the machine has, else the one whose files the repository has. */
function findHost(root: string, server: string): CiHost | undefined {
  const labels = server.split(/[.-]/);
  if (labels.includes("github") || server.endsWith(".ghe.com")) return "github";
  if (labels.includes("gitlab")) return "gitlab";
  const isGithub = existsSync(join(root, ".github"));
  // `init --ci gitlab` writes the folder access-ci.
  const isGitlab = [".gitlab-ci.yml", "access-ci"].some((path) => existsSync(join(root, path)));
  if (isGithub === isGitlab) return undefined;
  return isGithub ? "github" : "gitlab";
}

/** The branches that a workflow is for, as those of this package name them. */
export const branchesOf = (workflow: string): string[] =>
  Array.from(workflow.matchAll(/^ +branches: \[([^\]\n]+)\]$/gm), ([, names = ""]) =>
    names.split(",").map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2")),
  ).flat();

/** The branch that the workflows of another project in the repository are for. */
function branchOfWorkflows(root: string): string | undefined {
  const folder = join(root, ".github/workflows");
  if (!existsSync(folder)) return undefined;
  const files = readdirSync(folder).filter((name) => /^access-(?:preview|deploy).*\.yml$/.test(name));
  const [only, another] = new Set(files.flatMap((name) => branchesOf(readTextFile(join(folder, name)))));
  return another === undefined ? only : undefined;
}

const ORIGIN = "refs/remotes/origin/";

/** The branches of a repository, and the one that `origin` has by default. */
function listBranches(root: string): { readonly branches: readonly string[]; readonly remote?: string } {
  const lines = git(
    root,
    "for-each-ref",
    "--format=%(refname) %(symref)",
    "refs/heads",
    "refs/remotes/origin/HEAD",
  );
  const names = (lines ?? "").split("\n").map((line) => line.split(" "));
  const remote = names.find(([name]) => name === "refs/remotes/origin/HEAD")?.[1];
  return {
    branches: names.flatMap(([name = ""]) => /^refs\/heads\/(.+)$/.exec(name)?.[1] ?? []),
    ...(remote?.startsWith(ORIGIN) ? { remote: remote.slice(ORIGIN.length) } : {}),
  };
}

function findDefaultBranch(root: string): Pick<ProjectFolder, "defaultBranch" | "branchSource"> {
  const { branches, remote } = listBranches(root);
  if (remote !== undefined) return { defaultBranch: remote, branchSource: "of the remote origin" };
  const current = git(root, "symbolic-ref", "--short", "HEAD");
  // Before the first commit, that is the branch which the commit makes.
  if (current !== undefined && !branches.includes(current))
    return { defaultBranch: current, branchSource: "local branch, no commit yet" };
  const known = branchOfWorkflows(root);
  if (known !== undefined) return { defaultBranch: known, branchSource: "of the workflows that are there" };
  const usual = ["main", "master"].find((name) => branches.includes(name));
  if (usual !== undefined) return { defaultBranch: usual, branchSource: "local branch" };
  const [only, another] = branches;
  return only !== undefined && another === undefined
    ? { defaultBranch: only, branchSource: "the only local branch" }
    : { defaultBranch: "main", branchSource: "by default" };
}

/** Those of programs of this package: of the others than Node only with the native plugin. */
const RUNTIMES = ["nodejs", "yaml", "python", "go"] as const;
export type Runtime = (typeof RUNTIMES)[number];

/** The project in a folder, not one above it. @throws UsageError for a program in a language that has no form of this package. */
function findProject(folder: string) {
  const project = readProject(folder);
  if (project === undefined || dirname(project.path) !== folder) return undefined;
  const { path, members } = project;
  const { name, main } = members;
  const runtime = RUNTIMES.find((one) => one === runtimeOf(members));
  if (typeof name !== "string" || runtime === undefined) {
    throw new UsageError(
      "PP5011",
      `${printable(path, 200)} must name a project, and one of these runtimes: ${RUNTIMES.join(", ")}`,
    );
  }
  return { name, main, runtime, stacks: stackFolder(project) };
}

/** The file that is run for what the project or package.json calls the main one: a file, or a folder with an index file. */
function findMain(folder: string, named: unknown): string | undefined {
  const start = typeof named === "string" ? named : ".";
  const names = [
    start,
    ...["ts", "js"].flatMap((type) => [`${start}.${type}`, join(start, `index.${type}`)]),
  ];
  const isFile = (name: string): boolean =>
    lstatSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true;
  const main = names.find((name) => /\.[cm]?[jt]s$/.test(name) && isFile(name));
  return main === undefined ? undefined : join(main).split(sep).join("/");
}

/** What a stack's configuration file says. */
interface StackFile extends StackEncryption {
  readonly config?: unknown;
}

function findStack(folder: string): string | undefined {
  const names = stackFiles(folder, undefined).flatMap(
    (file) => /^Pulumi\.(\w[\w.-]*)\.(?:json|ya?ml)$/.exec(basename(file))?.[1] ?? [],
  );
  return names.length === 1 ? names[0] : undefined;
}

/** The configuration file of a stack; undefined where there is none yet. */
export function readStackFile({ stacks }: ProjectFolder, stack: string): StackFile | undefined {
  const [path] = stackFiles(stacks, stack);
  return path === undefined ? undefined : readMembers(path);
}

/** The line by which the main file of a program imports a file of its folder, and exports what that exports. */
export function importLine({ folder, main = "index.ts", manifest }: ProjectFolder, file: string): string {
  const isModule = manifest?.type === "module";
  const path = relative(dirname(main), file.replace(/\.[jt]s$/, ""))
    .split(sep)
    .join("/");
  const from = `"${path.startsWith(".") ? "" : "./"}${path}${isModule ? ".js" : ""}"`;
  if (main.endsWith(".js") && !isModule) return `Object.assign(exports, require(${from}));`;
  // TypeScript exports nothing beside what such a program exports.
  const whole = join(folder, main);
  const isWhole = existsSync(whole) && /^export = /m.test(readTextFile(whole));
  return isWhole ? `import ${from};` : `export * from ${from};`;
}

/** @throws UsageError where the folder is a file, or holds a file that is not valid. */
export function inspectFolder(given: string): ProjectFolder {
  const folder = realFolder(given);
  const existing = withFoldersAbove(folder).find((path) => existsSync(path)) ?? folder;
  const top = git(existing, "rev-parse", "--show-toplevel");
  const root = top === undefined ? folder : realpathSync(top);
  const remote = (top === undefined ? undefined : git(root, "remote", "get-url", "origin")) ?? "";
  const { server, repository } = parseRemote(remote);
  const folders = withFoldersAbove(folder, root);
  const [own, ...above] = folders.map((one): PackageFolder => ({
    folder: one,
    root,
    manifest: readManifest(one),
  }));
  const project = findProject(folder);
  const stacks = project?.stacks ?? folder;
  return {
    folder,
    root,
    path: relative(root, folder).split(sep).join("/") || ".",
    folders,
    host: top === undefined ? undefined : findHost(root, server),
    repository,
    server,
    ...(top === undefined ? { defaultBranch: "main", branchSource: "by default" } : findDefaultBranch(root)),
    packageManager: findPackageManager(folders),
    manifest: own?.manifest,
    above,
    hasTsconfig: existsSync(join(folder, "tsconfig.json")),
    hasGitignore: folders.some((path) => existsSync(join(path, ".gitignore"))),
    project: project?.name,
    runtime: project?.runtime ?? "nodejs",
    main: findMain(folder, project?.main ?? own?.manifest?.main) ?? findMain(folder, undefined),
    stack: findStack(stacks),
    stacks,
  };
}

/**
 * The .gitignore that lacks the node_modules which an installation makes, beside the lockfile or package.json; undefined where
 * git ignores it, or where there is no repository.
 */
export function findLackingGitignore(found: ProjectFolder): string | undefined {
  const { folder, folders, root, packageManager } = found;
  const nearest = (name: string): string | undefined => folders.find((one) => existsSync(join(one, name)));
  const place = nearest(packageManager.lockfile) ?? nearest("package.json") ?? folder;
  const ask = ["check-ignore", "--quiet", "--no-index", `${join(place, "node_modules")}/`];
  if (runGit(root, ask).status !== 1) return undefined;
  const above = withFoldersAbove(place, root).find((one) => existsSync(join(one, ".gitignore")));
  return join(above ?? place, ".gitignore");
}

/** A dependency that is a file or a folder, and not of a registry. */
interface LocalDependency {
  readonly name: string;
  readonly path: string;
  /** With slashes, below the root of the repository; undefined outside of it. */
  readonly inRepository: string | undefined;
}

/** As file:…, or as a path. */
const LOCAL = /^(?:(?:file|link|portal):|(?=\.{0,2}\/))(?<path>.*)$/;

/** The local dependencies that package.json names. */
export function localDependencies({ folder, root, manifest }: PackageFolder): LocalDependency[] {
  return Object.entries(packagesOf(manifest)).flatMap(([name, version]) => {
    const given = typeof version === "string" ? LOCAL.exec(version)?.groups?.["path"] : undefined;
    if (given === undefined) return [];
    const path = resolve(folder, given);
    return [{ name, path, inRepository: belowRoot(root, path) }];
  });
}

/** Whether package.json of a folder has a package that CI can install: of a registry, or from the repository. */
export const providesInCi = (found: PackageFolder, name: string): boolean =>
  Object.hasOwn(packagesOf(found.manifest), name) &&
  !localDependencies(found).some((one) => one.name === name && one.inRepository === undefined);

/** A path below the root of the repository, with slashes; undefined outside of it. */
function belowRoot(root: string, path: string): string | undefined {
  const below = relative(root, path).split(sep).join("/");
  return /^\.\.(\/|$)/.test(below) ? undefined : below;
}

/** Whether a local dependency is a file of `npm pack`, which patterns for all such files cover; else it is a folder. */
export const isTarball = (path: string): boolean => /\.(?:tgz|tar\.gz)$/.test(path);

/** A dependency that a job of CI cannot install. */
interface MissingInCi {
  readonly name: string;
  readonly why: string;
  /** The command that mends it, in the folder of the program. */
  readonly command: string;
}

/**
 * The dependencies that CI does not have: files and folders outside of the repository, and those that git ignores. One that only a
 * lockfile names ends each job with the words of the package manager.
 */
export function findMissingInCi(found: ProjectFolder): MissingInCi[] {
  const { root, folder, packageManager } = found;
  return localDependencies(found).flatMap(({ name, path, inRepository }): MissingInCi[] => {
    if (inRepository !== undefined) {
      const isIgnored = git(root, "check-ignore", "--quiet", inRepository) !== undefined;
      const command = `git add --force ${quoteWord(relative(folder, path))}`;
      return isIgnored ? [{ name, why: "is ignored by git", command }] : [];
    }
    const file = `./${basename(path)}`;
    const { add } = packageManager;
    const copy = existsSync(join(folder, file)) ? "" : `cp ${quoteWord(path)} . && `;
    const command = isTarball(path)
      ? `${copy}${add} ${quoteWord(file)}`
      : `${add} "./$(npm pack --silent ${quoteWord(path)} | tail -n 1)"`;
    return [{ name, why: "is outside of the repository", command }];
  });
}

type BackendKind = "cloud" | "selfHosted" | "s3" | "gs" | "azblob" | "local" | "other";

/** The backend of the stacks, as the files for CI need it. */
export interface CiBackend {
  readonly kind: BackendKind;
  /** Without credentials; undefined where the files cannot hold it. */
  readonly url?: string;
  /** Parts of the address that the files do not hold: credentials, and settings of this machine. */
  readonly omitted: readonly string[];
  /** Whether the secrets of the stack are encrypted with a passphrase. */
  readonly hasPassphrase: boolean;
  /** What was found, and where. */
  readonly named: NamedBackend;
}

/** The stack configuration's members that say how secrets are encrypted. */
interface StackEncryption {
  readonly secretsprovider?: unknown;
  readonly encryptionsalt?: unknown;
}

const BUCKETS = ["s3", "gs", "azblob"] as const;

/** Parameters of a bucket's address that hold for every machine, and no secret. */
const SHARED_PARAMETERS = [
  ...["region", "endpoint", "awssdk", "s3ForcePathStyle", "use_path_style", "hostname_immutable"],
  ...["disableSSL", "disable_https", "dualstack", "fips", "accelerate", "ssetype", "kmskeyid"],
  ...["storage_account", "domain", "protocol", "cdn", "localemu"],
];

/** A text that a workflow can hold as it is: no expression, no quote and no user name. */
const PLAIN = /^[\w:/.[\]%~-]*$/;

function kindOf(url: string): BackendKind {
  const [, scheme = ""] = /^([a-z][a-z0-9+.-]*):/i.exec(url) ?? [];
  const lower = scheme.toLowerCase();
  if (url.replace(/\/$/, "") === PULUMI_CLOUD) return "cloud";
  if (lower === "https") return "selfHosted";
  // Plain http passes the check of the address on this machine only.
  if (lower === "file" || lower === "http") return "local";
  return BUCKETS.find((bucket) => bucket === lower) ?? "other";
}

/** A parameter of an address. */
export const parameterOf = (url: string | undefined, name: string): string | undefined =>
  (url !== undefined && URL.canParse(url) ? new URL(url).searchParams.get(name) : null) ?? undefined;

const isBucket = (kind: BackendKind): boolean => BUCKETS.some((bucket) => bucket === kind);

/** Whether the backend has no organizations: the full name of each stack begins with `organization`. */
export const isSelfManaged = (kind: BackendKind): boolean => isBucket(kind) || kind === "other";

/** An address without its user name, its password and the parameters that CI must not have. */
function withoutCredentials(text: string): Pick<CiBackend, "url" | "omitted"> {
  if (!URL.canParse(text)) return { omitted: [] };
  const url = new URL(text);
  const omitted = url.username === "" && url.password === "" ? [] : ["user name and password"];
  const parameters = [...url.searchParams].filter(([name, value]) => {
    if (SHARED_PARAMETERS.includes(name) && PLAIN.test(value)) return true;
    omitted.push(PLAIN.test(name) ? name : "a parameter");
    return false;
  });
  const address = `${url.protocol}//${url.host}${url.pathname.replace(/\/$/, "")}`;
  const query = parameters.map(([name, value]) => `${name}=${value}`).join("&");
  return {
    ...(PLAIN.test(address) && { url: query === "" ? address : `${address}?${query}` }),
    omitted,
  };
}

/** Whether the commands of CI need a passphrase: of the stack that exists, or of the one that will be created. */
function needsPassphrase(kind: BackendKind, encryption: StackEncryption | undefined): boolean {
  if (kind === "local") return false;
  if (typeof encryption?.secretsprovider === "string") return encryption.secretsprovider === "passphrase";
  return encryption?.encryptionsalt !== undefined || (kind !== "cloud" && kind !== "selfHosted");
}

/** The only organization of a backend that has none. */
const NO_ORGANIZATION = "organization";

/** The organization of the stacks, where the backend or this machine decides it. */
export function findOrganization({ url }: NamedBackend): string | undefined {
  const kind = kindOf(url);
  if (isSelfManaged(kind)) return NO_ORGANIZATION;
  return kind === "local" ? undefined : readDefaultOrganization(url);
}

/** @throws UsageError for an organization that the backend cannot have. */
export function checkOrganization({ url }: NamedBackend, organization: string): void {
  if (!isSelfManaged(kindOf(url)) || organization === NO_ORGANIZATION) return;
  throw new UsageError(
    "PP5003",
    `--stack names the organization ${organization}, and ${printableAddress(url)} has none; write ${NO_ORGANIZATION} in its place`,
  );
}

/** How a stack moves to another backend, a command each. */
export const moveCommands = (stack: string, backend: string): string[] => [
  `pulumi stack export --stack ${quoteWord(stack)} --show-secrets --file stack.json`,
  `export PULUMI_BACKEND_URL=${quoteForShell(backend)}`,
  `pulumi stack init ${quoteWord(stack)}`,
  "pulumi stack import --file stack.json",
  "rm stack.json",
];

/** Names the backend of the environment for commands that follow in a shell that may not have it. */
export function exportBackend(env: Environment): string[] {
  const given = env["PULUMI_BACKEND_URL"];
  if (!given) return [];
  const { url, omitted } = describeForCi({ url: given, source: "environment" }, undefined);
  const shown = url !== undefined && omitted.length === 0 ? url : printableAddress(given);
  const note = shown === url || shown === given ? "" : "   # the whole address, as this command had it";
  return [`export PULUMI_BACKEND_URL=${quoteForShell(shown)}${note}`];
}

/** Decides what the files for CI say about a backend. @param encryption Of the stack's configuration, if there is one. */
export function describeForCi(named: NamedBackend, encryption: StackEncryption | undefined): CiBackend {
  const kind = kindOf(named.url);
  const isWritten = kind === "selfHosted" || isBucket(kind);
  return {
    kind,
    hasPassphrase: needsPassphrase(kind, encryption),
    named,
    ...(isWritten ? withoutCredentials(named.url) : { omitted: [] }),
  };
}
