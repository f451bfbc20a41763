import { existsSync, readFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { printable } from "../../../http/errors";
import { isSelfManaged } from "./ciBackend";
import { describeBackend } from "./describeBackend";
import { ORGANIZATION } from "./fillExample";
import type { CiSettings } from "./fillExample";
import { GITLAB_FOLDER } from "./gitlabFiles";
import type { Host, ProjectFolder } from "./inspectFolder";
import { localDependencies } from "./localDependencies";
import { decidingFiles } from "./packageManager";
import type { Language } from "./programFiles";
import { packageSource, quote } from "../../output/packageSource";
import { joinFilePath } from "../../output/writeNewFiles";
import type { NewFile } from "../../output/writeNewFiles";

/** What decides the files of a folder. */
export interface InitPlan {
  readonly found: ProjectFolder;
  readonly settings: CiSettings;
  readonly language: Language;
  readonly host: Host | "none";
  /** The folder of this package. */
  readonly packageRoot: string;
}

/** What `init` has written, or would write. */
export interface InitResult extends InitPlan {
  /** Files that stay as they are. */
  readonly existing: readonly NewFile[];
  readonly written: readonly NewFile[];
}

const shownPath = (file: NewFile): string =>
  printable(relative(process.cwd(), joinFilePath(file)).split(sep).join("/"), 300);

const lines = (...parts: readonly (string | readonly string[])[]): string => `${parts.flat().join("\n")}\n`;

/** Whether a local dependency is a file of `npm pack`, which patterns for all such files cover; else it is a folder. */
const isTarball = (path: string): boolean => /\.(?:tgz|tar\.gz)$/.test(path);

/** What replaces a dependency outside of the repository, which a job of CI does not have. */
function describeOutside({ found, host }: InitResult): string[] {
  if (host === "none") return [];
  return localDependencies(found).flatMap(({ name, path, inRepository }) => {
    if (inRepository !== undefined) return [];
    const why = `# ${printable(name, 100)} is outside of the repository, and CI does not have it`;
    if (!isTarball(path)) return [`${why}: install a .tgz of npm pack from within`];
    const file = quote(`./${basename(path)}`);
    return [`cp ${quote(path)} . && ${found.packageManager.add} ${file}   ${why}`];
  });
}

/** The commands that install the package: of a checkout, from the file that npm pack writes. */
function describeInstallation(result: InitResult): string[] {
  const { found, language, packageRoot } = result;
  const { manifest, packageManager } = found;
  const has = (name: string): boolean =>
    Object.hasOwn({ ...manifest?.dependencies, ...manifest?.devDependencies }, name);
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

/** The commands that apply a new program. */
function describeFirstUpdate({ found, settings }: InitResult): string[] {
  if (found.project !== undefined) return [];
  const { baseUrl, backend, organization, stack } = settings;
  const isKnown = organization !== ORGANIZATION && !isSelfManaged(backend.kind);
  return [
    `export PLATFORM_BASE_URL=${baseUrl ?? "https://…"} PLATFORM_TOKEN=…`,
    `${settings.packageManager.run} pulumi-platform doctor   # checks both, and prints the uid of the root group`,
    `pulumi stack init ${isKnown ? `${organization}/${stack}` : stack}`,
    "pulumi config set rootUid UID",
    "pulumi up",
  ];
}

/** What to replace by hand, in one line. */
function describePlaceholders({ settings, host, written }: InitResult): string[] {
  const placeholders = [
    ...(settings.organization === ORGANIZATION ? [`${ORGANIZATION} (yours in Pulumi Cloud)`] : []),
    ...(host === "gitlab" && settings.baseUrl === undefined
      ? ["https://api.platform.example (the API)"]
      : []),
    ...(host === "gitlab" && settings.issuerUrl === undefined
      ? ["https://issuer.platform.example (its issuer)"]
      : []),
  ];
  const folder = host === "github" ? ".github/workflows" : GITLAB_FOLDER;
  const hasFiles = written.some(({ path }) => path.startsWith(`${folder}/`));
  return hasFiles && placeholders.length > 0 ? ["", `replace in ${folder}: ${placeholders.join(", ")}`] : [];
}

/** The lines for CODEOWNERS: the files that decide how a change is reviewed. */
function describeOwners({ found, host, settings: { packageManager } }: InitResult): string[] {
  const folders = localDependencies(found).flatMap(({ inRepository }) =>
    inRepository === undefined || isTarball(inRepository) ? [] : [`/${inRepository}/`],
  );
  const rules = host === "github" ? "/.github/" : "CODEOWNERS";
  const files = [rules, "access-policy.yaml", ...decidingFiles(packageManager), ...folders];
  const owner = found.repository?.split("/")[0] ?? "OWNER";
  return files.map((file) => `  ${file} @${owner}/security`);
}

/** Says how a further project of the repository is reviewed. */
function describeFurther({ host, settings: { further } }: InitResult): string[] {
  if (further === undefined || host === "none") return [];
  const { suffix, paths } = further;
  const [status, place] =
    host === "github"
      ? [
          `require the status access-review${suffix} too`,
          `PATHS in access-preview${suffix}.yml and access-review${suffix}.yml`,
        ]
      : [
          `gitlab-ci${suffix}.yml belongs beside the other project's gitlab-ci.yml`,
          `changes in gitlab-ci${suffix}.yml`,
        ];
  return [
    "",
    `another project of this repository has the usual names: those of this one end with ${suffix}; ${status}`,
    ...(paths.length === 0
      ? []
      : [
          `  it is reviewed where these change: ${printable(paths.join(", "), 1000)}`,
          `  if the program reads other files of the repository, add them to ${place}`,
        ]),
  ];
}

/** Says where the file of a pipeline belongs. */
function describePipeline({ found, settings: { further } }: InitResult): string[] {
  if (further !== undefined) {
    const name = `gitlab-ci${further.suffix}.yml`;
    return [
      `then move ${GITLAB_FOLDER}/${name} beside gitlab-ci.yml, in the project of its own, and add there:`,
      `  include: [{ local: ${name} }]`,
    ];
  }
  const replaced = existsSync(join(found.root, ".gitlab-ci.yml"))
    ? ["GitLab then no longer reads .gitlab-ci.yml: move its jobs to that project too"]
    : [];
  return [
    `then move ${GITLAB_FOLDER}/gitlab-ci.yml to a project of its own, where only reviewers may push, and name it in`,
    "Settings > CI/CD > General pipelines > CI/CD configuration file: a merge request cannot change it there",
    ...replaced,
  ];
}

function describeCi(result: InitResult): string[] {
  const { host } = result;
  if (host === "github") {
    return [
      "",
      "then set up the review, as node_modules/pulumi-platform/docs/tasks/review-in-github.md says: identities, variables, and",
      "  a GitHub App of your own, which sets the required status access-review: its key is ACCESS_APP_PRIVATE_KEY of the",
      "  environment access-status, which only the default branch may use, and its id the variable ACCESS_APP_ID",
      "at the end of .github/CODEOWNERS, because the last pattern that matches a file decides:",
      ...describeOwners(result),
    ];
  }
  if (host === "none") {
    return [
      "",
      "no workflow: neither the remote nor the files name GitHub or GitLab; give --ci github or --ci gitlab",
    ];
  }
  return [
    "",
    ...describePipeline(result),
    "node_modules/pulumi-platform/docs/tasks/review-in-gitlab.md says the rest: identities, variables, protected branches",
    "at the end of CODEOWNERS, because the last pattern that matches a file decides:",
    ...describeOwners(result),
  ];
}

/** Says that a file for CI differs from the one that would be written. */
function describeForeign({ found, host, existing }: InitResult): string[] {
  const isForeign = (file: NewFile): boolean => {
    if (host === "none" || file.base !== found.root || !file.path.endsWith(".yml")) return false;
    return !existsSync(joinFilePath(file)) || readFileSync(joinFilePath(file), "utf8") !== file.text;
  };
  return existing
    .filter(isForeign)
    .map((file) => `  ${shownPath(file)} is not what init writes: the others may not fit it`);
}

/** What an existing file lacks, for a program that is new beside it. */
function describeExisting(result: InitResult): string[] {
  const { found, existing } = result;
  const left = [
    ...existing.map((file) => `exists, left as it is: ${shownPath(file)}`),
    ...describeForeign(result),
  ];
  const program = existing.find(({ path }) => /^index\.[jt]s$/.test(path));
  if (program === undefined || found.project !== undefined) return left;
  return [...left, "", `add to ${shownPath(program)}:`, "", program.text.trimEnd()];
}

function describeCiBackend({ host, settings, existing, written }: InitResult): string[] {
  const text = [...existing, ...written].map((file) => file.text).join("\n");
  return host === "none" ? [] : describeBackend(settings.backend, host, text);
}

export function describeResult(result: InitResult): string {
  const { found, written, existing } = result;
  const place = relative(process.cwd(), found.folder);
  return lines(
    written.map((file) => `wrote ${shownPath(file)}`),
    written.length === 0 && existing.length > 0 ? ["nothing to write: all files exist"] : [],
    describeExisting(result),
    describePlaceholders(result),
    describeCiBackend(result),
    describeFurther(result),
    "",
    "next:",
    [
      ...(place === "" ? [] : [`cd ${quote(place)}`]),
      ...describeInstallation(result),
      ...describeFirstUpdate(result),
    ].map((line) => `  ${line}`),
    describeCi(result),
  );
}

/** The files with their texts, as they would be written. */
export function describeDryRun(result: InitResult): string {
  const { written } = result;
  return lines(
    written.flatMap((file) => [`would write ${shownPath(file)}:`, "", file.text.trimEnd(), ""]),
    describeExisting(result),
  );
}
