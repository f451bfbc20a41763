import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isObject } from "../../fields/values";
import { ownVersion, packageFolder } from "../../text/packageVersion";
import { readTextFile } from "../../text/files";
import { quoteWord, tryParseJson } from "../../text/plain";
import { UsageError } from "../framework/exitCodes";
import { withFoldersAbove } from "../input/projectFiles";

/** What a package manager adds this package to a project by. */
interface PackageSource {
  readonly specifier: string;
  /** Commands before that, in the folder of the project. */
  readonly prepare: readonly string[];
}

/** The folder of this package. @throws UsageError where it was bundled, without the files that commands read. */
export function installedFolder(): string {
  const folder = packageFolder();
  if (folder !== undefined) return folder;
  throw new UsageError("PP5005", "the files of pulumi-platform are not there: install the package again");
}

/** The file that the package.json of a folder has this package from; undefined where a registry has it, or where the file is gone. */
function findArchive(folder: string): string | undefined {
  const path = join(folder, "package.json");
  const manifest = existsSync(path) ? tryParseJson(readTextFile(path)) : undefined;
  const [specifier = ""] = ["dependencies", "devDependencies"].flatMap((member) => {
    const packages = isObject(manifest) ? manifest[member] : undefined;
    const found = isObject(packages) ? packages["pulumi-platform"] : undefined;
    return typeof found === "string" ? [found] : [];
  });
  const [, given] = /^file:(.+\.(?:tgz|tar\.gz))$/.exec(specifier) ?? [];
  const file = given === undefined ? undefined : resolve(folder, given);
  return file !== undefined && existsSync(file) ? file : undefined;
}

/**
 * This package by its version; that of a checkout, or of an archive, by a copy of the file in the project.
 *
 * @param project its folder: a copy that is there is not made again.
 */
export function packageSource(packageRoot: string, project: string): PackageSource {
  const version = ownVersion();
  const released = { specifier: `pulumi-platform@${version}`, prepare: [] };
  const isCheckout = existsSync(join(packageRoot, "provider"));
  const archive = isCheckout
    ? join(packageRoot, `pulumi-platform-${version}.tgz`)
    : [...withFoldersAbove(process.cwd()), dirname(dirname(packageRoot))]
        .map(findArchive)
        .find((file) => file !== undefined);
  if (archive === undefined) return released;
  const copy = `cp ${quoteWord(archive)} .`;
  return {
    specifier: quoteWord(`./${basename(archive)}`),
    prepare: existsSync(join(project, basename(archive)))
      ? []
      : [isCheckout ? `(cd ${quoteWord(packageRoot)} && npm pack) && ${copy}` : copy],
  };
}
