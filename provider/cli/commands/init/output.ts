import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { printable } from "../../../http/errors";
import { printableAddress } from "../../../text/address";
import { packageSource, quoteWord } from "../../output/packageSource";
import { joinFilePath } from "../../output/writeNewFiles";
import type { NewFile } from "../../output/writeNewFiles";
import { describeNeeds, describeBackendSource, isSelfManaged } from "./backend";
import { isTarball, localDependencies, packagesOf } from "./folder";
import type { CiHost, ProjectFolder } from "./folder";
import { decidingFiles } from "./packageManager";
import { fillTemplate } from "./template";
import type { TemplateValues } from "./template";
import { ciFolder, STAND_IN } from "./workflows";
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
  const has = (name: string): boolean => Object.hasOwn(packagesOf(manifest), name);
  const { specifier, prepare } = packageSource(packageRoot);
  const add = [
    ...(has("pulumi-platform") ? [] : [specifier]),
    ...(manifest !== undefined && !has("@pulumi/pulumi") ? ["@pulumi/pulumi"] : []),
  ];
  const missing = ["typescript", "@types/node"].filter((name) => !has(name));
  const needsTypes = found.project === undefined && language === "typescript" && manifest !== undefined;
  return [
    ...(has("pulumi-platform") ? [] : prepare),
    ...describeOutside(result),
    ...(add.length === 0 ? [packageManager.install] : [`${packageManager.add} ${add.join(" ")}`]),
    ...(needsTypes && missing.length > 0 ? [`${packageManager.addForDevelopment} ${missing.join(" ")}`] : []),
  ];
}

/** What to replace by hand in the files for CI. */
function listPlaceholders({ settings, host, written }: InitResult): string {
  if (host === "none" || !written.some(({ path }) => path.startsWith(`${ciFolder(host)}/`))) return "";
  const isGitlab = host === "gitlab";
  return [
    ...(settings.organization === STAND_IN.organization
      ? [`${STAND_IN.organization} (yours in Pulumi Cloud)`]
      : []),
    ...(isGitlab && settings.baseUrl === undefined ? [`${STAND_IN.baseUrl} (the API)`] : []),
    ...(isGitlab && settings.issuerUrl === undefined ? [`${STAND_IN.issuerUrl} (its issuer)`] : []),
  ].join(", ");
}

/** The lines for CODEOWNERS: the files that decide how a change is reviewed. */
function listOwned({ found, host, settings: { packageManager } }: InitResult): string[] {
  const folders = localDependencies(found).flatMap(({ inRepository }) =>
    inRepository === undefined || isTarball(inRepository) ? [] : [`/${inRepository}/`],
  );
  const rules = host === "github" ? "/.github/" : "CODEOWNERS";
  const files = [rules, "access-policy.yaml", ...decidingFiles(packageManager), ...folders];
  const owner = found.repository?.split("/")[0] ?? "OWNER";
  return files.map((file) => `${file} @${owner}/security`);
}

/** Whether a file for CI differs from the one that would be written. */
function isForeign({ found, host }: InitResult, file: NewFile): boolean {
  if (host === "none" || file.base !== found.root || !file.path.endsWith(".yml")) return false;
  return !existsSync(joinFilePath(file)) || readFileSync(joinFilePath(file), "utf8") !== file.text;
}

/** What the output says of the backend, and of what CI needs to open it. */
function describeBackend({ settings: { backend }, host, existing, written }: InitResult): TemplateValues {
  if (host === "none") return {};
  const { kind, url, omitted, named } = backend;
  const text = [...existing, ...written].map((file) => file.text).join("\n");
  return {
    backend: printable(url ?? printableAddress(named.url), 300),
    source: describeBackendSource(backend),
    local: kind === "local",
    omitted: omitted.join(", "),
    unnamed: url === undefined && kind !== "cloud" && kind !== "local",
    needs: describeNeeds(backend, host, text),
  };
}

/** The output: what is written, and what to do next. The texts stand in templates/init/output.txt. */
export function describeResult(result: InitResult): string {
  const { found, host, settings, packageRoot, existing, written } = result;
  const { backend, organization, packageManager, stack, further } = settings;
  const place = relative(process.cwd(), found.folder);
  const isNew = found.project === undefined;
  const program = isNew ? existing.find(({ path }) => /^index\.[jt]s$/.test(path)) : undefined;
  const hasOrganization = organization !== STAND_IN.organization && !isSelfManaged(backend.kind);
  return fillTemplate(packageRoot, "output.txt", {
    dryRun: result.isDryRun,
    texts: written.map((file) => `${shownPath(file)}:\n\n${file.text.trimEnd()}\n`),
    written: written.map(shownPath),
    nothing: written.length === 0 && existing.length > 0,
    existing: existing.map(shownPath),
    foreign: existing.filter((file) => isForeign(result, file)).map(shownPath),
    program: program && shownPath(program),
    programText: program?.text.trimEnd(),
    placeholders: listPlaceholders(result),
    workflows: host === "none" ? "" : ciFolder(host),
    ci: host !== "none",
    [host]: true,
    ...describeBackend(result),
    further: further !== undefined,
    suffix: further?.suffix,
    paths: printable(further?.paths.join(", ") ?? "", 1000),
    commands: [...(place === "" ? [] : [`cd ${quoteWord(place)}`]), ...listInstallation(result)],
    new: isNew,
    baseUrl: settings.baseUrl ?? "https://…",
    run: packageManager.run,
    newStack: hasOrganization ? `${organization}/${stack}` : stack,
    replaced: existsSync(join(found.root, ".gitlab-ci.yml")),
    owned: listOwned(result),
  });
}
