import { existsSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { isObject } from "../../../fields/values";
import { readEnvironment } from "../../../settings/environment";
import { printableAddress } from "../../../text/address";
import { readTextFile } from "../../../text/files";
import { quoteWord } from "../../../text/plain";
import { printable } from "../../../text/printable";
import { defineCommand } from "../../framework/defineCommand";
import { exitCodes, UsageError } from "../../framework/exitCodes";
import type { Flags, Values } from "../../framework/flags";
import { findBackend, PULUMI_CLOUD_BY_DEFAULT } from "../../input/backend";
import type { NamedBackend } from "../../input/backend";
import { checkLockfiles, ownCommand } from "../../input/packageManager";
import { findModuleProblem, GITIGNORE, projectNameOf } from "../../input/projectFiles";
import { webAddress } from "../../input/repository";
import { installedFolder, packageSource } from "../../output/packageSource";
import { checkNewFiles, isTaken, writeNewFiles, joinFilePath } from "../../output/writeFiles";
import type { NewFile } from "../../output/writeFiles";
import {
  checkOrganization,
  describeForCi,
  exportBackend,
  findOrganization,
  isGithubCom,
  isSelfManaged,
  inspectFolder,
  localDependencies,
  packagesOf,
  providesInCi,
  readStackFile,
  findLackingGitignore,
  findMissingInCi,
  importLine,
} from "./folder";
import type { CiHost, ProjectFolder } from "./folder";
import {
  fillTemplate,
  ciCommands,
  ciFiles,
  findFurtherProject,
  newProjectFiles,
  ownedPaths,
  ownersFile,
  ownersPlace,
  ownersText,
  proposeOwner,
  STAND_IN,
  imagesIn,
  isPinnedImage,
} from "./workflows";
import type { TemplateValues, CiSettings } from "./workflows";

const flags = {
  ci: {
    type: "string",
    value: "HOST",
    choices: ["github", "gitlab", "none"],
    default: "the host of the remote origin, else the one whose files the repository has",
    help: "whose workflows to write",
  },
  language: {
    type: "string",
    value: "LANGUAGE",
    choices: ["typescript", "javascript"],
    default: "javascript for a package.json without TypeScript, else typescript",
    help: "the language of a new program",
  },
  project: {
    type: "string",
    value: "NAME",
    default: "the name of the folder",
    help: "the name of a new Pulumi project",
  },
  stack: {
    type: "string",
    value: "STACK",
    default: "the only one with a configuration file, else prod",
    help: "the stack to review, as prod or organization/project/prod",
  },
  branch: {
    type: "string",
    value: "NAME",
    default:
      "that of the remote origin, else the branch of a repository without a commit, else main or master",
    help: "the default branch, which the workflows review and deploy",
  },
  "base-url": {
    type: "string",
    value: "URL",
    default: "PLATFORM_BASE_URL",
    help: "address of the API",
  },
  "issuer-url": {
    type: "string",
    value: "URL",
    default: "PLATFORM_ISSUER_URL",
    help: "issuer of the API, for the OIDC tokens of GitLab",
  },
  commands: {
    type: "boolean",
    help: "write the commands that set the variables of CI into ci-commands.sh, in place of printing them",
  },
  "dry-run": { type: "boolean", help: "print what would be written, write nothing" },
} as const satisfies Flags;

type InitValues = Values<typeof flags>;

const NAME = /^\w[\w.-]{0,99}$/;

/** An address, of a flag or else of its environment variable. */
function readUrl(
  flag: "base-url" | "issuer-url",
  variable: "PLATFORM_BASE_URL" | "PLATFORM_ISSUER_URL",
  values: InitValues,
): string | undefined {
  const text = values[flag] ?? readEnvironment()[variable];
  if (text === undefined || text === "") return undefined;
  const url = webAddress(text)?.replace(/\/$/, "");
  if (url !== undefined && /^[\w:/.[\]%~-]+$/.test(url)) return url;
  const name = values[flag] === undefined ? variable : `--${flag}`;
  throw new UsageError("PP5002", `${name} must be an http or https URL, as in https://api.example.com`);
}

/** The name of the project: that of the program, the one that is given, or that of the folder. */
function chooseProject({ project }: InitValues, { project: existing, folder }: ProjectFolder): string {
  const shown = printable(existing ?? project ?? "", 80);
  if (existing !== undefined && project !== undefined && project !== existing) {
    const message = `--project conflicts with the project ${shown} in Pulumi.yaml; leave it out`;
    throw new UsageError("PP5003", message);
  }
  const [name, source] =
    existing === undefined ? [project, "--project"] : [existing, "the name in Pulumi.yaml"];
  if (name !== undefined && !NAME.test(name)) {
    const message = `${source} must have letters, digits, ".", "_" and "-" only, not "${shown}"`;
    throw new UsageError(existing === undefined ? "PP5002" : "PP5011", message);
  }
  return name ?? projectNameOf(folder) ?? "access";
}

/** The organization, which only the stack's whole name and the backend have, and the name of the stack. */
function chooseStack(
  { stack }: InitValues,
  found: ProjectFolder,
  project: string,
  backend: NamedBackend,
): [string, string] {
  const parts = (stack ?? found.stack ?? "prod").split("/");
  const ofBackend = findOrganization(backend);
  const known = ofBackend !== undefined && NAME.test(ofBackend) ? ofBackend : STAND_IN.organization;
  const [organization = "", named = "", name = ""] = parts.length === 1 ? [known, project, ...parts] : parts;
  if (![1, 3].includes(parts.length) || !parts.every((part) => NAME.test(part))) {
    const shown = printable(stack ?? "", 80);
    throw new UsageError("PP5002", `--stack must be a stack, as in prod or acme/access/prod, not "${shown}"`);
  }
  if (named !== project) {
    const message = `--stack names the project ${named}, and this one is ${printable(project, 100)}; give --stack its name`;
    throw new UsageError("PP5003", message);
  }
  if (parts.length > 1) checkOrganization(backend, organization);
  return [organization, name];
}

function chooseLanguage({ language }: InitValues, found: ProjectFolder): Language {
  const { project, manifest, hasTsconfig } = found;
  if (project !== undefined && language !== undefined)
    throw new UsageError("PP5003", "--language conflicts with the Pulumi program that exists; leave it out");
  const isTypeScript =
    manifest === undefined || hasTsconfig || Object.hasOwn(packagesOf(manifest), "typescript");
  const chosen = language ?? (isTypeScript ? "typescript" : "javascript");
  if (project !== undefined || chosen === "javascript" || manifest?.type !== "module") return chosen;
  throw new UsageError(
    "PP5011",
    "package.json has the type module, and Pulumi runs a TypeScript program as CommonJS: give --language javascript, or use another folder",
  );
}

/** Whether git takes a name for a branch, and a workflow, a shell and a program hold it as it is. */
const isBranchName = (name: string): boolean =>
  name.split("/").every((part) => /^[\w-][\w.-]*$/.test(part) && !/\.\.|\.$|\.lock$/.test(part)) &&
  !name.startsWith("-");

/** @throws UsageError for a branch that the files cannot hold. */
function checkBranch({ defaultBranch, branchSource }: ProjectFolder): void {
  if (isBranchName(defaultBranch)) return;
  const what = branchSource === "--branch" ? "--branch" : `the default branch (${branchSource})`;
  throw new UsageError(
    "PP5002",
    `${what} must be the name of a branch, as in main or release/2.x, with letters, digits, ".", "_", "-" and "/" only, not "${printable(defaultBranch, 100)}"`,
  );
}

/** @throws UsageError for a path that the files for CI cannot hold: that of the program, or of a dependency. */
function checkPaths(found: ProjectFolder): void {
  const dependencies = localDependencies(found).flatMap(({ inRepository = "." }) => inRepository);
  const wrong = [found.path, ...dependencies].find((path) => !/^[\p{L}\p{N}_./ @+-]*$/u.test(path));
  if (wrong === undefined) return;
  throw new UsageError(
    "PP5002",
    `the path ${printable(join(found.root, wrong), 200)} has characters that a workflow cannot hold: use letters, digits, ".", "_", "-" and "/"`,
  );
}

/** Everything that the files hold: from the flags, the environment and the folder. */
function chooseSettings(values: InitValues, found: ProjectFolder, host: InitPlan["host"]): CiSettings {
  const project = chooseProject(values, found);
  const named = host === "none" ? PULUMI_CLOUD_BY_DEFAULT : findBackend(found.folder, readEnvironment());
  const [organization, stack] = chooseStack(values, found, project, named);
  const further = host === "none" ? undefined : findFurtherProject(found, project, host);
  return {
    ...(further && { further }),
    backend: describeForCi(named, readStackFile(found, stack)),
    organization,
    project,
    stack,
    path: found.path,
    defaultBranch: found.defaultBranch,
    packageManager: found.packageManager,
    runtime: found.runtime,
    baseUrl: readUrl("base-url", "PLATFORM_BASE_URL", values),
    issuerUrl: readUrl("issuer-url", "PLATFORM_ISSUER_URL", values),
  };
}

/** The issuer of the tokens of a host's jobs. */
function tokenIssuer(host: CiHost, server: string): string {
  if (host === "gitlab") return `https://${server || "gitlab.com"}`;
  if (server.endsWith(".ghe.com")) return `https://token.actions.${server}`;
  return isGithubCom(server)
    ? "https://token.actions.githubusercontent.com"
    : `https://${server}/_services/token`;
}

/** The files of the folder of the program, by their names. */
function programFiles({ found, host, language, settings }: InitPlan): Record<string, string> {
  const { manifest, repository, defaultBranch, server } = found;
  const isTypeScript = language === "typescript";
  const isModule = isTypeScript || manifest?.type === "module";
  // The identities of the first project are those of each further one. They are declared in TypeScript or JavaScript only.
  const hasIdentities = host !== "none" && settings.further === undefined && found.runtime === "nodejs";
  const main = isTypeScript ? "index.ts" : "index.js";
  const values = {
    // Samples of several projects differ by name.
    suffix: settings.further?.suffix ?? "",
    ci: hasIdentities,
    identities: isTypeScript || manifest?.type !== "module" ? "./ci" : "./ci.js",
    issuer: host === "none" ? "" : tokenIssuer(host, server),
  };
  // The sample of a new program trusts the repository where it is known.
  const isKnown = host !== "none" && repository !== undefined;
  const [path, branch] = isKnown ? [repository, defaultBranch] : ["acme/first", "main"];
  const sample = {
    sampleIssuer: tokenIssuer(host === "gitlab" ? "gitlab" : "github", isKnown ? server : ""),
    sampleSubject:
      host === "gitlab"
        ? `project_path:${path}:ref_type:branch:ref:${branch}`
        : `repo:${path}:ref:refs/heads/${branch}`,
  };
  const own = { repository: repository ?? STAND_IN.repository, branch: defaultBranch };
  const fill = (name: string, more: object = sample): string =>
    fillTemplate(`program/${name}`, { ...values, ...more });
  const syntax = isModule ? "module" : "commonjs";
  const { "Pulumi.yaml": project, ...others } = newProjectFiles(settings.project, main);
  return {
    ...(found.project === undefined && {
      "Pulumi.yaml": project,
      [main]: fill(`${syntax}.txt`),
      ...others,
    }),
    // A program that exists needs these too.
    ...(!found.hasGitignore && { ".gitignore": GITIGNORE }),
    "access-policy.yaml": fill("access-policy.yaml"),
    ...(hasIdentities && {
      [`ci.${isTypeScript ? "ts" : "js"}`]: fill(`identities-${host}-${syntax}.txt`, own),
    }),
  };
}

/** The text of CODEOWNERS: the files that decide how a change is reviewed belong to a team. */
function codeOwners({ found, host, settings: { packageManager } }: InitPlan): string {
  const [owner, paths] = [proposeOwner(found.repository), ownedPaths(found)];
  const place = ownersPlace(found.root, host === "none" ? "github" : host);
  return ownersText(packageManager, { ...place, owner, paths });
}

/** The commands as a script. A shell goes on where a command inside of an argument fails: so each has a line of its own. */
function scriptOf(commands: string): string {
  const lines = commands.replace(/^(.*)"\$\((.*)\)"(.*)$/gm, 'value=$($2)\n$1"$value"$3');
  return `# Replace each <…>, and run it after pulumi up.
set -eu
if grep -n '[<][a-zA-Z]' "$0"; then
  echo "replace what stands in <…> first" >&2
  exit 1
fi
${lines}
`;
}

function listFiles(plan: InitPlan, hasScript: boolean): NewFile[] {
  const { found, host, settings } = plan;
  const filesBelow = (base: string, files: Record<string, string>): NewFile[] =>
    Object.entries(files).map(([path, text]) => ({ base, path, text }));
  const ofProgram = filesBelow(found.folder, programFiles(plan));
  if (host === "none") return ofProgram;
  const commands = ciCommands(host, settings).join("\n");
  return [
    ...ofProgram,
    ...filesBelow(found.folder, hasScript ? { "ci-commands.sh": scriptOf(commands) } : {}),
    ...filesBelow(found.root, {
      [ownersFile(found.root, host)]: codeOwners(plan),
      ...ciFiles(host, settings),
    }),
  ];
}

function init(dir: string, values: InitValues): number {
  const folder = inspectFolder(dir);
  const { branch } = values;
  const found =
    branch === undefined ? folder : { ...folder, defaultBranch: branch, branchSource: "--branch" };
  const host = values.ci ?? found.host ?? "none";
  if (branch !== undefined || host !== "none") checkBranch(found);
  const settings = chooseSettings(values, found, host);
  const language = chooseLanguage(values, found);
  const { kind, named } = settings.backend;
  const isReachable = kind !== "local";
  if (values.ci !== undefined && !isReachable) {
    throw new UsageError(
      "PP5003",
      `--ci ${host} needs a state that CI can reach, and this one is at ${printableAddress(named.url)}: name the backend that it will have by PULUMI_BACKEND_URL, as in https://api.pulumi.com or s3://acme-state`,
    );
  }
  if (host !== "none" && isReachable) {
    checkPaths(found);
    checkLockfiles(found.folders, found.packageManager);
  }
  const plan: InitPlan = { found, settings, language, host: isReachable ? host : "none" };
  const files = listFiles(plan, values.commands);
  const [existing, missing] = [files.filter(isTaken), files.filter((file) => !isTaken(file))];
  checkNewFiles(missing);
  const isDryRun = values["dry-run"];
  if (!isDryRun) writeNewFiles(missing);
  process.stdout.write(
    describeResult({ ...plan, existing, written: missing, isDryRun, isHostGiven: values.ci !== undefined }),
  );
  return exitCodes.clean;
}

export const command = defineCommand(
  {
    name: "init",
    usage: ["[DIR] [options]"],
    about:
      "Writes a first program, its access policy, the workflows of the access review and their identities into a folder: the " +
      "current one, or DIR. " +
      "A Pulumi program that exists stays, and so does every file that exists. Writes all files or none, and prints the " +
      "next commands. Sends no request.",
    arguments: ["DIR"],
    flags,
    exitCodes: ["clean", "error", "usage"],
  },
  ({ values, positionals: [dir = ".", extra] }) => {
    if (extra !== undefined)
      throw new UsageError("PP5001", `init takes one folder; see ${ownCommand()} init --help`);
    return Promise.resolve(init(dir, values));
  },
);
export const { main } = command;

type Language = "typescript" | "javascript";

/** What decides the files of a folder. */
interface InitPlan {
  readonly found: ProjectFolder;
  readonly settings: CiSettings;
  readonly language: Language;
  readonly host: CiHost | "none";
}

/** What `init` has written, or would write. */
interface InitResult extends InitPlan {
  /** Files that stay as they are. */
  readonly existing: readonly NewFile[];
  readonly written: readonly NewFile[];
  readonly isDryRun: boolean;
  /** Whether a flag names the host, or that there is none. */
  readonly isHostGiven: boolean;
}

const printedPath = (path: string): string =>
  printable(relative(process.cwd(), path).split(sep).join("/"), 300);
const shownPath = (file: NewFile): string => printedPath(joinFilePath(file));

/** Whether this package, and each one that package.json names, is installed. */
const isInstalled = ({ folders, manifest }: ProjectFolder): boolean =>
  folders.some((folder) => existsSync(join(folder, ".pnp.cjs"))) ||
  ["pulumi-platform", ...Object.keys(packagesOf(manifest))].every((name) =>
    folders.some((folder) => existsSync(join(folder, "node_modules", name))),
  );

/** The commands that install what is not installed: of a checkout, from the file that npm pack writes. */
function listInstallation({ found, host, language }: InitResult): string[] {
  const { manifest, packageManager } = found;
  const place = relative(process.cwd(), found.folder);
  const has = (name: string): boolean =>
    Object.hasOwn(packagesOf(manifest), name) || found.above.some((one) => providesInCi(one, name));
  // The native plugin needs it as a peer of this package, which Yarn alone does not install.
  const namesSdk = found.runtime === "nodejs" || packageManager.name === "yarn";
  const { specifier, prepare } = packageSource(installedFolder(), found.folder);
  const add = [
    ...(has("pulumi-platform") ? [] : [specifier]),
    ...(manifest !== undefined && namesSdk && !has("@pulumi/pulumi") ? ["@pulumi/pulumi"] : []),
  ];
  const missing = ["typescript", "@types/node"].filter((name) => !has(name));
  const needsTypes = found.project === undefined && language === "typescript" && manifest !== undefined;
  // A command that adds one package installs all.
  const forCi = (host === "none" ? [] : findMissingInCi(found)).map(
    ({ name, why, command }) => `${command}   # ${printable(name, 300)} ${why}, and CI does not have it`,
  );
  return [
    ...(place === "" ? [] : [`cd ${quoteWord(place)}`]),
    ...(has("pulumi-platform") ? [] : prepare),
    ...forCi,
    ...(add.length > 0
      ? [`${packageManager.add} ${add.join(" ")}`]
      : isInstalled(found) || forCi.some((line) => line.includes(packageManager.add))
        ? []
        : [`${packageManager.name} install`]),
    ...(needsTypes && missing.length > 0 ? [`${packageManager.add} -D ${missing.join(" ")}`] : []),
  ];
}

/** What to replace by hand in the written files. */
function listPlaceholders({ found, written, existing, host }: InitResult): string {
  const meanings = {
    [STAND_IN.organization]: "yours in Pulumi Cloud",
    [STAND_IN.repository]: "the repository",
    [STAND_IN.baseUrl]: "the API",
    [STAND_IN.issuerUrl]: "its issuer",
  };
  const added = existing.filter(({ path }) => path.endsWith("CODEOWNERS")).flatMap(listMissingLines);
  const inFiles = written.map((file) => file.text).join("\n");
  const text = [inFiles, ...added].join("\n");
  const owner = proposeOwner(found.repository);
  return [
    ...Object.entries(meanings).filter(([standIn]) => text.includes(standIn)),
    ...(text.includes(owner)
      ? [[owner, inFiles.includes(owner) ? "your team" : "your team, in the lines to add to CODEOWNERS"]]
      : []),
    ...[...new Set(host === "gitlab" ? imagesIn(text).filter((image) => !isPinnedImage(image)) : [])].map(
      (image) => [image, "add @ and the digest that docker buildx imagetools inspect prints"],
    ),
  ]
    .map(([standIn = "", meaning = ""]) => `${standIn} (${meaning})`)
    .join(", ");
}

/**
 * The lines of a file of code owners that exists as another one, and lacks some: all of them, because a line in the middle
 * of others decides nothing where a later one matches the same files.
 */
function listMissingLines(file: NewFile): string[] {
  const present = readTextFile(joinFilePath(file)).split("\n");
  const lines = file.text.split("\n").filter((line) => !/^(?:#|$)/.test(line));
  return lines.every((line) => present.includes(line)) ? [] : lines;
}

/** What the output says of CI: the backend, the code owners and the commands. */
function describeCi(result: InitResult): TemplateValues {
  const { found, host, settings, existing, written } = result;
  const { backend, further, organization, project, stack } = settings;
  const { kind, url, omitted, named } = backend;
  const source = {
    [kind]: true,
    backend: printable(url ?? printableAddress(named.url), 300),
    [`from_${named.source}`]: true,
    file: printable(named.path ?? "", 200),
  };
  if (host === "none")
    return {
      ...source,
      ci: false,
      asked: result.isHostGiven,
      found: kind === "local" || result.isHostGiven,
      server: found.server,
    };
  const isIdentities = ({ path }: NewFile): boolean => /^ci\.[jt]s$/.test(path);
  const identities = written.find(isIdentities);
  const isImported = written.some(({ path }) => /^index\.[jt]s$/.test(path));
  const owners = existing.find(({ path }) => path.endsWith("CODEOWNERS"));
  const script = [...written, ...existing].find(({ path }) => path.endsWith(".sh"));
  return {
    ci: true,
    branch: found.defaultBranch,
    branchSource: found.branchSource,
    host,
    [host]: true,
    identities: identities && !isImported ? importLine(found, identities.path) : "",
    main: printable(found.main ?? "the main file of the program", 200),
    ...source,
    overridden: named.overridden && printableAddress(named.overridden),
    omitted: omitted.join(", "),
    further: further !== undefined,
    [found.runtime]: true,
    suffix: further?.suffix ?? "",
    stackName: `${organization}/${project}/${stack}`,
    paths: printable(further?.paths.join(", ") ?? "", 1000),
    script: script && basename(script.path),
    commands: ciCommands(host, settings),
    replaced: existsSync(join(found.root, ".gitlab-ci.yml")),
    codeowners: owners && shownPath(owners),
    owned: owners === undefined ? [] : listMissingLines(owners),
    hasIdentities: identities !== undefined,
    identitiesFile: identities && shownPath(identities),
  };
}

/** The commands to the first update that are left to run. */
function listSteps(result: InitResult, hasIdentities: boolean): string[] {
  const { found, settings } = result;
  const { project, organization, stack, baseUrl, backend, packageManager } = settings;
  const env = readEnvironment();
  const isNew = found.project === undefined;
  const file = readStackFile(found, stack);
  const { config } = file ?? {};
  const hasRoot = isObject(config) && config[`${project}:rootUid`] !== undefined;
  const rootUid = env["PLATFORM_ROOT_GROUP"] ? '"$PLATFORM_ROOT_GROUP"' : "UID";
  const credentials = ["PLATFORM_TOKEN", "PLATFORM_TOKEN_FILE", "PLATFORM_IDENTITY"] as const;
  const exported = [
    ...(env["PLATFORM_BASE_URL"] ? [] : [`PLATFORM_BASE_URL=${baseUrl ?? "https://…"}`]),
    ...(credentials.some((name) => env[name]) ? [] : ["PLATFORM_TOKEN=…"]),
  ];
  const hasOrganization = organization !== STAND_IN.organization && !isSelfManaged(backend.kind);
  const newStack = hasOrganization ? `${organization}/${stack}` : stack;
  const doctor = `${packageManager.run} pulumi-platform doctor`;
  return [
    ...listInstallation(result),
    ...(isNew && exported.length > 0 ? [`export ${exported.join(" ")}`] : []),
    ...(isNew && !hasRoot
      ? [`${doctor}   # checks address and credential, and prints the uid of the root group`]
      : []),
    ...(isNew || hasIdentities ? exportBackend(env) : []),
    ...((isNew || hasIdentities) && file === undefined ? [`pulumi stack init ${newStack}`] : []),
    ...((isNew || hasIdentities) && !hasRoot ? [`pulumi config set rootUid ${rootUid}`] : []),
    ...(isNew ? ["pulumi up"] : hasIdentities ? ["pulumi up   # applies the rest of the program too"] : []),
  ];
}

/** The output: what is written, and what to do next. The texts stand in templates/init/output.txt. */
function describeResult(result: InitResult): string {
  const { found, settings, existing, written } = result;
  const program =
    found.project === undefined ? existing.find(({ path }) => /^index\.[jt]s$/.test(path)) : undefined;
  const ofCi = describeCi(result);
  const ignore = findLackingGitignore(found);
  // After --dry-run, git does not ignore yet what a written file would.
  const isWritten = written.some((file) => joinFilePath(file) === ignore);
  return fillTemplate("output.txt", {
    ...ofCi,
    dryRun: result.isDryRun,
    texts: written.map((file) => `${shownPath(file)}:\n\n${file.text.trimEnd()}\n`),
    written: written.map(shownPath),
    nothing: written.length === 0 && existing.length > 0,
    existing: existing.map(shownPath),
    program: program && shownPath(program),
    programText: program?.text.trimEnd(),
    moduleProblem: found.project === undefined ? undefined : findModuleProblem(found.folder, found.main),
    ignore: ignore !== undefined && !isWritten ? printedPath(ignore) : "",
    placeholders: listPlaceholders(result),
    steps: listSteps(result, ofCi["hasIdentities"] === true),
    run: settings.packageManager.run,
  });
}
