import { withCode } from "../errors/codedError";
import { checkInputs, describeWrongArgument } from "../fields/check";
import type { ResourceSpec } from "../fields/resourceSpec";
import { UNKNOWN, WRONG_ARGUMENTS } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { printable } from "../text/printable";
import { dirname, relative, sep } from "node:path";
import * as pulumi from "./sdk";

/*
 * The engine ends a program at the first resource whose arguments the provider refuses. So that nobody has to find the
 * others one run at a time, each of those carries what is wrong with the arguments of all, with their lines. The program
 * decides nothing: whether an argument is wrong is for the provider to say, which also knows what the
 * state records.
 */

/** A value as the provider gets it in a preview: what is not known yet is unknown. */
function toJson(value: unknown): Json {
  if (value === undefined || value === null) return null;
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return UNKNOWN;
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
    const file = parts.slice(0, -2).join(":");
    return file === "" || number === undefined ? [] : [{ file, number }];
  });
  const own = places.find(({ file }) => !file.startsWith(OWN_FOLDER) && !file.startsWith("node:"));
  return own === undefined ? "" : `${printable(relative(process.cwd(), own.file), 200)}:${own.number}: `;
}

function describeFailures(spec: ResourceSpec, name: string, args: object): string[] {
  // A time of the program is compared with the calendar.
  // eslint-disable-next-line no-restricted-properties
  const now = Date.now();
  const failures = checkInputs(spec, toProps(args), { olds: {}, now });
  if (failures.length === 0) return [];
  const resource = `${lineOf(new Error())}${spec.kind} ${printable(JSON.stringify(name), 100)}`;
  return failures.map((failure) => withCode(`${resource}: ${describeWrongArgument(failure)}`, failure.code));
}

/** What is wrong, of the resources that were declared in this turn of the event loop. */
let lines: string[] = [];
let collected: Promise<readonly string[]> | undefined;

const MOST_LINES = 100;

async function collect(): Promise<readonly string[]> {
  await new Promise((done) => setImmediate(done));
  const more = lines.length > MOST_LINES ? [`… and ${lines.length - MOST_LINES} more`] : [];
  const all = [...lines.slice(0, MOST_LINES), ...more];
  [lines, collected] = [[], undefined];
  return all;
}

/**
 * Finds wrong arguments.
 * @returns the arguments; where some are wrong, with what is wrong in all resources that were declared together
 */
export function reportWrongArguments(
  spec: ResourceSpec,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const failures = describeFailures(spec, name, args);
  if (failures.length === 0) return args;
  lines.push(...failures);
  return { ...args, [WRONG_ARGUMENTS]: (collected ??= collect()) };
}
