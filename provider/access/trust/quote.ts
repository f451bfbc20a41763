import { visible } from "../../text/printable";

/** A value in quotes that it cannot close itself. */
export function quoteValue(value: string, limit = 120): string {
  return `“${visible(value, limit).replace(/[“”„‟«»❝❞〝〞＂]/g, '"')}”`;
}

/** How much of a name a sentence has: the fact must stand beside it, and fields of the report have the name whole. */
export const LONGEST_SHOWN_NAME = 160;

const PLAIN = /^[\w.@+:/~-]{1,60}$/;

/** A value without quotes if it is one word that cannot be mistaken for a word of the message; otherwise in quotes. */
export function plainOrQuoted(value: string, limit?: number): string {
  return PLAIN.test(value) ? value : quoteValue(value, limit);
}
