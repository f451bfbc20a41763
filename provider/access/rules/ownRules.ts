import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, resolve } from "node:path";
import { runInNewContext } from "node:vm";
import { CodedError, errorMessage, hasCode } from "../../errors/codedError";
import { isObject } from "../../fields/values";
import { readTextFile } from "../../text/files";
import { printable } from "../../text/printable";
import { packageFolder } from "../../text/packageVersion";
import { didYouMean, suggest } from "../../text/suggestions";
import type { Grant } from "../graph/grant";
import type { Entity } from "../graph/model";
import { severities } from "../review/finding";
import type { Severity } from "../review/finding";
import { findRule } from ".";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { everyKind } from "./rule";

/** What a rule of one's own finds: about a grant, about a resource, or about the change as a whole. */
export interface OwnFinding {
  /** One line: who holds what where, and what is wrong about it. */
  readonly message: string;
  /** The grant that it is about. */
  readonly grant?: Grant;
  /** The resource that it is about, where there is no grant. */
  readonly entity?: Entity;
  /** The property of the resource: `claimMatch.subjectPattern`. */
  readonly field?: string;
  /** More of it, each a line. */
  readonly details?: readonly string[];
  /** What to do here; the rule's `fix` if not given. */
  readonly advice?: string;
}

/** A rule of one's own, as `defineRule` takes it. */
export interface RuleDefinition {
  /** Two to twelve capital letters and a number: `ACME1`. */
  readonly id: string;
  /** Words joined by hyphens: `no-editor-in-production`. */
  readonly name: string;
  readonly severity: Severity;
  /** Why it matters, for whoever reads the finding. */
  readonly why: string;
  /** What to write instead. */
  readonly fix: string;
  /** What it finds, for `explain`. */
  readonly what?: string;
  /** It counts what the whole organisation holds: it does not run where a part is compared, as `watch` does. */
  readonly needsWhole?: true;
  readonly find: (facts: Facts) => readonly OwnFinding[];
}

/** A rule of one's own that was read from a file. */
export interface OwnRule extends Rule {
  readonly file: string;
}

/** A file of rules is wrong: one line that names the file, the rule and the property. Ends with exit code 2. */
export class RulesError extends CodedError {
  override readonly name = "RulesError";
  readonly code = "USAGE";

  constructor(message: string, options?: ErrorOptions) {
    super("PP6102", printable(message, 600), options);
    this.stack = "";
  }
}

/** Built-in ids have one letter, and PP begins the codes of errors. */
export const OWN_RULE_ID = "^(?!PP\\d)[A-Z]{2,12}[0-9]{1,4}$";

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

const textProblem = (value: unknown): string | undefined =>
  isText(value) ? undefined : "must be a string that is not empty";

/** What each property must be; undefined where it is. */
const propertyProblems: Readonly<Record<keyof RuleDefinition, (value: unknown) => string | undefined>> = {
  id: (value) =>
    typeof value === "string" && new RegExp(OWN_RULE_ID).test(value)
      ? undefined
      : "must be two to twelve capital letters and a number, as in ACME1; ids of one letter are built-in rules, and PP begins the codes of errors",
  name: (value) => {
    if (typeof value !== "string" || !/^[a-z][a-z0-9]*(?:-[a-z0-9]+)+$/.test(value) || value.length > 60) {
      return "must be at least two words joined by hyphens, as in no-editor-in-production";
    }
    if (findRule(value) !== undefined) return `is that of the built-in rule ${findRule(value)?.id ?? ""}`;
    return /-advice$|^not-(?:judged|announced)$/.test(value)
      ? "is taken by the policy pack: choose another one"
      : undefined;
  },
  severity: (value) => {
    if (severities.some((each) => each === value)) return undefined;
    return `must be one of ${severities.join(", ")}${suggest(typeof value === "string" ? value : "", severities)}`;
  },
  why: textProblem,
  fix: textProblem,
  what: (value) => (value === undefined ? undefined : textProblem(value)),
  needsWhole: (value) => (value === undefined || value === true ? undefined : "must be true or left out"),
  find: (value) =>
    typeof value === "function" ? undefined : "must be a function of the facts that returns findings",
};

/**
 * Checks a rule of one's own; a file of rules exports a list of them as its default.
 *
 * @throws RulesError that names the property.
 */
export function defineRule(definition: RuleDefinition): RuleDefinition {
  const given: unknown = definition;
  if (!isObject(given))
    throw new RulesError("a rule must be an object with id, name, severity, why, fix and find");
  const label = isText(given["id"]) ? `rule ${given["id"]}: ` : "";
  const known = Object.keys(propertyProblems);
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const meant = didYouMean(key, known);
    throw new RulesError(
      `${label}${key} is an unknown property; ${meant === undefined ? `known are ${known.join(", ")}` : `did you mean ${meant}?`}`,
    );
  }
  for (const [key, problemOf] of Object.entries(propertyProblems)) {
    const problem = problemOf(given[key]);
    if (problem !== undefined) throw new RulesError(`${label}${key} ${problem}`);
  }
  return definition;
}

/** How long a rule, or the code of its file, may run. */
const LONGEST_MS = 30_000;

/** Runs code of a rule: the engine ends it when the time is over, in whatever function it is. */
function runWithin<T>(ms: number, run: () => T): T {
  try {
    return runInNewContext("run()", { run }, { timeout: ms }) as T;
  } catch (error) {
    if (!hasCode(error, "ERR_SCRIPT_EXECUTION_TIMEOUT")) throw error;
    throw new RulesError(`ran for longer than ${ms / 1000} seconds`);
  }
}

/** What an error of a rule's code says, and the line of the file that it comes from, without its stack. */
function describeThrown(error: unknown, file = ""): string {
  if (error instanceof RulesError) return error.message;
  const { name, message, stack } = (isObject(error) ? error : {}) as Partial<Error>;
  if (!isText(message)) return "it threw something that is no error";
  const line = /^\d+/.exec(stack?.split(`${basename(file)}:`)[1] ?? "")?.[0];
  // Node adds lines that name its own files.
  return `${name ?? "Error"}: ${message.split("\n")[0] ?? ""}${line === undefined ? "" : ` (line ${line})`}`;
}

const isNamed = (value: unknown): boolean => isObject(value) && typeof value["key"] === "string";

/** What is wrong with one finding of a rule; undefined where nothing is. */
function findingProblem(finding: unknown): string | undefined {
  if (!isObject(finding)) return "is not an object with a message";
  const {
    message,
    grant,
    entity,
    field,
    details = [],
    advice = "x",
    ...others
  } = finding as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    return `has the unknown property ${unknown}; known are message, grant, entity, field, details, advice`;
  if (!isText(message)) return "has no message: one line that says who holds what where";
  if (
    grant !== undefined &&
    !(isObject(grant) && ["subject", "role", "group"].every((part) => isNamed(grant[part])))
  ) {
    return "has a grant that is none of the facts";
  }
  if (entity !== undefined && !(isNamed(entity) && typeof (entity as Partial<Entity>).kind === "string")) {
    return "has an entity that is none of the facts";
  }
  if (grant !== undefined && entity !== undefined) return "is about a grant and an entity: give one of them";
  if (field !== undefined && !isText(field)) return "has a field that is not a string";
  if (!isText(advice)) return "has an advice that is not a string";
  return Array.isArray(details) && details.every((line) => typeof line === "string")
    ? undefined
    : "has details that are not a list of strings";
}

/** @throws RulesError where a rule returned something else than findings. */
function checkFindings(found: unknown): readonly OwnFinding[] {
  if (!Array.isArray(found)) {
    const isPromise = isObject(found) && typeof found["then"] === "function";
    throw new RulesError(
      isPromise ? "returned a promise: find must not be async" : "must return a list of findings",
    );
  }
  for (const [i, finding] of found.entries()) {
    const problem = findingProblem(finding);
    if (problem !== undefined) throw new RulesError(`finding ${i + 1} ${problem}`);
  }
  return found as readonly OwnFinding[];
}

/** What is to be done about a rule that failed, as one line. By default it is a finding of the rule itself. */
type OnFailure = (message: string, cause: unknown, severity: Severity) => FindingInput[];

const reportFailure: OnFailure = (message, _, severity) => [
  {
    severity: severity === "critical" ? severity : "high",
    message,
    advice: "correct the rule: what it would have found is not known",
  },
];

/** Makes of a definition a rule like the built-in ones. */
function toRule(definition: RuleDefinition, file: string, ms: number, onFailure: OnFailure): OwnRule {
  const { id, name, severity, why, fix, needsWhole } = definition;
  return {
    id,
    name,
    file,
    severities: [severity],
    when: "always",
    what: definition.what ?? `What its function in ${file} finds.`,
    why,
    fix,
    except: "Where the owner of the rules agrees, with a reason and the day on which it ends.",
    ...(needsWhole === true ? { needsWhole } : {}),
    about: everyKind,
    find: (facts) => {
      try {
        const found = checkFindings(runWithin(ms, () => definition.find(facts)));
        return found.map(({ grant, entity, ...given }) => {
          const text = { ...given, severity, advice: given.advice ?? fix };
          if (grant !== undefined) return facts.aboutGrant(grant, text);
          return entity === undefined ? text : facts.aboutEntity(entity, text);
        });
      } catch (error) {
        return onFailure(
          `rule ${id} of ${file} cannot judge this: ${describeThrown(error, file)}`,
          error,
          severity,
        );
      }
    },
  };
}

/** Imports of files beside it: a review compares one file with that of the base, so it must be all there is. */
const IMPORTS_FILE = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'`](?:\.{0,2}\/|file:)/;

/** The files of code in a folder. */
const listModules = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => /\.[cm]?js$/.test(name)) : [];

/** Options of a load of a file of rules. */
interface LoadOptions {
  readonly onFailure?: OnFailure;
  readonly ms?: number;
  /**
   * Whether the file gets this package and nothing else that stands beside it. What a change edits there, such as a
   * package.json that gives the name of this package to a file of its own, would be code of the change.
   */
  readonly isAlone?: boolean;
}

/** Runs with a copy of a file, in a folder where only this package can be imported. */
function withCopy<T>(path: string, text: string, run: (copy: string) => T): T {
  const folder = mkdtempSync(resolve(tmpdir(), "pulumi-platform-rules-"));
  try {
    mkdirSync(resolve(folder, "node_modules"));
    const own = packageFolder();
    if (own !== undefined) symlinkSync(own, resolve(folder, "node_modules", "pulumi-platform"), "junction");
    const copy = resolve(folder, basename(path));
    writeFileSync(copy, text);
    // Without it Node asks that of the folder for temporary files, to which others write, what the package's name means.
    writeFileSync(resolve(folder, "package.json"), "{}");
    return run(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The list that the code of a file exports. */
function loadDefinitions(
  path: string,
  file: string,
  { ms = LONGEST_MS, isAlone = false }: LoadOptions,
): readonly RuleDefinition[] {
  let text: string;
  try {
    text = readTextFile(path);
  } catch (error) {
    if (existsSync(path)) throw new RulesError(errorMessage(error));
    throw new RulesError(
      `${file}: the rules cannot be read: there is no such file in ${dirname(path)}${suggest(basename(path), listModules(dirname(path)))}`,
    );
  }
  if (IMPORTS_FILE.test(text)) {
    throw new RulesError(
      `${file}: must not import other files: rules are one file, so that a review can compare it with that of the base`,
    );
  }
  let exported: unknown;
  try {
    const load = (from: string): unknown => runWithin(ms, (): unknown => createRequire(from)(from));
    exported = isAlone ? withCopy(path, text, load) : load(path);
  } catch (error) {
    if (hasCode(error, "MODULE_NOT_FOUND") || hasCode(error, "ERR_MODULE_NOT_FOUND")) {
      throw new RulesError(
        isAlone
          ? `${file}: imports something else than pulumi-platform/access and modules of Node: with --base-ref or --policy-base rules are one file, since a change may edit what it imports`
          : `${file}: imports a package that is not installed beside it; defineRule can be left out: a list of plain objects is checked in the same way`,
      );
    }
    if (hasCode(error, "ERR_REQUIRE_ASYNC_MODULE"))
      throw new RulesError(`${file}: must not await at its top level`);
    throw new RulesError(`${file}: ${describeThrown(error, file)}`);
  }
  const list = Array.isArray(exported) || !isObject(exported) ? exported : exported["default"];
  if (!Array.isArray(list) || list.length === 0) {
    throw new RulesError(`${file}: must export a list of rules: export default [defineRule({ … })]`);
  }
  return list as readonly RuleDefinition[];
}

/** Each id and name stands for one rule. @throws RulesError */
function checkDefinitions(definitions: readonly RuleDefinition[], file: string): void {
  const taken = new Set<string>();
  for (const [i, definition] of definitions.entries()) {
    try {
      const { id, name } = defineRule(definition);
      const twice = [id, name].find((each) => taken.has(each));
      if (twice !== undefined) throw new RulesError(`${twice} is that of another rule of this list`);
      taken.add(id).add(name);
    } catch (error) {
      throw new RulesError(`${file}: item ${i + 1}: ${describeThrown(error)}`);
    }
  }
}

/** Makes rules of definitions, to be asked with the built-in ones. @throws RulesError */
export function toRules(
  definitions: readonly RuleDefinition[],
  file: string,
  { onFailure = reportFailure, ms = LONGEST_MS }: LoadOptions = {},
): readonly OwnRule[] {
  checkDefinitions(definitions, file);
  return definitions.map((definition) => toRule(definition, file, ms, onFailure));
}

/**
 * Loads a file of rules of one's own, which is code.
 *
 * @param namedBy the file and line that name it, for messages.
 * @throws RulesError in one line that names the file.
 */
export function loadRules(
  path: string,
  { namedBy, ...options }: LoadOptions & { readonly namedBy?: string } = {},
): readonly OwnRule[] {
  const file = printable(path, 200);
  try {
    return toRules(loadDefinitions(resolve(path), file, options), file, options);
  } catch (error) {
    if (namedBy === undefined || !(error instanceof RulesError)) throw error;
    throw new RulesError(`${namedBy}: ${error.message}`);
  }
}
