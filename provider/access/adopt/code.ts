import { CodedError } from "../../errors/codedError";
import type { Json } from "../../fields/values";
import { columnsOf } from "../../text/plain";
import { replaceInvisible } from "../../text/printable";

/**
 * A small syntax tree of a program and its printer, in Prettier's default form: 80 columns, two spaces, double quotes. No
 * node contains code as a string, so no name or value can end its own literal.
 */

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

function identifier(name: string): string {
  if (!IDENTIFIER.test(name)) throw new CodedError("PP9001", `${JSON.stringify(name)} is not an identifier`);
  return name;
}

/** A name of the program, or a member of one: `team`, `team.id`. */
export class VariableReference {
  readonly text: string;

  constructor(...names: readonly string[]) {
    this.text = names.map(identifier).join(".");
  }
}

/** `callee(args)`; with `isNew` an instance of a class. */
export class CallExpression {
  constructor(
    readonly callee: VariableReference,
    readonly args: readonly CodeValue[],
    readonly isNew = false,
  ) {}
}

/** An object that is printed on one line if that is short enough, otherwise with a line for each member. */
export class CompactObject {
  constructor(readonly members: Readonly<Record<string, CodeValue>>) {}
}

/** An expression of a program: JSON, with references and calls in it. */
export type CodeValue =
  | Json
  | VariableReference
  | CallExpression
  | CompactObject
  | readonly CodeValue[]
  | { readonly [key: string]: CodeValue | undefined };

const WIDTH = 80;

function escapeUnit(text: string): string {
  return Array.from(
    { length: text.length },
    (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
}

/** The beginning of a command to a CI runner, which would run it where the code is logged. */
const RUNNER_COMMAND = /##(?=[\w.-]*\[)/g;

/** A string literal: invisible characters are escaped, and the quotes are those that need fewer escapes. */
export function printLiteral(text: string): string {
  const unquoted = JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"');
  const body = replaceInvisible(unquoted, escapeUnit).replace(RUNNER_COMMAND, "#\\u0023");
  const doubles = body.split('"').length;
  const singles = body.split("'").length;
  return doubles > singles ? `'${body.replaceAll("'", "\\'")}'` : `"${body.replaceAll('"', '\\"')}"`;
}

/** A key of an object; in quotes where it is no identifier. A plain `__proto__` would set the prototype. */
export function printKey(key: string): string {
  if (key === "__proto__") return '["__proto__"]';
  return IDENTIFIER.test(key) ? key : printLiteral(key);
}

type ObjectMembers = readonly (readonly [string, CodeValue])[];

/** The members of an object; undefined for any other value. */
function readMembers(value: CodeValue): ObjectMembers | undefined {
  if (value instanceof CompactObject) return Object.entries(value.members);
  if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
  if (value instanceof VariableReference || value instanceof CallExpression) return undefined;
  return Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [[key, member] as const],
  );
}

function printCallee({ callee, isNew }: CallExpression): string {
  return `${isNew ? "new " : ""}${callee.text}(`;
}

/** Values on one line; undefined where one of them needs several lines. */
function printFlatList(values: readonly CodeValue[]): string | undefined {
  const texts = values.map(printFlat);
  return texts.includes(undefined) ? undefined : texts.join(", ");
}

/** A value on one line; undefined where it needs several lines, as objects do unless they are empty or compact. */
function printFlat(value: CodeValue): string | undefined {
  if (value instanceof VariableReference) return value.text;
  if (typeof value === "string") return printLiteral(value);
  if (Object.is(value, -0)) return "-0";
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) {
    const items = printFlatList(value);
    return items === undefined ? undefined : `[${items}]`;
  }
  if (value instanceof CallExpression) {
    const args = printFlatList(value.args);
    return args === undefined ? undefined : `${printCallee(value)}${args})`;
  }
  const members = readMembers(value) ?? [];
  if (members.length === 0) return "{}";
  const texts = members.map(([, member]) => printFlat(member));
  if (!(value instanceof CompactObject) || texts.includes(undefined)) return undefined;
  return `{ ${members.map(([key], index) => `${printKey(key)}: ${texts[index] ?? ""}`).join(", ")} }`;
}

function isBreakable(value: CodeValue): boolean {
  return Array.isArray(value) || value instanceof CallExpression || value instanceof CompactObject;
}

/**
 * An expression as code.
 *
 * @param indent blanks before the line on which it begins.
 * @param used columns that stand on this line before it, the indentation included.
 * @param after columns that follow on its last line.
 */
function printValue(value: CodeValue, indent: number, used: number, after = 1): string {
  const line = printFlat(value);
  if (line !== undefined && (!isBreakable(value) || used + columnsOf(line) + after <= WIDTH)) return line;
  if (value instanceof CallExpression) return printCall(value, indent, used);
  if (Array.isArray(value)) return `[${printLines(value, indent)}]`;
  const members = readMembers(value) ?? [];
  const lines = members.map(([key, member]) => printProperty(key, member, indent + 2));
  return `{\n${lines.join("\n")}\n${" ".repeat(indent)}}`;
}

/** Values with a line for each, between brackets. */
function printLines(values: readonly CodeValue[], indent: number): string {
  const inner = " ".repeat(indent + 2);
  const lines = values.map((value) => `${inner}${printValue(value, indent + 2, indent + 2)},`);
  return `\n${lines.join("\n")}\n${" ".repeat(indent)}`;
}

/** A call that needs several lines: its last argument where that can open on the first line, else a line for each. */
function printCall(call: CallExpression, indent: number, used: number): string {
  const head = printCallee(call);
  const last = call.args.at(-1);
  const leadingArgs = call.args.slice(0, -1).map(printFlat);
  if (last !== undefined && canOpen(last) && !leadingArgs.includes(undefined)) {
    const start = `${head}${leadingArgs.map((argument) => `${argument ?? ""}, `).join("")}`;
    const lastText = printValue(last, indent, used + columnsOf(start), WIDTH);
    const [opening = ""] = lastText.split("\n");
    if (used + columnsOf(start + opening) <= WIDTH) return `${start}${lastText})`;
  }
  return `${head}${printLines(call.args, indent)})`;
}

/** Whether a value can begin on the line of its call and end on that of its closing bracket. */
function canOpen(value: CodeValue): boolean {
  if (value instanceof CallExpression) return value.args.length > 0 && canOpen(value.args.at(-1) ?? null);
  return readMembers(value) !== undefined;
}

/** One property of an object with its indentation and comma; a text that is too long gets a line of its own. */
export function printProperty(key: string, value: CodeValue, indent: number): string {
  const head = `${" ".repeat(indent)}${printKey(key)}:`;
  const used = columnsOf(head) + 1;
  if (typeof value === "string" && used + columnsOf(printLiteral(value)) + 1 > WIDTH) {
    return `${head}\n${" ".repeat(indent + 2)}${printLiteral(value)},`;
  }
  return `${head} ${printValue(value, indent, used)},`;
}

/** An expression as a statement. */
export function printStatement(value: CodeValue): string {
  return `${printValue(value, 0, 0)};`;
}

/** A call as a statement whose last argument begins on the first line, however long the uids before it are. */
export function printOpenStatement(call: CallExpression): string {
  return `${printValue(call, 0, Number.NEGATIVE_INFINITY)};`;
}

/** `const name = value;`; a text that is too long gets a line of its own. */
export function printDeclaration(name: string, value: CodeValue, isExported = false): string {
  const head = `${isExported ? "export " : ""}const ${identifier(name)} =`;
  const line = printFlat(value);
  const isTooLong = line === undefined || columnsOf(`${head} ${line};`) > WIDTH;
  if (isTooLong && typeof value === "string") return `${head}\n  ${printLiteral(value)};`;
  return `${head} ${printValue(value, 0, head.length + 1)};`;
}

/** The import of names of a module. */
export function printNamedImport(names: readonly string[], module: string): string {
  const from = `from ${printLiteral(module)};`;
  const line = `import { ${names.map(identifier).join(", ")} } ${from}`;
  if (line.length <= WIDTH) return line;
  return `import {\n${names.map((name) => `  ${name},\n`).join("")}} ${from}`;
}

/** The import of what a module does. */
export const printBareImport = (module: string): string => `import ${printLiteral(module)};`;

/** The names of variables that a value refers to. */
export function variablesIn(value: CodeValue | undefined): string[] {
  if (value instanceof VariableReference) return [value.text.split(".")[0] ?? ""];
  if (value instanceof CallExpression) return [value.callee, ...value.args].flatMap(variablesIn);
  if (value instanceof CompactObject) return variablesIn(value.members);
  if (Array.isArray(value)) return value.flatMap(variablesIn);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(variablesIn) : [];
}

/** The import of a whole module. */
export function printNamespaceImport(name: string, module: string): string {
  return `import * as ${identifier(name)} from ${printLiteral(module)};`;
}
