import { mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describeForCi } from "../../provider/cli/commands/init/folder";
import { findPackageManager } from "../../provider/cli/input/packageManager";
import { ciFiles } from "../../provider/cli/commands/init/workflows";
import type { CiSettings } from "../../provider/cli/commands/init/workflows";
import { PULUMI_CLOUD_BY_DEFAULT } from "../../provider/cli/input/backend";

/**
 * Writes the workflows that `pulumi-platform init` writes for the project of the examples, beside each other.
 *
 * @param project What differs from the examples.
 */
export function writeInitWorkflows(folder: string, project: Partial<CiSettings> = {}): string {
  const settings: CiSettings = {
    organization: "acme",
    project: "access",
    stack: "prod",
    path: "infra",
    defaultBranch: "main",
    packageManager: findPackageManager([]),
    runtime: "nodejs",
    backend: describeForCi(PULUMI_CLOUD_BY_DEFAULT, undefined),
    ...project,
  };
  mkdirSync(folder, { recursive: true });
  const files = { ...ciFiles("github", settings), ...ciFiles("gitlab", settings) };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, basename(path)), text);
  return folder;
}
