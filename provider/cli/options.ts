import { parseArgs } from "node:util";
import { timestampNanos } from "../engine/times";
import { printable } from "../api/errors";
import { UsageError } from "./command";

/** One flag: what `parseArgs` needs, and what the help says of it. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** May be given several times; its value is then a list. */
  readonly multiple?: boolean;
  /** What stands for the value in the help: `FILE`. */
  readonly value?: string;
  readonly help: string;
}

export type Flags = Readonly<Record<string, Flag>>;

type Value<F extends Flag> = F extends { multiple: true }
  ? readonly string[]
  : F["type"] extends "boolean"
    ? boolean
    : string | undefined;

/** The values of flags: booleans false and lists empty where they are not given. */
export type Values<F extends Flags> = { readonly [K in keyof F]: Value<F[K]> };

export interface Parsed<F extends Flags> {
  readonly values: Values<F>;
  readonly positionals: readonly string[];
}

/**
 * Reads a command's arguments.
 *
 * @param command its name, for messages.
 * @throws UsageError that names the flag, in one line.
 */
export function parseFlags<F extends Flags>(command: string, flags: F, argv: readonly string[]): Parsed<F> {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type, short, multiple }]) => [
      name,
      { type, multiple: multiple === true, ...(short === undefined ? {} : { short }) },
    ]),
  );
  let parsed;
  try {
    parsed = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    const { message } = error as { message?: unknown };
    const [sentence = ""] = (typeof message === "string" ? message : "wrong arguments").split(/\. |\n/);
    throw new UsageError(`${printable(sentence)}; see pulumi-platform ${command} --help`);
  }
  const entries = Object.entries(flags).map(([name, flag]) => {
    const value = parsed.values[name];
    const all: unknown[] = Array.isArray(value) ? value : [value];
    if (all.includes(""))
      throw new UsageError(`--${name} must not be empty: give ${flag.value ?? "a value"}`);
    if (value !== undefined) return [name, value];
    return [name, flag.multiple ? [] : flag.type === "boolean" ? false : undefined];
  });
  return { values: Object.fromEntries(entries) as Values<F>, positionals: parsed.positionals };
}

/** The flags as lines of a help text. */
export function describeFlags(flags: Flags): string {
  const names = Object.entries(flags).map(([name, { short, value }]) =>
    [`${short === undefined ? "    " : `-${short}, `}--${name}`, value].filter(Boolean).join(" "),
  );
  const width = Math.min(30, Math.max(...names.map(({ length }) => length)));
  return Object.values(flags)
    .map(({ help }, index) => {
      const name = names[index] ?? "";
      const gap = name.length > width ? `\n${" ".repeat(width + 2)}` : " ".repeat(width - name.length);
      return `  ${name}${gap}  ${help.replaceAll("\n", `\n${" ".repeat(width + 4)}`)}`;
    })
    .join("\n");
}

/** The forms of a report. */
export const formats = ["text", "json", "md", "html", "sarif", "github", "codequality"] as const;
export type Format = (typeof formats)[number];

/** Where one form of the result goes: a file, or stdout where there is no path. */
export interface Destination<F extends string = Format> {
  readonly format: F;
  readonly path?: string;
}

/** Where a report can be posted. */
export const hosts = ["github-pr", "github-issue", "gitlab-mr"] as const;
export type Host = (typeof hosts)[number];

/** The flags that every command that reports takes. */
export const commonFlags = {
  output: {
    type: "string",
    short: "o",
    multiple: true,
    value: "FORMAT[=PATH]",
    help: `${formats.join(", ")}; to a file, or\nto stdout; may be given several times; default text`,
  },
  "fail-on": { type: "string", value: "LEVEL", help: "which findings decide the exit code" },
  policy: {
    type: "string",
    value: "FILE",
    help: "exceptions with reasons and end dates (access-policy.yaml)",
  },
  strict: { type: "boolean", help: "what cannot be resolved counts as high" },
  "exit-zero": { type: "boolean", help: "findings do not change the exit code" },
  now: { type: "string", value: "TIME", help: "the time that counts for expiry: RFC 3339; default now" },
  self: {
    type: "string",
    value: "UID",
    help: "the identity that runs this: it must not lose its access",
  },
  "min-owners": {
    type: "string",
    value: "N",
    help: "owners that must be left at the root; default 2",
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
    help: "the part of all grants that may go at once; default 25%",
  },
  "issuer-allow": {
    type: "string",
    multiple: true,
    value: "URL",
    help: "an issuer that may be trusted without a note",
  },
  "sink-allow": {
    type: "string",
    multiple: true,
    value: "HOST",
    help: "a host that events may go to",
  },
  "source-root": {
    type: "string",
    value: "DIR",
    help: "the Pulumi project's folder in the repository, for links to lines",
  },
  summary: { type: "boolean", help: "append Markdown to the file that $GITHUB_STEP_SUMMARY names" },
  post: { type: "string", value: "WHERE", help: `${hosts.join(", ")}: one comment for each stack` },
  marker: { type: "string", value: "KEY", help: "tells this comment from others; default the stack" },
  "dry-run": { type: "boolean", help: "with --post: print what would be sent, send nothing" },
  help: { type: "boolean", short: "h", help: "show this text" },
} as const satisfies Flags;

export type FailOn = "critical" | "high" | "medium" | "low" | "any" | "widened" | "unmanaged" | "never";

/** The values of the common flags, checked. */
export interface CommonOptions {
  readonly outputs: readonly Destination[];
  readonly failOn: FailOn;
  /** A path. */
  readonly policy?: string;
  readonly strict: boolean;
  readonly exitZero: boolean;
  readonly now: Date;
  readonly self?: string;
  readonly minOwners: number;
  readonly requiredOwners: readonly string[];
  /** A fraction: 0.25 for 25%. */
  readonly maxRemoval: number;
  readonly issuerAllow: readonly string[];
  readonly sinkAllow: readonly string[];
  readonly sourceRoot?: string;
  readonly summary: boolean;
  readonly post?: Host;
  readonly marker?: string;
  readonly dryRun: boolean;
}

function oneOf<T extends string>(flag: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((candidate) => candidate === text);
  if (found === undefined) {
    throw new UsageError(`--${flag} must be one of ${allowed.join(", ")}, not "${printable(text, 80)}"`);
  }
  return found;
}

/**
 * Reads `-o FORMAT[=PATH]`, given any number of times.
 *
 * @throws UsageError for an unknown format, and where two forms would both go to stdout or to one file.
 */
export function readDestinations<F extends string>(
  given: readonly string[],
  allowed: readonly F[],
  usual: F,
): Destination<F>[] {
  const destinations = (given.length === 0 ? [usual] : given).map((text): Destination<F> => {
    const equals = text.indexOf("=");
    const format = oneOf("output", equals < 0 ? text : text.slice(0, equals), allowed);
    const path = equals < 0 ? undefined : text.slice(equals + 1);
    if (path === "")
      throw new UsageError(
        `--output ${format}= names no file: write ${format}=PATH, or ${format} for stdout`,
      );
    return path === undefined || path === "-" ? { format } : { format, path };
  });
  const places = destinations.map(({ path }) => path);
  const twice = places.find((path, index) => places.indexOf(path) !== index);
  if (places.length !== new Set(places).size) {
    const where = twice === undefined ? "stdout" : `"${printable(twice, 200)}"`;
    throw new UsageError(
      `--output names ${where} twice: give all but one another file, as in json=review.json`,
    );
  }
  return destinations;
}

/** @throws UsageError where it is no whole number of 0 or more. */
export function readCount(flag: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) {
    throw new UsageError(`--${flag} must be a whole number, as in 2, not "${printable(text, 80)}"`);
  }
  return Number(text);
}

function readPercent(flag: string, text: string): number {
  const [, number = ""] = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text) ?? [];
  const percent = Number(number);
  if (number === "" || percent > 100) {
    throw new UsageError(
      `--${flag} must be a percentage from 0% to 100%, as in 25%, not "${printable(text, 80)}"`,
    );
  }
  return percent / 100;
}

function readTime(flag: string, text: string): Date {
  const nanos = timestampNanos(text);
  if (nanos === undefined) {
    throw new UsageError(
      `--${flag} must be a time in RFC 3339, as in 2026-03-01T00:00:00Z, not "${printable(text, 80)}"`,
    );
  }
  return new Date(Number(nanos / 1_000_000n));
}

type CommonValues = Values<typeof commonFlags>;

/**
 * Checks the common flags.
 *
 * @param values a flag that the command does not have is as one that is not given.
 * @param failOn the levels that the command knows, its default first.
 * @param clock what `--now` replaces.
 * @throws UsageError that names the flag and what to write.
 */
export function readCommon(
  values: { readonly [K in keyof CommonValues]?: CommonValues[K] | undefined },
  failOn: readonly [FailOn, ...FailOn[]],
  clock: () => Date = () => new Date(),
): CommonOptions {
  const { post, now } = values;
  if (values["dry-run"] && post === undefined) {
    throw new UsageError("--dry-run belongs to --post: say where the report would be posted");
  }
  if (values.marker !== undefined && post === undefined) {
    throw new UsageError("--marker belongs to --post: say where the report is posted");
  }
  return {
    outputs: readDestinations(values.output ?? [], formats, "text"),
    failOn: values["fail-on"] === undefined ? failOn[0] : oneOf("fail-on", values["fail-on"], failOn),
    policy: values.policy,
    strict: values.strict ?? false,
    exitZero: values["exit-zero"] ?? false,
    now: now === undefined ? clock() : readTime("now", now),
    self: values.self,
    minOwners: readCount("min-owners", values["min-owners"] ?? "2"),
    requiredOwners: values["required-owner"] ?? [],
    maxRemoval: readPercent("max-removal", values["max-removal"] ?? "25%"),
    issuerAllow: values["issuer-allow"] ?? [],
    sinkAllow: values["sink-allow"] ?? [],
    sourceRoot: values["source-root"],
    summary: values.summary ?? false,
    post: post === undefined ? undefined : oneOf("post", post, hosts),
    marker: values.marker,
    dryRun: values["dry-run"] ?? false,
  };
}
