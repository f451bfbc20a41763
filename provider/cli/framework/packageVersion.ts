import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The version of this package: from its manifest, which lies above the sources and above what is built of them. */
export function packageVersion(): string {
  for (let folder = __dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const path = join(folder, "package.json");
    if (!existsSync(path)) continue;
    const { name, version } = JSON.parse(readFileSync(path, "utf8")) as { name?: string; version?: string };
    if (name === "pulumi-platform") return version ?? "";
  }
  return "";
}
