export interface JsonMember {
  readonly key: string;
  readonly at: number;
  readonly raw: string;
  readonly value: JsonNode;
}

/** A parsed value with its position; `raw` is its source, of objects and lists only the opening bracket. */
export type JsonNode = { readonly at: number; readonly raw: string } & (
  | { readonly kind: "object"; readonly members: readonly JsonMember[] }
  | { readonly kind: "list"; readonly items: readonly JsonNode[] }
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "number" | "true" | "false" | "null" }
);

export class JsonError extends Error {}

const maxDepth = 1000;
const numberToken = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/**
 * Reads the first JSON value and ignores what follows it, as the gateway does. `JSON.parse` hides duplicate keys, rounds
 * large numbers and reports no positions.
 *
 * @param hasInvalidUtf8 the bytes of the text were not UTF-8, so strings with U+FFFD are refused.
 * @returns undefined if there is only white space.
 * @throws JsonError with the gateway's text.
 */
export function readJson(text: string, hasInvalidUtf8 = false): JsonNode | undefined {
  const reader = new Reader(text, hasInvalidUtf8);
  return reader.first();
}

/** `line 1:9`, counted in characters from 1. */
export function describePosition(text: string, at: number): string {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return `line ${line}:${Array.from(before.slice(lineStart)).length + 1}`;
}

/** Neither a control character nor a quote nor a backslash; false at the end of a text, where the code is NaN. */
function isPlain(code: number): boolean {
  return code >= 0x20 && code !== 0x22 && code !== 0x5c;
}

class Reader {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly hasInvalidUtf8: boolean,
  ) {}

  first(): JsonNode | undefined {
    this.skipSpace();
    return this.at >= this.text.length ? undefined : this.value(0);
  }

  private value(depth: number): JsonNode {
    if (depth > maxDepth) throw new JsonError("exceeded max depth");
    this.skipSpace();
    const at = this.at;
    switch (this.text[at]) {
      case "{":
        return this.object(at, depth);
      case "[":
        return this.list(at, depth);
      case '"':
        return this.string();
      case "t":
        return this.word("true", at);
      case "f":
        return this.word("false", at);
      case "n":
        return this.word("null", at);
      default: {
        numberToken.lastIndex = at;
        const found = numberToken.exec(this.text)?.[0];
        if (found === undefined) throw this.unexpected("looking for beginning of value");
        this.at += found.length;
        return { kind: "number", at, raw: found };
      }
    }
  }

  private object(at: number, depth: number): JsonNode {
    const members: JsonMember[] = [];
    this.at += 1;
    this.skipSpace();
    if (this.text[this.at] === "}") {
      this.at += 1;
      return { kind: "object", at, raw: "{", members };
    }
    for (;;) {
      this.skipSpace();
      if (this.text[this.at] !== '"') throw this.unexpected("looking for beginning of object key string");
      const key = this.string();
      this.skipSpace();
      if (this.text[this.at] !== ":") throw this.unexpected("after object key");
      this.at += 1;
      members.push({ key: key.text, at: key.at, raw: key.raw, value: this.value(depth + 1) });
      this.skipSpace();
      const mark = this.text[this.at];
      if (mark !== "," && mark !== "}") throw this.unexpected("after object key:value pair");
      this.at += 1;
      if (mark === "}") return { kind: "object", at, raw: "{", members };
    }
  }

  private list(at: number, depth: number): JsonNode {
    const items: JsonNode[] = [];
    this.at += 1;
    this.skipSpace();
    if (this.text[this.at] === "]") {
      this.at += 1;
      return { kind: "list", at, raw: "[", items };
    }
    for (;;) {
      items.push(this.value(depth + 1));
      this.skipSpace();
      const mark = this.text[this.at];
      if (mark !== "," && mark !== "]") throw this.unexpected("after array element");
      this.at += 1;
      if (mark === "]") return { kind: "list", at, raw: "[", items };
    }
  }

  private string(): JsonNode & { kind: "string" } {
    const at = this.at;
    let text = "";
    this.at += 1;
    for (;;) {
      const from = this.at;
      while (isPlain(this.text.charCodeAt(this.at))) this.at += 1;
      text += this.text.slice(from, this.at);
      const mark = this.text[this.at];
      if (mark === '"') break;
      if (mark !== "\\") throw this.unexpected("in string literal");
      text += this.escape();
    }
    this.at += 1;
    if (this.hasInvalidUtf8 && text.includes("\ufffd")) {
      throw new JsonError(
        `proto: syntax error (${describePosition(this.text, at)}): invalid UTF-8 in string`,
      );
    }
    if (/\p{Surrogate}/u.test(text)) {
      throw new JsonError(
        `proto: syntax error (${describePosition(this.text, at)}): invalid escape code in string`,
      );
    }
    return { kind: "string", at, raw: this.text.slice(at, this.at), text };
  }

  private escape(): string {
    const letter = this.text[this.at + 1];
    if (letter === "u") {
      const digits = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) {
        this.at = Math.min(this.at + 2, this.text.length);
        throw this.unexpected("in \\u hexadecimal character escape");
      }
      this.at += 6;
      return String.fromCharCode(parseInt(digits, 16));
    }
    this.at += 1;
    const meant = letter === undefined ? undefined : escapes[letter];
    if (meant === undefined) throw this.unexpected("in string escape code");
    this.at += 1;
    return meant;
  }

  private word(word: "true" | "false" | "null", at: number): JsonNode {
    for (const letter of word) {
      if (this.text[this.at] !== letter) throw this.unexpected(`in literal ${word}`);
      this.at += 1;
    }
    return { kind: word, at, raw: word };
  }

  private skipSpace(): void {
    for (;;) {
      const letter = this.text.charCodeAt(this.at);
      if (letter !== 0x20 && letter !== 0x0a && letter !== 0x0d && letter !== 0x09) return;
      this.at += 1;
    }
  }

  private unexpected(where: string): JsonError {
    const letter = this.text[this.at];
    if (letter === undefined) return new JsonError("unexpected EOF");
    // The gateway reports single bytes, for example the first of a byte order mark.
    const byte = Buffer.from(letter, "utf8")[0] ?? 0;
    const shown = byte < 0x20 ? `\\x${byte.toString(16).padStart(2, "0")}` : String.fromCharCode(byte);
    return new JsonError(`invalid character '${shown}' ${where}`);
  }
}
