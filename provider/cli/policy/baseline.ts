import { existsSync } from "node:fs";
import type { Comparison } from "../../access/review/compare";
import { isHighOrCritical } from "../../access/review/finding";
import type { Finding } from "../../access/review/finding";
import type { SuppressionResult } from "../../access/report/reviewReport";
import { applyPolicy } from "../../access/suppressions/applyPolicy";
import { parsePolicy } from "../../access/suppressions/policyDocument";
import type { PolicyCommand } from "../../access/suppressions/policyDocument";
import { appendEntries, defaultExpiry, entryFor, proposeEntry } from "../../access/suppressions/writeEntries";
import type { NewEntry } from "../../access/suppressions/writeEntries";
import { printable } from "../../text/printable";
import { UsageError } from "../framework/exitCodes";
import type { CommonOptions } from "../framework/options";
import { readText } from "../input/readFiles";
import { isStdout } from "../output/descriptors";
import { writeText } from "../output/writeFiles";
import type { Suppressor } from "./suppressors";

/** What a baseline adds to its file. */
interface Addition {
  readonly text: string;
  readonly entryCount: number;
  readonly isChanged: boolean;
  /** Findings that a person must accept by name. */
  readonly remaining: readonly Finding[];
  /** Findings that the change brings, which no baseline accepts. */
  readonly ofChange: number;
}

/** What `--write-baseline` added to the policy file, and what it left to a person; a line each. */
function describeAddition(
  name: string,
  { entryCount, remaining, ofChange }: Addition,
  now: number,
): string[] {
  const added = `${entryCount === 1 ? "1 exception" : `${entryCount} exceptions`} added to ${name}`;
  const left = remaining.length === 0 ? "" : `; ${remaining.length} left for a person to accept by name`;
  const brought = ofChange === 1 ? "1 finding was" : `${ofChange} findings were`;
  return [
    entryCount === 0
      ? `${added}: there is nothing else to accept${left}`
      : `${added}, to ${defaultExpiry(now)}: give each its own reason${left}`,
    ...(ofChange === 0
      ? []
      : [`not accepted: ${brought} not there before the change: fix them, or accept them one by one`]),
    ...remaining.map(
      ({ severity, id, message }) => `not accepted: ${severity} ${id}: ${printable(message, 300)}`,
    ),
    ...(remaining.length === 0
      ? []
      : [`${name} has an entry for each of these as a comment: complete it to accept the finding`]),
  ];
}

/** The title of a finding in a comment of a policy file, by which a later run recognises it. */
const commentTitle = ({ id, severity, fingerprint }: Finding): string =>
  `${severity} ${id}, fingerprint ${fingerprint}`;

/** Which findings a baseline may accept: in a review, what was there before the change. */
type WasThere = (finding: Finding) => boolean;

/**
 * Creates a policy file that accepts what a run finds and neither `--policy` nor the file itself suppresses: in drift what is
 * medium and low, in a review what was there before the change and is not critical. What is worse gets a comment.
 */
export class BaselineFile {
  private readonly name: string;
  private readonly now: number;
  private readonly before: string | undefined;
  private addition: Addition | undefined;

  /** @throws UsageError, PolicyError where a file cannot be read or is wrong, or the report takes its place. */
  constructor(
    private readonly path: string,
    { now, outputs }: Pick<CommonOptions, "now" | "outputs">,
    private readonly command: PolicyCommand,
    private readonly suppressByPolicy: Suppressor | undefined,
    private readonly wasThere: WasThere = () => true,
  ) {
    if (isStdout(path) && outputs.some((output) => output.path === undefined)) {
      throw new UsageError(
        "PP5003",
        "--write-baseline - and the report both go to standard output: give the report another place, as in -o text=/dev/stderr",
      );
    }
    this.name = isStdout(path) ? "standard output" : printable(path, 200);
    this.now = now.getTime();
    this.before = !isStdout(path) && existsSync(path) ? readText(path, "--write-baseline") : undefined;
    // A file that is wrong ends the run before anything is requested of the server.
    appendEntries(this.before, [], this.name);
  }

  private accepts({ severity }: Finding): boolean {
    return this.command === "review" ? severity !== "critical" : !isHighOrCritical(severity);
  }

  private entriesFor(findings: readonly Finding[]): NewEntry[] {
    const day = new Date(this.now).toISOString().slice(0, 10);
    const reason = `existed when the baseline was written on ${day}; not reviewed yet`;
    return findings
      .filter((finding) => this.accepts(finding))
      .map((finding) => ({ entry: entryFor(finding, this.command, reason, this.now), finding }));
  }

  /** Suppresses findings by `--policy`, by the file, and by what is added to it. */
  suppress(findings: readonly Finding[], isComplete: boolean, comparison: Comparison): SuppressionResult {
    const { before, name, now, command } = this;
    const suppressBy = (open: readonly Finding[], text: string): SuppressionResult =>
      applyPolicy(open, parsePolicy(text, name), now, command, isComplete, comparison);
    const byPolicy = this.suppressByPolicy?.(findings, isComplete, comparison);
    const open = byPolicy?.findings ?? findings;
    const unaccepted = before === undefined ? open : suppressBy(open, before).findings;
    const entries = this.entriesFor(unaccepted.filter(this.wasThere));
    const byBaseline = suppressBy(open, appendEntries(before, entries, name));
    const remaining = byBaseline.findings.filter(this.wasThere);
    const comments = remaining
      .filter((finding) => before?.includes(commentTitle(finding)) !== true)
      .map((finding) =>
        [`  ${commentTitle(finding)}: ${finding.message}`, proposeEntry(finding, command, now)].join("\n"),
      );
    this.addition = {
      text: appendEntries(before, entries, name, comments),
      entryCount: entries.length,
      isChanged: before === undefined || entries.length + comments.length > 0,
      remaining,
      ofChange: byBaseline.findings.length - remaining.length,
    };
    return {
      ...byPolicy,
      findings: byBaseline.findings,
      suppressed: [...(byPolicy?.suppressed ?? []), ...byBaseline.suppressed],
      unused: byPolicy?.unused ?? [],
      expired: byPolicy?.expired ?? [],
    };
  }

  /** Writes the file after `suppress`; returns what it did, a line each. */
  write(): string[] {
    if (this.addition === undefined) return [];
    const { text, isChanged } = this.addition;
    if (isStdout(this.path)) process.stdout.write(text);
    else if (isChanged) writeText(this.path, text, "--write-baseline");
    return describeAddition(this.name, this.addition, this.now);
  }
}
