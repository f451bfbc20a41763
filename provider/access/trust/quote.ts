import { printable } from "../../api/errors";

/** A value in quotes that it cannot close itself. */
export function quote(value: string, limit = 120): string {
  return `“${printable(value, limit).replace(/[“”„‟«»❝❞〝〞＂]/g, '"')}”`;
}

const PLAIN = /^[\w.@+:/~-]{1,60}$/;

/** A value as it is where it is one word, which cannot be taken for ours; else in quotes. */
export function plainOrQuoted(value: string, limit?: number): string {
  return PLAIN.test(value) ? value : quote(value, limit);
}
