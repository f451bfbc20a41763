import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, resolve, sep } from "node:path";
import { globSync, isDynamicPattern } from "tinyglobby";
import { checkBytes } from "../../access/documents/jsonText";
import { CodedError } from "../../errors/codedError";
import { describeFileError } from "../../text/files";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";

/** What the shell passes as a path to an open file: `<(pulumi preview --json)`, `/dev/stdin`. */
const isDescriptor = (path: string): boolean =>
  /^\/(?:dev\/(?:stdin|null|fd\/\d+)|proc\/(?:self|\d+)\/fd\/\d+)$/.test(resolve(path));

/**
 * Why a path is not read; undefined where it may be. In CI a document may come from an artifact or a pull request of
 * others, and a link in it could name any file of the machine.
 */
function refusalOf(path: string): string | undefined {
  if (isDescriptor(path)) return undefined;
  if (lstatSync(path).isSymbolicLink()) {
    const folder = realpathSync(dirname(path));
    const inside = folder.endsWith(sep) ? folder : folder + sep;
    if (!realpathSync(path).startsWith(inside)) {
      return "it is a symbolic link to a file outside of its folder; name that file itself";
    }
  }
  const stats = statSync(path);
  return stats.isFile() || stats.isDirectory()
    ? undefined
    : "it is no regular file; use - for standard input";
}

/**
 * Reads a document that an argument names; `-` is stdin.
 *
 * @param cannotRead the start of the message: `--plan names x.json, which cannot be read`.
 * @throws UsageError, DocumentError in one line.
 */
export function readBytes(path: string, cannotRead: string): Buffer {
  try {
    if (path === "-") return readFileSync(0);
    const refusal = refusalOf(path);
    if (refusal !== undefined) throw new UsageError("PP5005", `${cannotRead}: ${refusal}`);
    checkBytes(statSync(path).size, printable(path, 200));
    return readFileSync(path);
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new UsageError("PP5005", `${cannotRead}: ${describeFileError(error)}`);
  }
}

/** Reads the file that an argument names as text; `-` is stdin. @throws UsageError, DocumentError in one line. */
export function readText(path: string, flag: string): string {
  const name = printable(path, 200);
  const bytes = readBytes(path, `${flag} names ${name}, which cannot be read`);
  checkBytes(bytes.length, name);
  return bytes.toString("utf8");
}

/** Lists the files that a glob pattern matches, sorted; a path that exists is never a pattern. @throws UsageError */
export function matchingFiles(pattern: string, flag: string): string[] {
  if (existsSync(pattern) || !isDynamicPattern(pattern)) return [pattern];
  const files = globSync(pattern, { absolute: isAbsolute(pattern), expandDirectories: false }).sort();
  if (files.length === 0)
    throw new UsageError("PP5007", `${flag}: no file matches ${printable(pattern, 200)}`);
  return files;
}

/** A document that an argument names, and its name in messages. */
interface Input {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * Reads a file, or standard input for `-`.
 *
 * @param what the argument in messages: `--before`, or "the preview".
 * @throws UsageError in one line.
 */
export async function readInput(path: string, what: string): Promise<Input> {
  if (path === "-") {
    const name = "standard input";
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of process.stdin) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      checkBytes(size, name);
    }
    return { name, bytes: Buffer.concat(chunks) };
  }
  const name = printable(path, 200);
  return { name, bytes: readBytes(path, `${what}: ${name} cannot be read`) };
}

/** The document that a flag names, as it is parsed; undefined where the flag is not given. @throws UsageError, DocumentError */
export async function readFlaggedDocument<T>(
  flag: string,
  path: string | undefined,
  parse: (bytes: Uint8Array, name: string) => T,
): Promise<T | undefined> {
  if (path === undefined) return undefined;
  const { bytes, name } = await readInput(path, flag);
  return parse(bytes, name);
}
