import { checkBytes } from "../../access/documents/jsonText";
import { printable } from "../../text/printable";
import { readBytes } from "./readFiles";

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
      checkBytes(size, name, "inParts");
    }
    return { name, bytes: Buffer.concat(chunks) };
  }
  const name = printable(path, 200);
  return { name, bytes: readBytes(path, `${what}: ${name} cannot be read`) };
}
