import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument, stringify } from "yaml";
import { UsageError } from "../../framework/exitCodes";
import { PULUMI_CLOUD } from "../../input/backend";
import { PROJECT_FILES } from "../../input/projectFiles";
import { gitlabVariables, isSelfManaged, parameterOf } from "./backend";
import type { CiBackend } from "./backend";
import { isTarball, localDependencies } from "./folder";
import type { CiHost, ProjectFolder } from "./folder";
import { decidingFiles, unexpectedFiles } from "./packageManager";
import type { PackageManager } from "./packageManager";
import { fillTemplate } from "./template";

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
  readonly backend: CiBackend;
  /** Where another project of the repository has the names of the examples. */
  readonly further?: FurtherProject;
  readonly baseUrl?: string;
  readonly issuerUrl?: string;
}

/** What stands in for an organization that `init` cannot know, and in GitLab for the addresses of the API. */
export const STAND_IN = {
  organization: "ORGANIZATION",
  baseUrl: "https://api.platform.example",
  issuerUrl: "https://issuer.platform.example",
} as const;

const GITHUB_FOLDER = ".github/workflows";
/** The folder of the pipeline, which belongs into a project of its own. */
const GITLAB_FOLDER = "access-ci";

export const ciFolder = (host: CiHost): string => (host === "github" ? GITHUB_FOLDER : GITLAB_FOLDER);

/** The templates of a host by the paths of the files that they become, below the root of the repository. */
function ciPaths(packageRoot: string, host: CiHost, suffix = ""): Map<string, string> {
  const names = readdirSync(join(packageRoot, "templates", "init", host));
  return new Map(
    names.map((name) => [`${ciFolder(host)}/${name.replace(/\.yml$/, `${suffix}.yml`)}`, `${host}/${name}`]),
  );
}

/** As YAML writes a text where it is a whole value. */
const quoted = (text: string): string => stringify(text, { lineWidth: 0 }).trimEnd();

/** The files for CI, by their paths below the root of the repository. */
export function ciFiles(packageRoot: string, host: CiHost, settings: CiSettings): Record<string, string> {
  const { organization, project, stack, path, defaultBranch, packageManager, backend, further } = settings;
  const { kind, url, hasPassphrase } = backend;
  const paths = further?.paths ?? [];
  const shared = {
    suffix: further?.suffix ?? "",
    further: further !== undefined,
    paths,
    stack: `${organization}/${project}/${stack}`,
    unexpected: unexpectedFiles(packageManager).join(" "),
    lockfile: packageManager.lockfile,
    installInCi: packageManager.installInCi,
  };
  const ofHost = {
    github: () => ({
      organization: quoted(organization),
      path: quoted(path),
      branch: quoted(defaultBranch),
      folder: paths[0] ?? "",
      // Characters of a folder that a pattern of GitHub gives a meaning.
      patterns: paths.map((one) => quoted(`${one.replace(/\+/g, "\\+")}${one.endsWith("/") ? "**" : ""}`)),
      backend: quoted(url ?? "${{ vars.PULUMI_BACKEND_URL }}"),
      cloud: kind === "cloud" || kind === "local",
      organizations: !isSelfManaged(kind),
      [kind]: true,
      region: quoted(parameterOf(url, "region") ?? "${{ vars.AWS_REGION }}"),
      account: kind === "azblob" && parameterOf(url, "storage_account") === undefined,
      passphrase: hasPassphrase,
    }),
    gitlab: () => ({
      path,
      globs: paths.map((one) => JSON.stringify(one.endsWith("/") ? `${one}**/*` : one)).join(", "),
      baseUrl: settings.baseUrl ?? STAND_IN.baseUrl,
      issuerUrl: settings.issuerUrl ?? STAND_IN.issuerUrl,
      backend: url ?? PULUMI_CLOUD,
      variables: gitlabVariables(backend).join(", "),
    }),
  }[host];
  const files = [...ciPaths(packageRoot, host, further?.suffix)].map(([file, template]) => {
    const text = fillTemplate(packageRoot, template, { ...shared, ...ofHost() });
    // TemplateValues have other lengths than their placeholders: YAML folds the lines anew.
    const layout = { lineWidth: 120, flowCollectionPadding: false };
    return [file, host === "github" ? parseDocument(text).toString(layout) : text] as const;
  });
  return Object.fromEntries(files);
}

/** The folder that a file for CI names; undefined where it names none. */
function folderIn(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8");
  const [, folder] =
    /(?:working-directory: |ACCESS_FOLDER: \{ value: )"?([^"\n]+?)"?(?:, | \}|$)/m.exec(text) ?? [];
  return folder;
}

/** The files above the folder that decide what is installed, and the dependencies that the repository holds. */
function sharedPaths(found: ProjectFolder): string[] {
  const { path, folders, root, packageManager } = found;
  const above = folders.filter((folder) => folder !== found.folder);
  const files = above.flatMap((folder) =>
    decidingFiles(packageManager)
      .filter((name) => !/[*/]/.test(name) && existsSync(join(folder, name)))
      .map((name) => join(folder, name).slice(root.length + 1)),
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
  packageRoot: string,
): FurtherProject | undefined {
  const filesOf = (suffix: string): string[] => [...ciPaths(packageRoot, host, suffix).keys()];
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
    return { suffix, paths: found.path === "." ? [] : [`${found.path}/`, ...sharedPaths(found)] };
  const [byName = "", byFolder = ""] = suffixes.slice(1).flatMap((one) => filesOf(one).slice(0, 1));
  throw new UsageError(
    "PP5011",
    `${byName} and ${byFolder} belong to other projects of the repository: rename the folder or the project of this one`,
  );
}
