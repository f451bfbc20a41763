import { reportFormats } from "../../access/report/render/renderOptions";
import type { ReportFormat } from "../../access/report/render/renderOptions";
import { globProblems } from "../../access/rules/ruleOptions";
import type { RuleOptions } from "../../access/rules/ruleOptions";
import { timestampNanos } from "../../fields/formats";
import { printable } from "../../text/printable";
import { UsageError } from "./exitCodes";
import { isStdout } from "../output/writeFiles";
import { webAddress } from "../input/repository";
import type { PostHost } from "../post";
import type { Flag, Flags, Values } from "./flags";

/** Where one format of the result goes: a file, or stdout where there is no path. */
interface OutputDestination<F extends string = ReportFormat> {
  readonly format: F;
  readonly path?: string;
}

/** Where a report can be posted. */
export const postHosts = ["github-pr", "github-issue", "gitlab-mr"] as const satisfies readonly PostHost[];

/** The flag `-o FORMAT[=PATH]` of a command with these formats. */
export function outputFlag<F extends string>(allowed: readonly F[]) {
  return {
    type: "string",
    short: "o",
    multiple: true,
    value: "FORMAT[=PATH]",
    formats: allowed,
    default: "text",
    help: "format of the result, to stdout or to a file",
  } as const satisfies Flag;
}

/** The flags that say how a report is shown, and where it is posted. */
export const publishingFlags = {
  "source-root": {
    type: "string",
    value: "DIR",
    help: "the Pulumi project's folder in the repository, for links to lines",
  },
  "page-url": {
    type: "string",
    value: "URL",
    help: "where the page (-o html) is published, for the link in Markdown and comments",
  },
  fix: {
    type: "boolean",
    help: "with -o text: show the commands, code and policy entries that settle each finding",
  },
  summary: { type: "boolean", help: "append Markdown to the file that $GITHUB_STEP_SUMMARY names" },
  post: { type: "string", value: "WHERE", choices: postHosts, help: "post one comment for each stack" },
  marker: {
    type: "string",
    value: "KEY",
    default: "the stack",
    help: "identifies the comment: runs with the same key update it",
  },
  "dry-run": { type: "boolean", help: "with --post: print what would be sent, send nothing" },
} as const satisfies Flags;

/** The flags of every command that writes a report. */
export const commonFlags = {
  output: outputFlag(reportFormats),
  policy: {
    type: "string",
    value: "FILE",
    help: "exceptions with reasons and end dates (access-policy.yaml)",
  },
  rules: {
    type: "string",
    value: "FILE",
    help: "rules of your own (access-rules.mjs), in the place of those that the policy file names",
  },
  strict: { type: "boolean", help: "treat what cannot be resolved as a high finding" },
  "exit-zero": { type: "boolean", help: "findings do not change the exit code" },
  now: {
    type: "string",
    value: "TIME",
    default: "now",
    help: "the time that decides what has expired (RFC 3339)",
  },
  self: {
    type: "string",
    value: "UID",
    help: "the identity that runs this: it must not lose its access",
  },
  "min-owners": {
    type: "string",
    value: "N",
    form: { pattern: /^\d{1,9}$/, must: "a whole number, as in 2" },
    default: "2",
    help: "the least number of owners at the root",
  },
  "required-owner": {
    type: "string",
    multiple: true,
    value: "UID",
    help: "an owner that must not be lost (uid or name)",
  },
  "max-removal": {
    type: "string",
    value: "PERCENT",
    form: {
      pattern: /^(?:100(?:\.0+)?|\d{1,2}(?:\.\d+)?)%$/,
      must: "a percentage from 0% to 100%, as in 25%",
    },
    default: "25%",
    help: "the share of all grants that one change may remove",
  },
  "issuer-allow": {
    type: "string",
    multiple: true,
    value: "URL",
    help: "an issuer that may be trusted, as in https://*.acme.example; others are reported",
  },
  "sink-allow": {
    type: "string",
    multiple: true,
    value: "HOST|URL",
    help: "a host that events may go to, as in *.acme.example, or an https address",
  },
  ...publishingFlags,
} as const satisfies Flags;

/** The flag `--marker` of a command that posts one issue for several stacks. */
export const issueMarker = {
  ...commonFlags.marker,
  default: "the stacks",
  help: "identifies the issue: runs with the same key update it",
} as const satisfies Flag;

/**
 * Reads the values of `-o FORMAT[=PATH]`: without any, the result is text.
 *
 * @throws UsageError for an unknown format, and where two formats would both go to stdout or to one file.
 */
export function readDestinations<F extends string>(
  values: readonly string[],
  allowed: readonly F[],
): OutputDestination<F>[] {
  const destinations = (values.length === 0 ? ["text"] : values).map((text): OutputDestination<F> => {
    const equals = text.indexOf("=");
    const name = equals < 0 ? text : text.slice(0, equals);
    const format = allowed.find((candidate) => candidate === name);
    if (format === undefined)
      throw new UsageError(
        "PP5002",
        `--output must be one of ${allowed.join(", ")}, not "${printable(name, 80)}"`,
      );
    const path = equals < 0 ? undefined : text.slice(equals + 1);
    if (path === "")
      throw new UsageError(
        "PP5002",
        `--output ${format}= needs a file: write ${format}=PATH, or ${format} for stdout`,
      );
    return path === undefined || isStdout(path) ? { format } : { format, path };
  });
  const paths = destinations.map(({ path }) => path);
  const repeated = paths.find((path, index) => paths.indexOf(path) !== index);
  if (paths.length !== new Set(paths).size) {
    const where = repeated === undefined ? "stdout" : `"${printable(repeated, 200)}"`;
    throw new UsageError(
      "PP5003",
      `--output names ${where} twice: give all but one another file, as in json=review.json`,
    );
  }
  return destinations;
}

/** @throws UsageError for what matches less than it says: it would allow nothing, or too little. */
function readGlobs(
  name: keyof typeof globProblems,
  flag: string,
  globs: readonly string[],
): readonly string[] {
  const problem = globProblems[name](globs);
  if (problem === undefined) return globs;
  throw new UsageError("PP5002", `--${flag} ${problem}`);
}

function readTime(flag: string, text: string): Date {
  const nanos = timestampNanos(text);
  if (nanos === undefined) {
    throw new UsageError(
      "PP5002",
      `--${flag} must be a time in RFC 3339, as in 2026-03-01T00:00:00Z, not "${printable(text, 80)}"`,
    );
  }
  return new Date(Number(nanos / 1_000_000n));
}

/** @throws UsageError where it is no address that a browser opens. */
export function readPageUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = webAddress(text);
  if (url !== undefined) return url;
  throw new UsageError(
    "PP5002",
    "--page-url must be an http or https URL without a password, as in https://example.com/review.html",
  );
}

type CommonValues = Values<typeof commonFlags>;
export type CommonFlagValues = { readonly [K in keyof CommonValues]?: CommonValues[K] | undefined };

/** The values of the common flags, those that say more than a text read. */
export interface CommonOptions extends Omit<CommonFlagValues, "now" | "output"> {
  readonly outputs: readonly OutputDestination[];
  /** Those that a flag gives: they win over the settings of the policy file. */
  readonly limits: Partial<RuleOptions>;
  readonly now: Date;
  /** Without credentials, of http or https. */
  readonly pageUrl?: string;
}

/** The limits that flags give. @throws UsageError that names the flag and what to write. */
function readLimits(values: CommonFlagValues): Partial<RuleOptions> {
  const { strict, self, "required-owner": owners = [] } = values;
  const { "min-owners": least, "max-removal": removal } = values;
  const { "issuer-allow": issuers = [], "sink-allow": sinks = [] } = values;
  return {
    ...(strict && { strict }),
    ...(self !== undefined && { self }),
    ...(least !== undefined && { minOwners: Number(least) }),
    ...(owners.length > 0 && { requiredOwner: owners }),
    ...(removal !== undefined && { maxRemoval: Number.parseFloat(removal) / 100 }),
    ...(issuers.length > 0 && { issuerAllow: readGlobs("issuerAllow", "issuer-allow", issuers) }),
    ...(sinks.length > 0 && { sinkAllow: readGlobs("sinkAllow", "sink-allow", sinks) }),
  };
}

/**
 * Checks the common flags.
 *
 * @param values of the flags that the command has.
 * @throws UsageError that names the flag and what to write.
 */
export function readCommonOptions(values: CommonFlagValues): CommonOptions {
  const { post, now } = values;
  if (values["dry-run"] && post === undefined) {
    throw new UsageError("PP5003", "--dry-run needs --post: say where the report would be posted");
  }
  if (values.marker !== undefined && post === undefined) {
    throw new UsageError("PP5003", "--marker needs --post: say where the report is posted");
  }
  return {
    ...values,
    outputs: readDestinations(values.output ?? [], reportFormats),
    limits: readLimits(values),
    now: now === undefined ? new Date() : readTime("now", now),
    pageUrl: readPageUrl(values["page-url"]),
  };
}
