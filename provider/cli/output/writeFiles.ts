import { randomUUID } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import type { Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";
import { describeFileError } from "../input/fileErrors";
import { descriptorOf } from "./descriptors";

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/** Follows symbolic links, also those to a file that does not exist yet, up to an open file of this process. */
function followLinks(path: string): string {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links += 1) {
    if (descriptorOf(target) !== undefined) return target;
    if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) return target;
    target = resolve(dirname(target), readlinkSync(target));
  }
  throw Object.assign(new Error(), { code: "ELOOP" });
}

/** Writes to a pipe, a terminal or a device directly, because replacing it by a file would disconnect its reader. */
function writeInPlace(target: string, text: string): void {
  const descriptor = descriptorOf(target);
  // Node's own streams wait where a pipe is full; a write to the descriptor would fail.
  if (descriptor === 1) process.stdout.write(text);
  else if (descriptor === 2) process.stderr.write(text);
  else writeFileSync(descriptor ?? target, text);
}

/** Replaces a regular file; keeps its mode, and its owner where that is allowed. */
function replaceFile(
  target: string,
  text: string,
  before: Stats | undefined,
  mode: number | undefined,
): void {
  if (before !== undefined) accessSync(target, constants.W_OK);
  const temporary = join(dirname(target), `.pulumi-platform-${randomUUID()}.tmp`);
  try {
    const descriptor = openSync(temporary, "wx", mode ?? 0o666);
    try {
      writeFileSync(descriptor, text);
      if (before !== undefined) {
        if (before.uid !== process.geteuid?.()) chownIfAllowed(descriptor, before);
        fchmodSync(descriptor, mode ?? before.mode & 0o7777);
      }
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function chownIfAllowed(descriptor: number, { uid, gid }: Stats): void {
  try {
    fchownSync(descriptor, uid, gid);
  } catch {
    // Only root may give files away.
  }
}

/**
 * Replaces a file at once, so that a reader never sees half of it; writes to pipes and devices. Follows links, and
 * keeps the mode of a file that exists.
 *
 * @param options `isPrivate`: only the owner may read the file.
 *
 * @throws UsageError in one line.
 */
export function writeText(path: string, text: string, flag: string, { isPrivate = false } = {}): void {
  try {
    const target = followLinks(path);
    const before =
      descriptorOf(target) === undefined ? statSync(target, { throwIfNoEntry: false }) : undefined;
    if (before?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    if (descriptorOf(target) !== undefined || (before !== undefined && !before.isFile())) {
      writeInPlace(target, text);
      return;
    }
    replaceFile(target, text, before, isPrivate ? 0o600 : undefined);
  } catch (error) {
    throw new UsageError(
      "PP5006",
      `${flag} names ${printable(path, 200)}, which cannot be written: ${describeFileError(error)}`,
    );
  }
}

/** Writes each requested format of a result, to stdout or to a file. @throws UsageError for a file. */
export function writeResults<F extends string>(
  outputs: readonly { readonly format: F; readonly path?: string }[],
  render: Readonly<Record<F, () => string>>,
): void {
  for (const { format, path } of outputs) {
    const text = render[format]();
    if (path === undefined) process.stdout.write(text);
    else writeText(path, text, "--output");
  }
}
