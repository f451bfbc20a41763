import { existsSync } from "node:fs";
import { commentTitle, createBaseline, formatComment } from "../../access/drift/baseline";
import { defaultExpiry } from "../../access/suppressions/expiry";
import type { Comparison } from "../../access/review/comparison";
import type { Finding } from "../../access/review/finding";
import type { SuppressionResult } from "../../access/report/reviewReport";
import { applyPolicy } from "../../access/suppressions/applyPolicy";
import { parsePolicy } from "../../access/suppressions/parsePolicy";
import { appendEntries } from "../../access/suppressions/writeEntries";
import { printable } from "../../http/errors";
import { readText } from "../input/readFiles";
import { writeText } from "../output/writeFiles";
import type { Suppressor } from "./suppressors";

/** What a baseline adds to its file. */
interface Addition {
  readonly text: string;
  readonly entryCount: number;
  readonly isChanged: boolean;
  /** Findings that a person must accept by name. */
  readonly remaining: readonly Finding[];
}

/** What `--write-baseline` added to the policy file, and what it left to a person; a line each. */
function describeAddition(
  name: string,
  { entryCount, remaining }: Pick<Addition, "entryCount" | "remaining">,
  now: number,
): string[] {
  const added = `${entryCount === 1 ? "1 exception" : `${entryCount} exceptions`} added to ${name}`;
  const left = remaining.length === 0 ? "" : `; ${remaining.length} left for a person to accept by name`;
  return [
    entryCount === 0
      ? `${added}: there is nothing else to accept${left}`
      : `${added}, to ${defaultExpiry(now)}: give each its own reason${left}`,
    ...remaining.map(
      ({ severity, id, message }) => `not accepted: ${severity} ${id}: ${printable(message, 300)}`,
    ),
    ...(remaining.length === 0
      ? []
      : [`${name} has an entry for each of these as a comment: complete reason and acceptedBy to accept it`]),
  ];
}

/**
 * Creates a policy file that accepts the findings of a run. It gets an entry for each medium and low finding that neither
 * `--policy` nor the file itself suppresses, and a comment for each other one.
 */
export class BaselineFile {
  private readonly name: string;
  private readonly now: number;
  private readonly before: string | undefined;
  private addition: Addition | undefined;

  /** @throws UsageError, PolicyError where a file cannot be read or is wrong. */
  constructor(
    private readonly path: string,
    now: Date,
    private readonly suppressByPolicy: Suppressor | undefined,
  ) {
    this.name = printable(path, 200);
    this.now = now.getTime();
    this.before = existsSync(path) ? readText(path, "--write-baseline") : undefined;
    // A file that is wrong ends the run before anything is requested of the server.
    appendEntries(this.before, [], this.name);
  }

  /** Suppresses findings by `--policy`, by the file, and by what is added to it. */
  suppress(findings: readonly Finding[], isComplete: boolean, comparison: Comparison): SuppressionResult {
    const { before, name, now } = this;
    const suppressBy = (open: readonly Finding[], text: string): SuppressionResult =>
      applyPolicy(open, parsePolicy(text, name), now, "drift", isComplete, comparison);
    const byPolicy = this.suppressByPolicy?.(findings, isComplete, comparison);
    const open = byPolicy?.findings ?? findings;
    const unaccepted = before === undefined ? open : suppressBy(open, before).findings;
    const { entries } = createBaseline(unaccepted, now);
    const withEntries = appendEntries(before, entries, name);
    const byBaseline = suppressBy(open, withEntries);
    const remaining = byBaseline.findings;
    const comments = remaining
      .filter((finding) => before?.includes(commentTitle(finding)) !== true)
      .map((finding) => formatComment(finding, now));
    this.addition = {
      text: comments.length === 0 ? withEntries : appendEntries(before, entries, name, comments),
      entryCount: entries.length,
      isChanged: before === undefined || entries.length + comments.length > 0,
      remaining,
    };
    return {
      findings: remaining,
      suppressed: [...(byPolicy?.suppressed ?? []), ...byBaseline.suppressed],
      unused: byPolicy?.unused ?? [],
      expired: byPolicy?.expired ?? [],
    };
  }

  /** Writes the file after `suppress`; returns what it did, a line each. */
  write(): string[] {
    if (this.addition === undefined) return [];
    const { text, isChanged } = this.addition;
    if (isChanged) writeText(this.path, text, "--write-baseline");
    return describeAddition(this.name, this.addition, this.now);
  }
}
