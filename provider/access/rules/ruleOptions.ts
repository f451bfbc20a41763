import { suggest } from "../../text/suggestions";
import { isAddressGlob, isHostGlob } from "../trust/glob";
import { isObject } from "../../fields/values";
import { printable } from "../../text/printable";
import type { Entity } from "../graph/model";
import type { Comparison } from "../review/compare";
import type { Assertions } from "../assertions/assertion";

/** An object that begins to match an exception of the policy file. */
export interface NewMatch {
  readonly entity: Entity;
  /** The conditions that it matches from now on: `name: break-glass`. */
  readonly condition: string;
  /** Where the entry stands: `access-policy.yaml:12`. */
  readonly entry: string;
}

/** The guards of a run; every field has a flag of the same name. */
export interface RuleOptions {
  /** Milliseconds since the epoch: `--now`. */
  readonly now: number;
  /** `--self`: the uid of the identity that the pipeline runs as. */
  readonly self?: string;
  /** `--min-owners`: how many identities must own a root group. */
  readonly minOwners: number;
  /** `--required-owner`: identities that must stay owners of the root, by uid, name or subject; `*` stands for anything. */
  readonly requiredOwner: readonly string[];
  /** `--max-removal`: the part of the grants, 0 to 1, that may go at once. */
  readonly maxRemoval: number;
  /** `--issuer-allow`: where not empty, the only issuers that identities may trust; URLs as `addressMatches` takes them. */
  readonly issuerAllow: readonly string[];
  /** `--sink-allow`: hosts and https addresses that events may go to, as `hostMatches` and `addressMatches` take them. */
  readonly sinkAllow: readonly string[];
  /** `--strict`: what could not be resolved counts as high. */
  readonly strict: boolean;
  /** `--policy`: finds what begins to match one of its entries. */
  readonly newMatches?: (comparison: Comparison) => readonly NewMatch[];
  /** `--policy`: what its file forbids, requires and separates. */
  readonly assertions?: Assertions;
}

/** The options of a run without a flag. */
export function defaultRuleOptions(now: number): RuleOptions {
  return {
    now,
    minOwners: 2,
    requiredOwner: [],
    maxRemoval: 0.25,
    issuerAllow: [],
    sinkAllow: [],
    strict: false,
  };
}

const GLOB_SPELLING =
  ": write the host in small ASCII letters, without a wildcard in its last part and without the default port";

/** Why a list of issuers or hosts matches less than it says, as what follows its name; undefined where it does not. */
export const globProblems: Readonly<
  Record<"issuerAllow" | "sinkAllow", (globs: readonly string[]) => string | undefined>
> = {
  issuerAllow: (globs) => {
    const wrong = globs.find((glob) => !glob.startsWith("https://") || !isAddressGlob(glob));
    return wrong === undefined
      ? undefined
      : `must be the https address of an issuer, as in https://token.actions.githubusercontent.com or https://*.acme.example, not "${printable(wrong, 80)}"${GLOB_SPELLING}`;
  },
  sinkAllow: (globs) => {
    const wrong = globs.find(
      (glob) => !(/^https:\/\/[^/]+\/./.test(glob) ? isAddressGlob(glob) : isHostGlob(glob)),
    );
    return wrong === undefined
      ? undefined
      : `must be a host, as in hooks.acme.example or *.acme.example:8443, or an https address with a path, not "${printable(wrong, 80)}"${GLOB_SPELLING}`;
  },
};

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/** What each option must be; undefined where it is. */
const optionProblems: Readonly<Record<keyof RuleOptions, (value: unknown) => string | undefined>> = {
  now: (value) => (Number.isFinite(value) ? undefined : "must be a number of milliseconds since 1970"),
  self: (value) => (typeof value === "string" ? undefined : "must be the uid of an identity"),
  minOwners: (value) =>
    Number.isInteger(value) && Number(value) >= 0 ? undefined : "must be a whole number of at least 0",
  requiredOwner: (value) => (isStrings(value) ? undefined : "must be a list of strings"),
  maxRemoval: (value) =>
    typeof value === "number" && value >= 0 && value <= 1 ? undefined : "must be a number from 0 to 1",
  issuerAllow: (value) => (isStrings(value) ? globProblems.issuerAllow(value) : "must be a list of strings"),
  sinkAllow: (value) => (isStrings(value) ? globProblems.sinkAllow(value) : "must be a list of strings"),
  newMatches: (value) => (typeof value === "function" ? undefined : "must be a function"),
  assertions: (value) =>
    isObject(value) && ["forbid", "require", "separate"].every((list) => Array.isArray(value[list]))
      ? undefined
      : "must be the assertions of a policy that parsePolicy has read",
  strict: (value) => (typeof value === "boolean" ? undefined : "must be true or false"),
};

/** What is wrong with options that a program gives: one line, or undefined. */
export function findOptionProblem(options: Readonly<Record<string, unknown>>): string | undefined {
  const names = Object.keys(optionProblems);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const key = names.find((each): each is keyof RuleOptions => each === name);
    if (key === undefined) return `${printable(name, 80)} is no option${suggest(name, names)}`;
    const problem = optionProblems[key](value);
    if (problem !== undefined) return `${key} ${problem}`;
  }
  return undefined;
}
