import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const readManifest = (folder: string): { name?: string; version?: string } =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name?: string; version?: string };

/** The folder of this package, above the sources and above what is built of them; undefined where it was bundled. */
export function packageFolder(): string | undefined {
  for (let folder = __dirname; folder !== dirname(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json")) && readManifest(folder).name === "pulumi-platform")
      return folder;
  }
  return undefined;
}

/** The version of this package. */
export function ownVersion(): string {
  const folder = packageFolder();
  return (folder === undefined ? undefined : readManifest(folder).version) ?? "";
}
