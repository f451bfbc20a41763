import { printable } from "../../api/errors";

/** A document cannot be read: one line that says which, and what to give instead. */
export class DocumentError extends Error {
  override readonly name = "DocumentError";
  /** For the command line: what it was given is wrong. */
  readonly code = "USAGE";
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The bytes as UTF-8 without a byte order mark: PowerShell writes UTF-16 where `>` is used. */
function utf8(input: string | Uint8Array): Buffer {
  if (typeof input === "string") return Buffer.from(input.startsWith("\ufeff") ? input.slice(1) : input);
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return Buffer.from(bytes.toString("utf16le", 2));
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return bytes.subarray(3);
  return bytes;
}

/** The position after the string that begins at `start`; undefined where it does not end. */
function endOfString(bytes: Buffer, start: number): number | undefined {
  for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return undefined;
}

/** Objects and arrays inside one another that are read. What the CLI writes has a tenth of that. */
export const MOST_LEVELS = 200;

/** What to do with the parts of a text. */
export interface Parts {
  /** What the text is called in messages: a path, or "standard input". */
  readonly name: string;
  /** The array whose elements come one at a time, by the keys that lead to it: `["deployment", "resources"]`. */
  readonly array: readonly string[];
  readonly element: (value: unknown) => void;
  /** Called in place of `element` or `document` for one that has more than MOST_LEVELS levels. */
  readonly tooDeep: () => void;
  /** A whole document, after its elements; the array in it is empty. A text may hold several (NDJSON). */
  readonly document: (value: unknown) => void;
}

/**
 * Reads JSON of any size without ever holding more than one element of its long array as objects: a
 * preview of thousands of resources is hundreds of megabytes.
 *
 * @throws DocumentError where it is empty, cut off, or no JSON.
 */
export function readJson(input: string | Uint8Array, parts: Parts): void {
  const bytes = utf8(input);
  const parse = (from: number, to: number): unknown => {
    try {
      return JSON.parse(bytes.toString("utf8", from, to));
    } catch {
      throw notJson(bytes, from, parts.name);
    }
  };
  const opens: number[] = [];
  const keys: string[] = [];
  const path = parts.array;
  let expectsKey = false;
  let found = false;
  let documentStart = -1;
  // The pieces of the document around the array.
  let head: string | undefined;
  let tailStart = -1;
  // The depth of the array's elements, and where one begins.
  let inside = -1;
  let elementStart = -1;
  // The deepest levels of the element, and of the document around it.
  const deepest = { element: 0, document: 0 };

  const atArray = (): boolean =>
    opens.length === path.length &&
    opens.every((open) => open === OPEN_BRACE) &&
    path.every((key, index) => keys[index] === key);
  const endElement = (at: number): void => {
    if (elementStart < 0) return;
    if (deepest.element > MOST_LEVELS) parts.tooDeep();
    else parts.element(parse(elementStart, at));
    elementStart = -1;
    deepest.element = 0;
  };

  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isBlank(byte)) continue;
    if (opens.length === 0) {
      if (byte !== OPEN_BRACE) throw notJson(bytes, at, parts.name);
      documentStart = at;
      found = true;
    }
    if (inside === opens.length) {
      if (byte === COMMA || byte === CLOSE_BRACKET) endElement(at);
      else if (elementStart < 0) elementStart = at;
    }
    switch (byte) {
      case QUOTE: {
        const end = endOfString(bytes, at);
        if (end === undefined) throw cutOff(parts.name);
        // Only the keys that may lead to the array are of interest.
        if (expectsKey && inside < 0 && opens.length <= path.length) {
          keys[opens.length - 1] = String(parse(at, end));
        }
        at = end - 1;
        break;
      }
      case COLON:
        expectsKey = false;
        break;
      case COMMA:
        expectsKey = opens[opens.length - 1] === OPEN_BRACE;
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        if (byte === OPEN_BRACKET && inside < 0 && head === undefined && atArray()) {
          inside = opens.length + 1;
          head = bytes.toString("utf8", documentStart, at + 1);
        }
        opens.push(byte);
        if (inside >= 0) deepest.element = Math.max(deepest.element, opens.length);
        else deepest.document = Math.max(deepest.document, opens.length);
        expectsKey = byte === OPEN_BRACE;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE: {
        const open = opens.pop();
        if (open !== (byte === CLOSE_BRACE ? OPEN_BRACE : OPEN_BRACKET)) throw notJson(bytes, at, parts.name);
        expectsKey = false;
        if (inside === opens.length + 1) {
          inside = -1;
          tailStart = at;
        }
        if (opens.length === 0) {
          if (deepest.document > MOST_LEVELS) parts.tooDeep();
          else if (head === undefined) parts.document(parse(documentStart, at + 1));
          else parts.document(parseText(head + bytes.toString("utf8", tailStart, at + 1), parts.name));
          head = undefined;
          deepest.document = 0;
          keys.length = 0;
        }
        break;
      }
    }
  }
  if (opens.length > 0) throw cutOff(parts.name);
  if (!found) {
    throw new DocumentError(`${parts.name} is empty: did the command that should have written it fail?`);
  }
}

function parseText(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new DocumentError(`${name} is not JSON: give what the CLI wrote with --json`);
  }
}

function notJson(bytes: Buffer, at: number, name: string): DocumentError {
  const line = bytes.subarray(0, at).reduce((count, byte) => (byte === 0x0a ? count + 1 : count), 1);
  const excerpt = printable(bytes.toString("utf8", at, at + 40), 40);
  return new DocumentError(
    `${name} is not JSON (line ${line}: ${JSON.stringify(excerpt)}): give what the CLI wrote to standard output with --json`,
  );
}

function cutOff(name: string): DocumentError {
  return new DocumentError(`${name} ends in the middle: it was cut off; write it again`);
}
