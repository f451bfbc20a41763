import { withCode } from "../errors/codedError";
import type { ErrorCode } from "../errors/registry";
import { leftOutMeans } from "../fields/fieldSpec";
import { checkInputs, describeWrongArgument } from "../fields/check";
import type { Failure, ResourceSpec, WrongArguments } from "../fields/resourceSpec";
import { groupBy, UNKNOWN, WRONG_ARGUMENTS } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { printable } from "../text/printable";
import { dirname, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describeAbsent, findAbsentUids, findWrittenUids, findWrongReferences, isLater } from "./uidSources";
import type { WrittenUid } from "./uidSources";
import * as pulumi from "./sdk";

/*
 * The engine ends a program at the first resource whose arguments the provider refuses. So that nobody has to find the
 * others one run at a time, each of those carries what is wrong with the arguments of all, with their lines. Whether an
 * argument is wrong is for the provider to say, which also knows what the state records. Only the program can tell
 * where a uid comes from, that an argument is there and undefined, and that two outputs are the same one.
 */

/** A value as the provider gets it in a preview: what is not known yet is unknown. */
function toJson(value: unknown): Json {
  if (value === undefined || value === null) return null;
  if (isLater(value) || pulumi.CustomResource.isInstance(value)) return UNKNOWN;
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === "object") return toProps(value);
  return typeof value === "string" || typeof value === "boolean" || typeof value === "number"
    ? value
    : UNKNOWN;
}

function toProps(value: object): Props {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, toJson(member)]])),
  );
}

const OWN_FOLDER = dirname(__dirname) + sep;

/** The line of the program that declares a resource, as `index.ts:12: `; empty where the stack does not tell. */
export function lineOf({ stack = "" }: Error): string {
  const places = stack.split("\n").flatMap((line) => {
    // The place stands last, often in parentheses: file, line and column. The name of a folder may hold a colon.
    const parts = line.slice(line.lastIndexOf(line.includes("(") ? "(" : " ") + 1).split(":");
    const [number] = parts.slice(-2);
    const path = parts.slice(0, -2).join(":");
    // An ES module is named by its address.
    const file = path.startsWith("file:") ? fileURLToPath(path) : path;
    return file === "" || number === undefined ? [] : [{ file, number }];
  });
  const own = places.find(({ file }) => !file.startsWith(OWN_FOLDER) && !file.startsWith("node:"));
  return own === undefined ? "" : `${printable(relative(process.cwd(), own.file), 200)}:${own.number}: `;
}

/** Arguments that are there and undefined, as an unset variable is: what is left out by mistake is something else. */
function findUndefined({ fields }: ResourceSpec, args: Readonly<Record<string, unknown>>): Failure[] {
  return Object.entries(fields).flatMap(([property, field]): Failure[] => {
    const means = leftOutMeans(field);
    if (means === undefined || args[property] !== undefined || !Object.hasOwn(args, property)) return [];
    const reason = `is undefined: give a value, or leave it out for ${means}`;
    return [{ property, reason, code: "PP1006" }];
  });
}

/** Of the resources of a run that were declared in this turn of the event loop. */
interface Declared {
  /** What is wrong. */
  lines: string[];
  /** The uids that are written as text. */
  written: (WrittenUid & { readonly describe: (failure: Failure) => string })[];
  collected: Promise<Collected> | undefined;
}

const getDeclaredOfRun = pulumi.createPerRun((): Declared => ({
  lines: [],
  written: [],
  collected: undefined,
}));

interface Collected {
  readonly lines: readonly string[];
  /** Ends when what is said of uids has been said. */
  readonly warned: Promise<void>;
}

/** What resources of a run know of its lookups. */
interface Lookups {
  areCalled: boolean;
  wrongSetting?: ErrorCode;
  /** Those that the server has not answered yet. */
  readonly underWay: Set<Promise<unknown>>;
}

export const getLookupsOfRun = pulumi.createPerRun((): Lookups => ({
  areCalled: false,
  underWay: new Set(),
}));

const MOST_LINES = 100;

const limit = (all: readonly string[]): readonly string[] =>
  all.length > MOST_LINES ? [...all.slice(0, MOST_LINES), `… and ${all.length - MOST_LINES} more`] : all;

async function collect(declared: Declared): Promise<Collected> {
  await new Promise((done) => setImmediate(done));
  const [all, uids] = [limit(declared.lines), declared.written];
  Object.assign(declared, { lines: [], written: [], collected: undefined });
  // A server may take a reference to what is gone, so it is said and not refused; and not of a program that ends here.
  return { lines: all, warned: all.length > 0 ? Promise.resolve() : warnOfAbsent(uids) };
}

/** So many arguments with one uid are named one by one. */
const MOST_OF_ONE_UID = 3;

async function warnOfAbsent(uids: Declared["written"]): Promise<void> {
  const absent = groupBy(await findAbsentUids(uids), ({ kind, value }) => [`${kind} ${value}`]);
  // At another server than was meant, one uid is in each resource.
  const warnings = [...absent.values()].flatMap((all) => {
    const shown = all.length > MOST_OF_ONE_UID ? all.slice(0, 1) : all;
    return shown.map((uid) => uid.describe(describeAbsent(uid, all.length - shown.length)));
  });
  await Promise.all(limit(warnings).map((line) => pulumi.log.warn(line)));
}

/** Ends a program with lines that have their codes. */
function endProgram(described: readonly string[]): never {
  const error = new pulumi.RunError(described.join("\n"));
  // An unhandled rejection is printed with its stack.
  error.stack = error.message;
  throw error;
}

/**
 * Finds wrong arguments.
 * @param conflicts with other resources of the program
 * @param asksForUids whether to warn of uids that nobody has
 * @returns the arguments; where some are wrong, with what is wrong in all resources that were declared together
 * @throws RunError in a unit test of the program, where no provider checks arguments
 */
export function reportWrongArguments(
  spec: ResourceSpec,
  name: string,
  args: Readonly<Record<string, unknown>>,
  conflicts: readonly Failure[],
  asksForUids: boolean,
): Readonly<Record<string, unknown>> {
  const label = `${lineOf(new Error())}${spec.kind} ${printable(JSON.stringify(name), 100)}`;
  const describe = (failure: Failure) =>
    withCode(`${label}: ${describeWrongArgument(failure)}`, failure.code);
  const own = [
    ...conflicts,
    ...findUndefined(spec, args),
    ...findWrongReferences(spec, args, (late) => endProgram([describe(late)])),
  ];
  // A time of the program is compared with the calendar.
  // eslint-disable-next-line no-restricted-properties
  const failures = [...own, ...checkInputs(spec, toProps(args), { olds: {}, now: Date.now() })];
  const described = failures.map(describe);
  if (pulumi.isMocked()) {
    if (described.length > 0) endProgram(described);
    return args;
  }
  const uids = asksForUids ? findWrittenUids(spec, args) : [];
  const lookups = getLookupsOfRun();
  if (failures.length === 0 && uids.length === 0 && !lookups.areCalled) return args;
  const declared = getDeclaredOfRun();
  declared.lines.push(...described);
  declared.written.push(...uids.map((uid) => ({ ...uid, describe })));
  const find = async ({ lines, warned }: Collected): Promise<WrongArguments | undefined> => {
    // The resource waits: after its program has ended nothing can be said.
    if (uids.length > 0) await warned;
    if (failures.length === 0)
      return lookups.wrongSetting && { own: [], lines: [], wrongSetting: lookups.wrongSetting };
    return { own, lines, said: failures.map(({ property, code }) => ({ property, code })) };
  };
  return { ...args, [WRONG_ARGUMENTS]: (declared.collected ??= collect(declared)).then(find) };
}
