import { readFileSync } from "node:fs";
import { printable } from "../../api/errors";
import { UsageError } from "../framework/exitCodes";

/** A document that an argument names, and its name in messages. */
export interface Input {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const reasons: Readonly<Record<string, string | undefined>> = {
  ENOENT: "file not found",
  EACCES: "permission denied",
  EISDIR: "it is a folder",
};

/**
 * Reads a file, or standard input for `-`.
 *
 * @param what the argument in messages: `--before`, or "the preview".
 * @throws UsageError in one line.
 */
export async function readInput(path: string, what: string): Promise<Input> {
  if (path === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return { name: "standard input", bytes: Buffer.concat(chunks) };
  }
  const name = printable(path, 200);
  try {
    return { name, bytes: readFileSync(path) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    throw new UsageError("PP5005", `${what}: ${name} cannot be read: ${reasons[code] ?? code}`);
  }
}

/** Decodes an input as UTF-8. */
export function decodeText({ bytes }: Input): string {
  return Buffer.from(bytes).toString("utf8");
}
