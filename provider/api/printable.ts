import { maskCredentials } from "./credentials";
import { logLine, plain } from "./logText";

/** More than any credential is long: what is cut off before it is masked is never shown. */
const MASKED_BEYOND_LIMIT = 8192;

/**
 * Text of a server made safe to print: one line, no control characters, no command to a CI runner, bounded, and without
 * the credentials that this process holds. Whatever a message or a log line quotes goes through here.
 */
export function printable(text: string, limit = 500): string {
  const bounded = text.slice(0, limit + MASKED_BEYOND_LIMIT);
  const clean = logLine(maskCredentials(logLine(bounded)));
  return clean.length > limit ? `${clean.slice(0, limit)} …` : clean;
}

/**
 * A value of a document as a reader can tell it from another: one line, and each invisible character as its code. Bounded,
 * and without the credentials that this process holds.
 */
export function visible(text: string, limit = 500): string {
  const bounded = text.slice(0, limit + MASKED_BEYOND_LIMIT);
  const clean = plain(maskCredentials(plain(bounded)));
  return clean.length > limit ? `${clean.slice(0, limit)} …` : clean;
}
