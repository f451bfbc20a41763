import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isObject } from "../../fields/values";
import { ownVersion, packageFolder } from "../../text/packageVersion";
import { quoteWord } from "../../text/plain";
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

/** The projects that may name this package: the current folder and those above it, up to the one that links to it. */
function findProjects(packageRoot: string): string[] {
  const isLinked = (folder: string): boolean => {
    const link = join(folder, "node_modules", "pulumi-platform");
    return existsSync(link) && realpathSync(link) === realpathSync(packageRoot);
  };
  const linked = withFoldersAbove(process.cwd()).find(isLinked);
  if (linked !== undefined) return withFoldersAbove(process.cwd(), linked);
  const modules = dirname(packageRoot);
  return basename(modules) === "node_modules" ? [dirname(modules)] : [];
}

/** The file that a project has this package from; undefined where a registry has it, or where the file is gone. */
function findArchive(project: string): string | undefined {
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  } catch {
    return undefined;
  }
  const wanted = ["dependencies", "devDependencies"].flatMap((member) => {
    const packages = isObject(manifest) ? manifest[member] : undefined;
    const specifier = isObject(packages) ? packages["pulumi-platform"] : undefined;
    return typeof specifier === "string" ? [specifier] : [];
  });
  const [, path] = /^file:(.+\.(?:tgz|tar\.gz))$/.exec(wanted[0] ?? "") ?? [];
  const file = path === undefined ? undefined : resolve(project, path);
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
    : findProjects(packageRoot)
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
