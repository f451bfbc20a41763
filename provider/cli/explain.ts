import { writeFileSync } from "node:fs";
import { printable } from "../api/errors";
import { findRule, rules } from "../access/rules";
import {
  explainAsMarkdown,
  explainAsText,
  explanationOf,
  listAsMarkdown,
  listAsText,
} from "../access/explain";
import { didYouMean } from "../engine/check";
import { exitCodes, UsageError } from "./command";
import { describeFlags, parseFlags, readDestinations } from "./options";

const forms = ["text", "json", "md"] as const;

const flags = {
  output: {
    type: "string",
    short: "o",
    multiple: true,
    value: "FORMAT[=PATH]",
    help: `${forms.join(", ")}; to a file, or to stdout; default text`,
  },
  help: { type: "boolean", short: "h", help: "show this text" },
} as const;

const usage = `Usage: pulumi-platform explain [RULE …] [options]

What a rule finds, why, how to fix it and how to except it. Without a rule: all of
them, a line each. A rule is named by its id (G1) or its name (owner-grant).

Options:
${describeFlags(flags)}`;

function ruleOf(text: string): (typeof rules)[number] {
  const rule = findRule(text);
  if (rule !== undefined) return rule;
  const names = rules.flatMap(({ id, name }) => [id, name]);
  const isId = /^[a-z]{1,2}\d{1,3}$/i.test(text);
  const family = rules.filter(({ id }) => id.charAt(0) === text.charAt(0).toUpperCase()).map(({ id }) => id);
  const meant = isId
    ? family.length > 0
      ? family.join(", ")
      : undefined
    : didYouMean(text.toLowerCase(), names);
  const hint = meant === undefined ? "pulumi-platform explain lists them all" : `did you mean ${meant}?`;
  throw new UsageError(`there is no rule ${JSON.stringify(printable(text, 60))}; ${hint}`);
}

/**
 * `pulumi-platform explain [RULE …]`.
 * @returns The exit code.
 * @throws UsageError for a rule that there is not, and for wrong flags.
 */
export function explain(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags("explain", flags, argv);
  if (values.help) {
    console.log(usage);
    return Promise.resolve(exitCodes.clean);
  }
  const asked = positionals.map(ruleOf);
  const written = {
    text: () => (asked.length === 0 ? listAsText() : asked.map(explainAsText).join("\n\n\n")),
    md: () => (asked.length === 0 ? listAsMarkdown() : asked.map(explainAsMarkdown).join("\n\n")),
    json: () =>
      JSON.stringify(
        { schemaVersion: 1, rules: (asked.length === 0 ? rules : asked).map(explanationOf) },
        null,
        2,
      ),
  };
  for (const { format, path } of readDestinations(values.output, forms, "text")) {
    const text = written[format]();
    if (path === undefined) {
      console.log(text);
      continue;
    }
    try {
      writeFileSync(path, `${text}\n`);
    } catch (error) {
      const { code = "failed" } = error as { code?: string };
      throw new Error(`cannot write ${printable(path, 200)}: ${code}`, { cause: error });
    }
  }
  return Promise.resolve(exitCodes.clean);
}
