import { isUtf8 } from "node:buffer";

export interface DecodedText {
  readonly text: string;
  /** The bytes are not UTF-8; `text` has U+FFFD instead. */
  readonly hasInvalidUtf8: boolean;
}

/** Percent-decodes a part of an address, or returns the first invalid escape, such as `%zz`. */
export function decodePercent(
  raw: string,
  plusIsSpace: boolean,
): DecodedText | { readonly badEscape: string } {
  const spaced = plusIsSpace ? raw.replaceAll("+", " ") : raw;
  if (!spaced.includes("%")) return { text: spaced, hasInvalidUtf8: false };
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(spaced);
  if (bad) return { badEscape: bad[0] };
  const bytes = Buffer.concat(
    spaced
      .split(/(%[0-9a-fA-F]{2})/)
      .map((part, index) =>
        index % 2 === 1 ? Buffer.from([parseInt(part.slice(1), 16)]) : Buffer.from(part, "utf8"),
      ),
  );
  return { text: bytes.toString("utf8"), hasInvalidUtf8: !isUtf8(bytes) };
}
