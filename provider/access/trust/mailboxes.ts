import { domainToASCII, domainToUnicode } from "node:url";
import { RE2JS } from "re2js";
import { withoutTrailing } from "../../text/plain";

/** What a mailbox ignores in its name: comments, quotes and dots. */
const IGNORED = String.raw`\([^()]*\)|[".]`;

/** The name of a mailbox, of what stands before the at sign of an address in small letters. */
export const nameOfMailbox = (local: string): string =>
  (local.split(/[|:]/).pop() ?? "").replace(new RegExp(IGNORED, "g"), "").replace(/\+.*/s, "");

/**
 * The mailbox of an address, however it is written: in capitals, in quotes, with a comment, with a tag behind a plus sign, with
 * dots, behind a scheme, or at a domain in letters of any script. Other texts in small letters.
 */
export function mailboxOf(text: string): string {
  const lower = text.toLowerCase();
  const at = lower.lastIndexOf("@");
  const written = withoutTrailing(lower.slice(at + 1), ".");
  if (at < 0 || /[:/]/.test(written)) return lower;
  const host = (domainToASCII(written) || written).replace(/^googlemail\.com$/, "gmail.com");
  return `${nameOfMailbox(lower.slice(0, at))}@${host}`;
}

/** Whether an address may be the mailbox of another one that is written out: with another tag, or none. */
export const isMailboxIn = (address: string, globs: readonly string[]): boolean =>
  address.includes("@") && globs.some((glob) => !/[*?]/.test(glob) && mailboxOf(glob) === mailboxOf(address));

/** The spellings of the mailbox of an address that is written out, as patterns: with dots, quotes, comments, and a tag. */
export function mailboxForms(address: string): string[] {
  const [, name = "", host] = /^([^@]*)@([^@:/]+)$/.exec(mailboxOf(address)) ?? [];
  if (host === undefined || /[*?]/.test(address)) return [];
  const ignored = `(?:${IGNORED})*`;
  const letters = Array.from(name, (letter) => `${RE2JS.quote(letter)}${ignored}`).join("");
  const hosts = [host, domainToUnicode(host), host.replace(/^gmail\.com$/, "googlemail.com")];
  return [...new Set(hosts)].map(
    (each) => `(?:(?s:.*)[|:])?${ignored}${letters}(?:\\+(?s:.*))?@${RE2JS.quote(each)}\\.?`,
  );
}
