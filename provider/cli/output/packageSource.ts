import { existsSync } from "node:fs";
import { join } from "node:path";
import { quoteForShell } from "../../api/shellText";
import { packageVersion } from "../framework/packageVersion";

/** A word of the shell. */
export const quote = (word: string): string => (/^[\w./@:-]+$/.test(word) ? word : quoteForShell(word));

/** What a package manager adds this package to a project by. */
export interface PackageSource {
  readonly specifier: string;
  /** Commands before that, in the folder of the project. */
  readonly prepare: readonly string[];
}

/** This package by its version; that of a checkout by the file that npm pack writes. */
export function packageSource(packageRoot: string | undefined): PackageSource {
  const version = packageVersion();
  if (packageRoot === undefined || !existsSync(join(packageRoot, "provider")))
    return { specifier: `pulumi-platform@${version}`, prepare: [] };
  const tarball = `pulumi-platform-${version}.tgz`;
  return {
    specifier: `./${tarball}`,
    prepare: [`(cd ${quote(packageRoot)} && npm pack) && cp ${quote(join(packageRoot, tarball))} .`],
  };
}
