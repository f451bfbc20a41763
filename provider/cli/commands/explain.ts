import { printable } from "../../api/errors";
import { findRule, rules } from "../../access/rules";
import {
  explainAsMarkdown,
  explainAsText,
  explanationOf,
  listAsMarkdown,
  listAsText,
} from "../../access/rules/explain";
import { didYouMean } from "../../engine/checks/suggestions";
import { exitCodes, UsageError } from "../framework/exitCodes";
import { defineCommand } from "../framework/defineCommand";
import { writeResults } from "../output/writeFiles";
import type { Flags, Parsed } from "../framework/flags";
import { outputFlag, readDestinations } from "../framework/options";

const forms = ["text", "json", "md"] as const;

const flags = { output: outputFlag(forms) } as const satisfies Flags;

function resolveRule(text: string): (typeof rules)[number] {
  const rule = findRule(text);
  if (rule !== undefined) return rule;
  const names = rules.flatMap(({ id, name }) => [id, name]);
  const isId = /^[a-z]{1,2}\d{1,3}$/i.test(text);
  const family = rules.filter(({ id }) => id.charAt(0) === text.charAt(0).toUpperCase()).map(({ id }) => id);
  const suggestion = isId
    ? family.length > 0
      ? family.join(", ")
      : undefined
    : didYouMean(text.toLowerCase(), names);
  const hint =
    suggestion === undefined ? "pulumi-platform explain lists them all" : `did you mean ${suggestion}?`;
  throw new UsageError(`unknown rule ${JSON.stringify(printable(text, 60))}; ${hint}`);
}

export const command = defineCommand(
  {
    name: "explain",
    usage: ["[RULE …] [options]"],
    about:
      "Explains what a rule finds, why, how to fix it and how to make an exception. Without a rule: all of them, a " +
      "line each. A rule is named by its id (G1) or its name (owner-grant).",
    arguments: ["RULE"],
    flags,
    exitCodes: ["clean", "error", "usage"],
  },
  explainRules,
);
export const { main } = command;

/** @throws UsageError for an unknown rule. */
function explainRules({ values, positionals }: Parsed<typeof flags>): Promise<number> {
  const requested = positionals.map(resolveRule);
  const explained = requested.length === 0 ? rules : requested;
  writeResults(readDestinations(values.output, forms, "text"), {
    text: () => `${requested.length === 0 ? listAsText() : requested.map(explainAsText).join("\n\n\n")}\n`,
    md: () =>
      `${requested.length === 0 ? listAsMarkdown() : requested.map(explainAsMarkdown).join("\n\n")}\n`,
    json: () => `${JSON.stringify({ schemaVersion: 1, rules: explained.map(explanationOf) }, null, 2)}\n`,
  });
  return Promise.resolve(exitCodes.clean);
}
