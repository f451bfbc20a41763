import { isScalar, visit } from "yaml";
import type { Document } from "yaml";
import type { CiBackend } from "./ciBackend";
import { withPackageManager } from "./packageManager";
import type { PackageManager } from "./packageManager";
import type { FurtherProject } from "./secondProject";

/** What stands in for a name that `init` cannot know. */
export const ORGANIZATION = "ORGANIZATION";

/** How the files are written: as those of the examples. */
export const LAYOUT = { lineWidth: 120, flowCollectionPadding: false } as const;

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

/** The values of the examples, each with what takes its place. */
function replacements(settings: CiSettings): ReadonlyMap<unknown, string> {
  const { organization, project, stack, path, baseUrl, issuerUrl } = settings;
  return new Map([
    ["infra", path],
    ["acme", organization],
    ["acme/access/prod", `${organization}/${project}/${stack}`],
    ...(baseUrl === undefined ? [] : [["https://api.platform.example", baseUrl] as const]),
    ...(issuerUrl === undefined ? [] : [["https://issuer.platform.example", issuerUrl] as const]),
  ]);
}

/** Puts the values of a project into an example. */
export function fillExample(document: Document, settings: CiSettings): void {
  const values = replacements(settings);
  visit(document, {
    Scalar(_, scalar) {
      if (isScalar(scalar)) scalar.value = values.get(scalar.value) ?? scalar.value;
    },
  });
}

/** Removes the comments that say what to change in the example, and names the commands of the package manager. */
export const withoutInstructions = (text: string, { packageManager }: CiSettings): string =>
  withPackageManager(text.replace(/^ *# (?:Change|Replace) .*\n/gm, ""), packageManager);
