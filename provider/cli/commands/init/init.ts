import { basename } from "node:path";
import { stringify } from "yaml";
import { printable } from "../../../http/errors";
import { defineCommand } from "../../framework/defineCommand";
import { exitCodes, UsageError } from "../../framework/exitCodes";
import type { Flags, Values } from "../../framework/flags";
import { packageFolder } from "../../framework/packageVersion";
import { webAddress } from "../../input/repository";
import { findBackend, PULUMI_CLOUD_BY_DEFAULT } from "../../input/backend";
import type { NamedBackend } from "../../input/backend";
import { checkOrganization, describeForCi, findOrganization } from "./backend";
import { inspectFolder, packagesOf, readStackEncryption } from "./folder";
import type { ProjectFolder } from "./folder";
import { describeResult } from "./output";
import type { InitPlan, Language } from "./output";
import { checkLockfiles } from "./packageManager";
import { fillTemplate } from "./template";
import { ciFiles, findFurtherProject, STAND_IN } from "./workflows";
import type { CiSettings } from "./workflows";
import { checkNewFiles, isTaken, writeNewFiles } from "../../output/writeNewFiles";
import type { NewFile } from "../../output/writeNewFiles";
import { readEnvironment } from "../../../settings/environment";

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
  "dry-run": { type: "boolean", help: "print what would be written, write nothing" },
} as const satisfies Flags;

type InitValues = Values<typeof flags>;

const NAME = /^\w[\w.-]{0,99}$/;

/** @param variable The environment variable that is read without the flag. */
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
function chooseProject({ project }: InitValues, found: ProjectFolder): string {
  if (project !== undefined && found.project !== undefined && project !== found.project) {
    throw new UsageError(
      "PP5003",
      `--project conflicts with the project ${printable(found.project, 100)} in Pulumi.yaml; leave it out`,
    );
  }
  if (found.project !== undefined && !NAME.test(found.project)) {
    throw new UsageError(
      "PP5011",
      `the name in Pulumi.yaml must have letters, digits, ".", "_" and "-" only, not "${printable(found.project, 80)}"`,
    );
  }
  if (project !== undefined && !NAME.test(project)) {
    throw new UsageError(
      "PP5002",
      `--project must have letters, digits, ".", "_" and "-" only, not "${printable(project, 80)}"`,
    );
  }
  const ofFolder = basename(found.folder)
    .replace(/[^\w.-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, 100);
  return found.project ?? project ?? (ofFolder === "" ? "access" : ofFolder);
}

/** The organization, which only the stack's whole name and the backend have, and the name of the stack. */
function chooseStack(
  { stack }: InitValues,
  found: ProjectFolder,
  project: string,
  backend: NamedBackend,
): [string, string] {
  const parts = (stack ?? found.stack ?? "prod").split("/");
  const ofBackend = findOrganization(backend, readEnvironment());
  const known = ofBackend !== undefined && NAME.test(ofBackend) ? ofBackend : STAND_IN.organization;
  const [organization, named, name] = parts.length === 1 ? [known, project, ...parts] : parts;
  if (parts.length % 2 === 0 || parts.length > 3 || !parts.every((part) => NAME.test(part))) {
    throw new UsageError(
      "PP5002",
      `--stack must be a stack, as in prod or acme/access/prod, not "${printable(stack ?? "", 80)}"`,
    );
  }
  if (named !== project) {
    throw new UsageError(
      "PP5003",
      `--stack names the project ${named ?? ""}, and this one is ${printable(project, 100)}; give --stack its name`,
    );
  }
  if (parts.length > 1) checkOrganization(backend, organization ?? "");
  return [organization ?? "", name ?? ""];
}

function chooseLanguage(
  { language }: InitValues,
  { project, manifest, hasTsconfig }: ProjectFolder,
): Language {
  if (project !== undefined && language !== undefined)
    throw new UsageError("PP5003", "--language conflicts with the Pulumi program that exists; leave it out");
  const isTypeScript =
    manifest === undefined || hasTsconfig || Object.hasOwn(packagesOf(manifest), "typescript");
  const chosen = language ?? (isTypeScript ? "typescript" : "javascript");
  if (project === undefined && chosen === "typescript" && manifest?.type === "module") {
    throw new UsageError(
      "PP5011",
      "package.json has the type module, and Pulumi runs a TypeScript program as CommonJS: give --language javascript, or use another folder",
    );
  }
  return chosen;
}

/** @throws UsageError for a path or a branch that the files for CI cannot hold. */
function checkNames({ path, folder, defaultBranch }: ProjectFolder): void {
  if (!/^[\w./@+-]+$/.test(defaultBranch)) {
    throw new UsageError(
      "PP5002",
      `the default branch ${printable(defaultBranch, 100)} has characters that a workflow cannot hold: use letters, digits, ".", "_", "-" and "/"`,
    );
  }
  if (!/^[\p{L}\p{N}_./ @+-]+$/u.test(path)) {
    throw new UsageError(
      "PP5002",
      `the path ${printable(folder, 200)} has characters that a workflow cannot hold: use letters, digits, ".", "_", "-" and "/"`,
    );
  }
}

/** Everything that the files hold: from the flags, the environment and the folder. */
function chooseSettings(
  values: InitValues,
  found: ProjectFolder,
  { host, packageRoot }: Pick<InitPlan, "host" | "packageRoot">,
): CiSettings {
  const project = chooseProject(values, found);
  const named = host === "none" ? PULUMI_CLOUD_BY_DEFAULT : findBackend(found.folder, readEnvironment());
  const [organization, stack] = chooseStack(values, found, project, named);
  const further = host === "none" ? undefined : findFurtherProject(found, project, host, packageRoot);
  return {
    ...(further && { further }),
    backend: describeForCi(named, readStackEncryption(found, stack)),
    organization,
    project,
    stack,
    path: found.path,
    defaultBranch: found.defaultBranch,
    packageManager: found.packageManager,
    baseUrl: readUrl("base-url", "PLATFORM_BASE_URL", values),
    issuerUrl: readUrl("issuer-url", "PLATFORM_ISSUER_URL", values),
  };
}

/** A name that npm accepts, from that of a project. */
const packageName = (project: string): string => project.toLowerCase().replace(/^[._]+/, "") || "access";

/** The files of a new program, by their names. */
function programFiles({ found, host, language, settings, packageRoot }: InitPlan): Record<string, string> {
  const { manifest, repository, defaultBranch } = found;
  const isTypeScript = language === "typescript";
  const isKnown = host === "github" && repository !== undefined;
  const values = {
    project: stringify(settings.project).trimEnd(),
    packageName: packageName(settings.project),
    main: isTypeScript ? "index.ts" : "index.js",
    typescript: isTypeScript,
    // The workflows of the repository, where it is known.
    repository: isKnown ? repository : "acme/first",
    branch: isKnown ? defaultBranch : "main",
  };
  const fill = (name: string): string => fillTemplate(packageRoot, `program/${name}`, values);
  return {
    "Pulumi.yaml": fill("Pulumi.yaml"),
    [values.main]: fill(isTypeScript || manifest?.type === "module" ? "module.txt" : "commonjs.txt"),
    "package.json": fill("package.txt"),
    ...(isTypeScript && { "tsconfig.json": fill("tsconfig.txt") }),
  };
}

function listFiles(plan: InitPlan): NewFile[] {
  const { found, host, settings, packageRoot } = plan;
  const filesBelow = (base: string, files: Record<string, string>): NewFile[] =>
    Object.entries(files).map(([path, text]) => ({ base, path, text }));
  const isNew = found.project === undefined;
  return [
    ...filesBelow(found.folder, {
      ...(isNew && programFiles(plan)),
      // A program that exists needs it too.
      "access-policy.yaml": fillTemplate(packageRoot, "program/access-policy.yaml", {}),
      ...(isNew && !found.hasGitignore && { ".gitignore": "node_modules/\n" }),
    }),
    ...filesBelow(found.root, host === "none" ? {} : ciFiles(packageRoot, host, settings)),
  ];
}

function init(dir: string, values: InitValues): number {
  const packageRoot = packageFolder();
  if (packageRoot === undefined)
    throw new UsageError("PP5011", "init needs the installed package: run it by npx");
  const found = inspectFolder(dir);
  const host = values.ci ?? found.host ?? "none";
  const settings = chooseSettings(values, found, { host, packageRoot });
  const language = chooseLanguage(values, found);
  if (host !== "none") {
    checkNames(found);
    checkLockfiles(found.folders, found.packageManager);
  }
  const plan: InitPlan = { found, settings, language, host, packageRoot };
  const files = listFiles(plan);
  const [existing, missing] = [files.filter(isTaken), files.filter((file) => !isTaken(file))];
  checkNewFiles(missing);
  const isDryRun = values["dry-run"];
  if (!isDryRun) writeNewFiles(missing);
  process.stdout.write(describeResult({ ...plan, existing, written: missing, isDryRun }));
  return exitCodes.clean;
}

export const command = defineCommand(
  {
    name: "init",
    usage: ["[DIR] [options]"],
    about:
      "Writes a first program, its access policy and the workflows of the access review into a folder: the current one, or DIR. " +
      "A Pulumi program that exists stays, and so does every file that exists. Writes all files or none, and prints the next " +
      "commands. Sends no request.",
    arguments: ["DIR"],
    flags,
    exitCodes: ["clean", "error", "usage"],
  },
  ({ values, positionals: [dir = ".", extra] }) => {
    if (extra !== undefined)
      throw new UsageError("PP5001", "init takes one folder; see pulumi-platform init --help");
    return Promise.resolve(init(dir, values));
  },
);
export const { main } = command;
