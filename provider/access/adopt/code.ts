import { CodedError } from "../../errors/codedError";
import type { Json } from "../../fields/values";
import { escapeUnits, replaceInvisible } from "../../text/printable";

/**
 * A small syntax tree of a program and its printer: two spaces, double quotes, a line for each member of an object. No node
 * contains code as a string, so no name or value can end its own literal.
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

/** An object that is printed on one line. */
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

/** A longer list has a line for each item. */
const LONGEST_LIST = 80;

/** The beginning of a command to a CI runner, which would run it where the code is logged. */
const RUNNER_COMMAND = /##(?=[\w.-]*\[)/g;

/** A string literal: invisible characters are escaped, and the quotes are those that need fewer escapes. */
export function printLiteral(text: string): string {
  const unquoted = JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"');
  const body = replaceInvisible(unquoted, escapeUnits).replace(RUNNER_COMMAND, "#\\u0023");
  const doubles = body.split('"').length;
  const singles = body.split("'").length;
  return doubles > singles ? `'${body.replaceAll("'", "\\'")}'` : `"${body.replaceAll('"', '\\"')}"`;
}

/** A key of an object; in quotes where it is no identifier. A plain `__proto__` would set the prototype. */
export function printKey(key: string): string {
  if (key === "__proto__") return '["__proto__"]';
  return IDENTIFIER.test(key) ? key : printLiteral(key);
}

/** An expression as code. @param indent blanks before the line on which it begins. */
function print(value: CodeValue, indent = 0): string {
  if (value instanceof VariableReference) return value.text;
  if (value instanceof CallExpression) {
    const args = value.args.map((argument) => print(argument, indent));
    return `${value.isNew ? "new " : ""}${value.callee.text}(${args.join(", ")})`;
  }
  if (typeof value === "string") return printLiteral(value);
  if (value === null || typeof value !== "object") return String(value);
  const end = `\n${" ".repeat(indent)}`;
  if (Array.isArray(value)) {
    const items = value.map((item) => print(item, indent + 2));
    const line = `[${items.join(", ")}]`;
    if (line.length <= LONGEST_LIST && !line.includes("\n")) return line;
    return `[${items.map((item) => `${end}  ${item},`).join("")}${end}]`;
  }
  if (value instanceof CompactObject) {
    const members = Object.entries(value.members);
    return `{ ${members.map(([key, member]) => `${printKey(key)}: ${print(member, indent)}`).join(", ")} }`;
  }
  const lines = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [printProperty(key, member, indent + 2)],
  );
  return lines.length === 0 ? "{}" : `{\n${lines.join("\n")}${end}}`;
}

/** One property of an object with its indentation and comma. */
export function printProperty(key: string, value: CodeValue, indent: number): string {
  return `${" ".repeat(indent)}${printKey(key)}: ${print(value, indent)},`;
}

/** An expression as a statement. */
export const printStatement = (value: CodeValue): string => `${print(value)};`;

/** `const name = value;` */
export const printDeclaration = (name: string, value: CodeValue, isExported = false): string =>
  `${isExported ? "export " : ""}const ${identifier(name)} = ${print(value)};`;

/** The import of names of a module. */
export const printNamedImport = (names: readonly string[], module: string): string =>
  `import { ${names.map(identifier).join(", ")} } from ${printLiteral(module)};`;

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
