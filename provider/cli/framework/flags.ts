import { Command, CommanderError, Option } from "commander";
import { wrapped } from "../../text/plain";
import { printable } from "../../text/printable";
import { UsageError } from "./exitCodes";
import { ownCommand } from "../input/packageManager";

/** One option of a command: parsing, help, error messages and shell completion all come from this description. */
export interface Flag {
  readonly type: "string" | "boolean";
  readonly short?: string;
  /** Whether it may be repeated; its value is then an array. */
  readonly multiple?: boolean;
  /** The placeholder of the value in the help: `FILE`. */
  readonly value?: string;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
  /** The form of its values, and what each must be, in words. */
  readonly form?: { readonly pattern: RegExp; readonly must: string };
  /** The formats of a `FORMAT[=PATH]`. */
  readonly formats?: readonly string[];
  /** The default, for the help. */
  readonly default?: string;
  readonly help: string;
}

export type Flags = Readonly<Record<string, Flag>>;

type Single<F extends Flag> = F extends { choices: readonly (infer Choice)[] } ? Choice : string;

type Value<F extends Flag> = F extends { multiple: true }
  ? readonly Single<F>[]
  : F["type"] extends "boolean"
    ? boolean
    : Single<F> | undefined;

/** The values of flags; false and empty arrays by default. */
export type Values<F extends Flags> = { readonly [K in keyof F]: Value<F[K]> };

export interface Parsed<F extends Flags> {
  readonly values: Values<F>;
  readonly positionals: readonly string[];
}

const placeholder = ({ value }: Flag): string => value ?? "VALUE";

/** @throws UsageError that names the flag and what to write. */
function checkValue(name: string, flag: Flag, text: string): string {
  if (text === "") {
    const value = placeholder(flag);
    throw new UsageError(
      "PP5002",
      `--${name} needs a value: write --${name} ${value}, or --${name}=${value} where it begins with a dash`,
    );
  }
  const { choices, form } = flag;
  const [only = "", ...more] = choices ?? [];
  const expected = form?.must ?? (more.length === 0 ? only : `one of ${[only, ...more].join(", ")}`);
  if (choices?.includes(text) === false || form?.pattern.test(text) === false)
    throw new UsageError("PP5002", `--${name} must be ${expected}, not "${printable(text, 80)}"`);
  return text;
}

/** The help of a flag, with the values that it accepts. */
function describeFlag({ help, choices, formats, multiple, default: defaultValue }: Flag): string {
  return [
    help,
    ...(choices === undefined ? [] : [`; ${choices.length === 1 ? "only" : "one of"} ${choices.join(", ")}`]),
    ...(formats === undefined ? [] : [`; formats: ${formats.join(", ")}`]),
    ...(defaultValue === undefined ? [] : [`; default ${defaultValue}`]),
    ...(multiple ? ["; repeatable"] : []),
  ].join("");
}

function createOption(name: string, flag: Flag): Option {
  const short = flag.short === undefined ? "" : `-${flag.short}, `;
  if (flag.type === "boolean") return new Option(`${short}--${name}`, describeFlag(flag)).default(false);
  // To the parser the value is optional: so it takes no other option for it, and hands over an empty one that is missing.
  const option = new Option(`${short}--${name} [value]`, describeFlag(flag));
  return option
    .preset("")
    .default(flag.multiple ? [] : undefined)
    .argParser<string | string[] | undefined>((text, before) => {
      const value = checkValue(name, flag, text);
      // The last one would hide the others.
      if (!flag.multiple && before !== undefined)
        throw new UsageError("PP5002", `--${name} is given twice: it takes one value`);
      return flag.multiple ? [...(Array.isArray(before) ? before : []), value] : value;
    });
}

/** How wide a help text is at most. */
const HELP_WIDTH = 100;

/** Creates a parser that neither prints nor exits. */
function createParser(
  command: string,
  flags: Flags,
  width: number,
): { parser: Command; options: [string, Option][] } {
  const options = Object.entries(flags).map(([name, flag]): [string, Option] => [
    name,
    createOption(name, flag),
  ]);
  const parser = new Command(command)
    .helpOption(false)
    .exitOverride()
    .allowExcessArguments()
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined, getOutHelpWidth: () => width })
    .configureHelp({
      optionTerm: ({ flags: term, long }) =>
        term.replace("[value]", placeholder(flags[long?.slice(2) ?? ""] ?? { type: "string", help: "" })),
      optionDescription: ({ description }) => description,
    });
  for (const [, option] of options) parser.addOption(option);
  return { parser, options };
}

/** Rewrites the error of the parser, which is an option that it does not know: names the flag, and what to write. */
function usageError(error: CommanderError, command: string, flags: Flags): UsageError {
  const see = `see ${ownCommand()} ${command} --help`;
  const [, message = "", suggestion] =
    /^error: ([^\n]*)(?:\n\(Did you mean (.*)\?\))?$/.exec(error.message) ?? [];
  const [, option = ""] = /'(--?[^']*)'/.exec(message) ?? [];
  const name = /^--([^= ]+)/.exec(option)?.[1] ?? "";
  const flag = Object.hasOwn(flags, name) ? flags[name] : undefined;
  if (flag?.type === "boolean")
    return new UsageError("PP5002", `--${name} takes no value: write --${name}; ${see}`);
  const hint = suggestion === undefined ? "" : ` (did you mean ${suggestion}?)`;
  return new UsageError("PP5001", `unknown option ${printable(option, 80)}${hint}; ${see}`);
}

/**
 * Parses a command's arguments.
 *
 * @param command its name, for messages.
 * @throws UsageError that names the flag, in one line.
 */
export function parseFlags<F extends Flags>(command: string, flags: F, argv: readonly string[]): Parsed<F> {
  const { parser, options } = createParser(command, flags, HELP_WIDTH);
  try {
    parser.parse(argv, { from: "user" });
  } catch (error) {
    throw error instanceof CommanderError ? usageError(error, command, flags) : error;
  }
  const parsed = parser.opts<Record<string, unknown>>();
  const values = options.map(([name, option]) => [name, parsed[option.attributeName()]] as const);
  return { values: Object.fromEntries(values) as Values<F>, positionals: parser.args };
}

/** The words of a command line that gives these values. */
export const printFlags = (flags: Flags, values: Readonly<Record<string, unknown>>): string[] =>
  Object.keys(flags).flatMap((name) =>
    [values[name]].flat().flatMap((value) => {
      if (value === true) return [`--${name}`];
      if (typeof value !== "string") return [];
      return /^-./.test(value) ? [`--${name}=${value}`] : [`--${name}`, value];
    }),
  );

/** Text in lines of at most this width. */
export function wrapText(text: string, width = HELP_WIDTH): string {
  return wrapped(text, "", Math.min(width, HELP_WIDTH));
}

/** The options of a help text. @param width of a line at most. */
export function describeFlags(flags: Flags, width = HELP_WIDTH): string {
  const help = createParser("command", flags, Math.min(width, HELP_WIDTH)).parser.helpInformation();
  return help.slice(help.indexOf("Options:")).trimEnd();
}
