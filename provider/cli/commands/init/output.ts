import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { printable } from "../../../text/printable";
import { printableAddress } from "../../../text/address";
import { packageSource, quoteWord } from "../../output/packageSource";
import { joinFilePath } from "../../output/writeNewFiles";
import type { NewFile } from "../../output/writeNewFiles";
import { isSelfManaged } from "./backend";
import { isTarball, localDependencies, packagesOf } from "./folder";
import type { CiHost, ProjectFolder } from "./folder";
import { fillTemplate } from "./template";
import type { TemplateValues } from "./template";
import { ciCommands, STAND_IN } from "./workflows";
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

/** What replaces a dependency outside of the repository, which a job of CI does not have. */
function describeOutside({ found, host }: InitResult): string[] {
  if (host === "none") return [];
  return localDependencies(found).flatMap(({ name, path, inRepository }) => {
    if (inRepository !== undefined) return [];
    const why = `# ${printable(name, 100)} is outside of the repository, and CI does not have it`;
    if (!isTarball(path)) return [`${why}: install a .tgz of npm pack from within`];
    const file = quoteWord(`./${basename(path)}`);
    return [`cp ${quoteWord(path)} . && ${found.packageManager.add} ${file}   ${why}`];
  });
}

/** The commands that install the package: of a checkout, from the file that npm pack writes. */
function listInstallation(result: InitResult): string[] {
  const { found, language, packageRoot } = result;
  const { manifest, packageManager } = found;
  const place = relative(process.cwd(), found.folder);
  const has = (name: string): boolean => Object.hasOwn(packagesOf(manifest), name);
  const { specifier, prepare } = packageSource(packageRoot);
  const add = [
    ...(has("pulumi-platform") ? [] : [specifier]),
    ...(manifest !== undefined && !has("@pulumi/pulumi") ? ["@pulumi/pulumi"] : []),
  ];
  const missing = ["typescript", "@types/node"].filter((name) => !has(name));
  const needsTypes = found.project === undefined && language === "typescript" && manifest !== undefined;
  return [
    ...(place === "" ? [] : [`cd ${quoteWord(place)}`]),
    ...(has("pulumi-platform") ? [] : prepare),
    ...describeOutside(result),
    ...(add.length === 0 ? [`${packageManager.name} install`] : [`${packageManager.add} ${add.join(" ")}`]),
    ...(needsTypes && missing.length > 0 ? [`${packageManager.add} -D ${missing.join(" ")}`] : []),
  ];
}

/** What to replace by hand in the written files. */
function listPlaceholders({ written }: InitResult): string {
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
  if (host === "none") return { ci: false, asked: result.isHostGiven };
  const { kind, url, omitted, named } = backend;
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
    backend: printable(url ?? printableAddress(named.url), 300),
    [`from_${named.source}`]: true,
    file: printable(named.path ?? "", 200),
    overridden: named.overridden && printableAddress(named.overridden),
    local: kind === "local",
    tokens: kind === "cloud" || kind === "local",
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
    config: identities !== undefined,
  };
}

/** The output: what is written, and what to do next. The texts stand in templates/init/output.txt. */
export function describeResult(result: InitResult): string {
  const { found, settings, packageRoot, existing, written } = result;
  const { backend, organization, packageManager, stack } = settings;
  const isNew = found.project === undefined;
  const program = isNew ? existing.find(({ path }) => /^index\.[jt]s$/.test(path)) : undefined;
  const hasOrganization = organization !== STAND_IN.organization && !isSelfManaged(backend.kind);
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
    installation: listInstallation(result),
    new: isNew,
    config: isNew || ofCi["config"],
    shownUrl: settings.baseUrl ?? "https://…",
    run: packageManager.run,
    newStack: hasOrganization ? `${organization}/${stack}` : stack,
  });
}
