/**
 * The credentials that this process holds, so that no message repeats one that a server has quoted: as it is, escaped once
 * (percent-encoded, or as in JSON or HTML), or cut off.
 */

/** A shorter one is no secret but a word, which it would mask in every message. */
const SHORTEST = 8;
/** So much of a credential gives it away, and is no word of a message. */
const PART_LENGTH = 20;
/** Enough for every token and client secret of a run; the oldest are forgotten. */
const MOST_CREDENTIALS = 1000;
const MASK = "[credential]";

/** In lower case: a server may return a credential as a host name, which has no other. */
const credentials = new Set<string>();

/** Remembers a credential, in order to mask it wherever a message quotes a server. */
export function registerCredential(credential: string | undefined): void {
  if (credential === undefined || credential.length < SHORTEST) return;
  credentials.add(credential.toLowerCase());
  for (const oldest of credentials) {
    if (credentials.size <= MOST_CREDENTIALS) break;
    credentials.delete(oldest);
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Masks whole credentials, but not in the middle of a word, and long parts of one. */
function maskAsWritten(text: string): string {
  let masked = text;
  const lower = text.toLowerCase();
  for (const credential of credentials) {
    if (!lower.includes(credential)) continue;
    const isLong = credential.length >= PART_LENGTH;
    const pattern = isLong ? escaped(credential) : `(?<!\\w)${escaped(credential)}(?!\\w)`;
    masked = masked.replace(new RegExp(pattern, "gi"), MASK);
  }
  return masked.replace(/[\w+/=~-]+/g, (part) =>
    part.length >= PART_LENGTH && [...credentials].some((known) => known.includes(part.toLowerCase()))
      ? MASK
      : part,
  );
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", quot: '"', apos: "'", lt: "<", gt: ">" };

function decode(text: string): string {
  const ofHex = (hex: string) => String.fromCharCode(parseInt(hex, 16));
  return text
    .replace(
      /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,4});/gi,
      (_, ...hex: string[]) => ofHex(hex.find((digits) => typeof digits === "string") ?? ""),
    )
    .replace(/&#(\d{1,5});/g, (_, digits: string) => String.fromCharCode(Number(digits)))
    .replace(/&(amp|quot|apos|lt|gt);/gi, (_, name: string) => ENTITIES[name.toLowerCase()] ?? "")
    .replace(/\\(["'\\/])/g, "$1");
}

/** A text without the credentials that this process holds; decoded where only that shows one. */
export function maskCredentials(text: string): string {
  const masked = maskAsWritten(text);
  const decoded = decode(masked);
  const maskedDecoded = maskAsWritten(decoded);
  return maskedDecoded === decoded ? masked : maskedDecoded;
}
