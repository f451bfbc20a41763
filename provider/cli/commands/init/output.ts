import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { isObject } from "../../../fields/values";
import { readEnvironment } from "../../../settings/environment";
import { printable } from "../../../text/printable";
import { printableAddress } from "../../../text/address";
import { packageSource, quoteWord } from "../../output/packageSource";
import { joinFilePath } from "../../output/writeNewFiles";
import type { NewFile } from "../../output/writeNewFiles";
import { isSelfManaged } from "./backend";
import { findMissingInCi, packagesOf, readStackFile } from "./folder";
import type { CiHost, ProjectFolder } from "./folder";
import { fillTemplate } from "./template";
import type { TemplateValues } from "./template";
import { ciCommands, imagesIn, isPinnedImage, STAND_IN } from "./workflows";
import type { CiSettings } from "./workflows";

export type Language = "typescript" | "javascript";

/** What decides the files of a folder. */
export interface InitPlan {
  readonly found: ProjectFolder;
  readonly settings: CiSettings;
  readonly language: Language;
  readonly host: CiHost | "none";
  /** The folder of this package. */
  readonly packageRoot: string;
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

const shownPath = (file: NewFile): string =>
  printable(relative(process.cwd(), joinFilePath(file)).split(sep).join("/"), 300);

/** Whether each package that package.json names is installed. */
const isInstalled = ({ folders, manifest }: ProjectFolder): boolean =>
  folders.some((folder) => existsSync(join(folder, ".pnp.cjs"))) ||
  Object.keys(packagesOf(manifest)).every((name) =>
    folders.some((folder) => existsSync(join(folder, "node_modules", name))),
  );

/** The commands that install what is not installed: of a checkout, from the file that npm pack writes. */
function listInstallation({ found, host, language, packageRoot }: InitResult): string[] {
  const { manifest, packageManager } = found;
  const place = relative(process.cwd(), found.folder);
  const has = (name: string): boolean => Object.hasOwn(packagesOf(manifest), name);
  const { specifier, prepare } = packageSource(packageRoot, found.folder);
  const add = [
    ...(has("pulumi-platform") ? [] : [specifier]),
    ...(manifest !== undefined && !has("@pulumi/pulumi") ? ["@pulumi/pulumi"] : []),
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
function listPlaceholders({ written, host }: InitResult): string {
  const meanings = {
    [STAND_IN.organization]: "yours in Pulumi Cloud",
    [STAND_IN.repository]: "the repository",
    [STAND_IN.baseUrl]: "the API",
    [STAND_IN.issuerUrl]: "its issuer",
  };
  const text = written.map((file) => file.text).join("\n");
  const words = text.split("\n").map((line) => line.slice(line.lastIndexOf(" ") + 1));
  const owner = words.find((word) => word.startsWith("@") && word.endsWith("/security"));
  return [
    ...Object.entries(meanings).filter(([standIn]) => text.includes(standIn)),
    ...(owner === undefined ? [] : [[owner, "your team"]]),
    ...[...new Set(host === "gitlab" ? imagesIn(text).filter((image) => !isPinnedImage(image)) : [])].map(
      (image) => [image, "add @ and the digest that docker buildx imagetools inspect prints"],
    ),
  ]
    .map(([standIn = "", meaning = ""]) => `${standIn} (${meaning})`)
    .join(", ");
}

/** Whether a file for CI differs from the one that would be written. */
const isForeign = ({ found }: InitResult, file: NewFile): boolean =>
  file.base === found.root &&
  /\.ya?ml$/.test(file.path) &&
  file.path !== "access-policy.yaml" &&
  (!existsSync(joinFilePath(file)) || readFileSync(joinFilePath(file), "utf8") !== file.text);

/** What the output says of CI: the backend, the code owners and the commands. */
function describeCi(result: InitResult): TemplateValues {
  const { found, host, settings, packageRoot, existing, written } = result;
  const { backend, further } = settings;
  const { kind, url, omitted, named } = backend;
  const local = kind === "local";
  const source = {
    backend: printable(url ?? printableAddress(named.url), 300),
    [`from_${named.source}`]: true,
    file: printable(named.path ?? "", 200),
  };
  if (host === "none")
    return { ...source, ci: false, asked: result.isHostGiven, local, found: local || result.isHostGiven };
  const isIdentities = ({ path }: NewFile): boolean => /^ci\.[jt]s$/.test(path);
  const identities = written.find(isIdentities);
  const isImported = written.some(({ path }) => /^index\.[jt]s$/.test(path));
  const owners = existing.find(({ path }) => path.endsWith("CODEOWNERS"));
  const present = owners === undefined ? "" : readFileSync(joinFilePath(owners), "utf8");
  const lines = owners?.text.split("\n").filter((line) => line !== "" && !line.startsWith("#")) ?? [];
  const script = [...written, ...existing].find(({ path }) => path.endsWith(".sh"));
  const exported = found.manifest?.type === "module" ? "./ci.js" : "./ci";
  return {
    ci: true,
    branch: found.defaultBranch,
    branchSource: found.branchSource,
    host,
    [host]: true,
    identities: identities && !isImported ? `export * from "${exported}";` : "",
    ...source,
    overridden: named.overridden && printableAddress(named.overridden),
    tokens: kind === "cloud",
    other: kind === "other",
    omitted: omitted.join(", "),
    further: further !== undefined,
    suffix: further?.suffix ?? "",
    paths: printable(further?.paths.join(", ") ?? "", 1000),
    script: script && basename(script.path),
    commands: ciCommands(packageRoot, host, settings),
    replaced: existsSync(join(found.root, ".gitlab-ci.yml")),
    codeowners: owners && shownPath(owners),
    owned: lines.filter((line) => !present.split("\n").includes(line)),
    hasIdentities: identities !== undefined,
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
    ...(isNew && file === undefined ? [`pulumi stack init ${newStack}`] : []),
    ...((isNew || hasIdentities) && !hasRoot ? [`pulumi config set rootUid ${rootUid}`] : []),
    ...(isNew ? ["pulumi up"] : hasIdentities ? ["pulumi up   # applies the rest of the program too"] : []),
  ];
}

/** The output: what is written, and what to do next. The texts stand in templates/init/output.txt. */
export function describeResult(result: InitResult): string {
  const { found, settings, packageRoot, existing, written } = result;
  const program =
    found.project === undefined ? existing.find(({ path }) => /^index\.[jt]s$/.test(path)) : undefined;
  const ofCi = describeCi(result);
  return fillTemplate(packageRoot, "output.txt", {
    ...ofCi,
    dryRun: result.isDryRun,
    texts: written.map((file) => `${shownPath(file)}:\n\n${file.text.trimEnd()}\n`),
    written: written.map(shownPath),
    nothing: written.length === 0 && existing.length > 0,
    existing: existing.map(shownPath),
    foreign: existing.filter((file) => isForeign(result, file)).map(shownPath),
    program: program && shownPath(program),
    programText: program?.text.trimEnd(),
    placeholders: listPlaceholders(result),
    steps: listSteps(result, ofCi["hasIdentities"] === true),
    run: settings.packageManager.run,
  });
}
