import { withCode } from "../errors/codedError";
import { checkInputs } from "../fields/check";
import type { ResourceSpec } from "../fields/resourceSpec";
import { UNKNOWN } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { printable } from "../text/printable";
import { dirname, relative, sep } from "node:path";
import * as pulumi from "./sdk";

/*
 * The engine ends a program at the first resource whose arguments the provider refuses. So that nobody has to find the
 * others one run at a time, the end of the program then names the wrong arguments of every resource that was not
 * registered, with their lines. It decides nothing: whether an argument is wrong is for the provider to say, which also
 * knows what the state records.
 */

interface Declared {
  readonly spec: ResourceSpec;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Made where the resource is declared. Its text is made only where it is read. */
  readonly place: Error;
}

const unregistered = new Set<Declared>();

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
function lineOf({ stack = "" }: Error): string {
  const places = stack.split("\n").flatMap((line) => {
    const [, file, number] = /([^\s(]+):(\d+):\d+\)?$/.exec(line) ?? [];
    return file === undefined || number === undefined ? [] : [{ file, number }];
  });
  const own = places.find(({ file }) => !file.startsWith(OWN_FOLDER) && !file.startsWith("node:"));
  return own === undefined ? "" : `${printable(relative(process.cwd(), own.file), 200)}:${own.number}: `;
}

function describeFailures({ spec, name, args, place }: Declared): string[] {
  const inputs = toProps(args);
  // A time of the program is compared with the calendar.
  // eslint-disable-next-line no-restricted-properties
  const now = Date.now();
  return checkInputs(spec, inputs, { olds: {}, now }).map(({ property, reason, code }) =>
    withCode(
      `${lineOf(place)}${spec.kind} ${printable(JSON.stringify(name), 100)}: ${printable(`${property} ${reason}`.trim(), 500)}`,
      code,
    ),
  );
}

function reportAtExit(): void {
  const lines = [...unregistered].flatMap(describeFailures);
  if (lines.length === 0) return;
  const shown = lines.slice(0, 100);
  const more = lines.length > shown.length ? [`… and ${lines.length - shown.length} more`] : [];
  // The engine's library shows what a program prints so at its very end; it no longer takes messages of its log then.
  // eslint-disable-next-line no-console
  console.error(["wrong arguments of this program:", ...shown, ...more].join("\n  "));
  // The engine's library else takes the resources that it no longer waits for to be a mistake of the program.
  process.exitCode ||= 1;
}

/** Takes note of the arguments of a resource until the engine has registered it. */
export function watchArguments(
  spec: ResourceSpec,
  name: string,
  args: Readonly<Record<string, unknown>>,
  resource: pulumi.Resource,
): void {
  if (!process.listeners("exit").includes(reportAtExit)) process.prependListener("exit", reportAtExit);
  const declared = { spec, name, args, place: new Error() };
  unregistered.add(declared);
  resource.urn.apply(() => unregistered.delete(declared));
}
