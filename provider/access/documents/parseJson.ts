import { checkInput, checkUnambiguous, DocumentError, MOST_LEVELS, decodeText } from "./jsonText";

/** Hostile JSON may be deeper than the stack of any recursion. */
function isTooDeep(document: unknown): boolean {
  const open: { readonly value: unknown; readonly level: number }[] = [{ value: document, level: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, level } = next;
    if (value === null || typeof value !== "object") continue;
    if (level >= MOST_LEVELS) return true;
    for (const member of Object.values(value)) open.push({ value: member, level: level + 1 });
  }
  return false;
}

/** A document with more than MOST_LEVELS levels. @param advice what to give instead. */
export function tooDeepError(name: string, advice: string): DocumentError {
  return new DocumentError("PP6003", `${name} is nested more than ${MOST_LEVELS} levels deep: ${advice}`);
}

/**
 * Reads JSON that somebody may have cut off, or saved with a byte order mark.
 *
 * @param name what messages call it: a path.
 * @param advice what to give instead of a document that cannot be read.
 * @throws DocumentError in one line.
 */
export function parseJson(input: string | Uint8Array, name: string, advice?: string): unknown {
  checkInput(input, name, "atOnce");
  const text = decodeText(input);
  if (text.trim() === "") {
    const what = advice ?? "did the command that should have written it fail?";
    throw new DocumentError("PP6001", `${name} is empty: ${what}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const what = advice === undefined ? "" : `: ${advice}`;
    throw new DocumentError("PP6001", `${name} is truncated or invalid JSON${what}`);
  }
  if (isTooDeep(value)) throw tooDeepError(name, advice ?? "write it again");
  checkUnambiguous(Buffer.from(text), value, name);
  return value;
}
