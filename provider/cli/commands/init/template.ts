import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../../../errors/codedError";

/** What stands in a template for its names: a text, a text for each copy of the line, or a condition. */
export type TemplateValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

const PLACEHOLDER = /«(\w+)»/g;

function fillLine(line: string, values: TemplateValues): string[] {
  const [, first = ""] = /«(\w+)»/.exec(line) ?? [];
  const list = values[first];
  if (typeof list === "object") return list.flatMap((one) => fillLine(line, { ...values, [first]: one }));
  const filled = line.replace(PLACEHOLDER, (_, name: string) => {
    const value = values[name];
    if (typeof value !== "string") throw new CodedError("PP9001", `a template has no value for ${name}`);
    return value;
  });
  return [filled];
}

/**
 * Fills a template of the folder templates/init. «name» is replaced by a value. A line with a list is repeated for each of
 * its values. What stands between `#if name` or `#if !name` and `#end` is kept or left out.
 */
export function fillTemplate(packageRoot: string, name: string, values: TemplateValues): string {
  const isSet = (condition: string): boolean => {
    const value = values[condition];
    return Array.isArray(value) ? value.length > 0 : Boolean(value);
  };
  const open: boolean[] = [];
  const lines = readFileSync(join(packageRoot, "templates", "init", name), "utf8").split("\n");
  const filled = lines.flatMap((line) => {
    const [, not, condition] = /^#if (!?)(\w+)$/.exec(line) ?? [];
    if (condition !== undefined) open.push(isSet(condition) !== (not === "!"));
    else if (line === "#end") open.pop();
    else if (!open.includes(false)) return fillLine(line, values);
    return [];
  });
  return filled.join("\n");
}
