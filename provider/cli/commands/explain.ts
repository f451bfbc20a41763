import { readFileSync } from "node:fs";
import { join } from "node:path";
import { errorCodes } from "../../errors/registry";
import type { ErrorCode } from "../../errors/registry";
import { printable } from "../../text/printable";
import { findRule, rules } from "../../access/rules";
import type { Rule } from "../../access/rules";
import {
  explainAsMarkdown,
  explainAsText,
  explainRule,
  listAsMarkdown,
  listAsText,
} from "../../access/rules/explain";
import { loadRules } from "../../access/rules/ownRules";
import { wrapped } from "../../text/plain";
import { didYouMean } from "../../text/suggestions";
import { exitCodes, UsageError } from "../framework/exitCodes";
import { defineCommand } from "../framework/defineCommand";
import { writeResults } from "../output/writeFiles";
import type { Flags, Parsed } from "../framework/flags";
import { outputFlag, readDestinations } from "../framework/options";
import { ownCommand } from "../input/packageManager";
import { installedFolder } from "../output/packageSource";

const forms = ["text", "json", "md"] as const;

const flags = {
  rules: { type: "string", value: "FILE", help: "rules of your own, in the list and by their ids and names" },
  output: outputFlag(forms),
} as const satisfies Flags;

/** What a word names: a rule, or the code of an error. */
type Topic = { readonly rule: Rule } | { readonly code: ErrorCode };

function resolve(text: string, all: readonly Rule[]): Topic {
  const rule = findRule(text, all);
  if (rule !== undefined) return { rule };
  // Messages have it in brackets.
  const code = text.replace(/^\((.*)\)$/, "$1").toUpperCase();
  if (Object.hasOwn(errorCodes, code)) return { code: code as ErrorCode };
  const nearest = didYouMean(text.toUpperCase(), [...all.map(({ id }) => id), ...Object.keys(errorCodes)]);
  const meant =
    didYouMean(
      text.toLowerCase(),
      all.map(({ name }) => name),
    ) ?? nearest;
  const hint =
    meant === undefined
      ? `${ownCommand()} explain lists all rules, with --rules FILE those of your own, and docs/troubleshooting.md all codes`
      : `did you mean ${meant}?`;
  throw new UsageError("PP5008", `unknown rule or code ${JSON.stringify(printable(text, 60))}; ${hint}`);
}

export const command = defineCommand(
  {
    name: "explain",
    usage: ["[RULE|CODE …] [options]"],
    about:
      "Explains what a rule finds, why, how to fix it and how to make an exception; and what the code of an error " +
      "(PP3403) means, how to see why and what to do. Without an argument: all rules, a line each. A rule is named " +
      "by its id (G1) or its name (owner-grant); --rules adds rules of your own.",
    arguments: ["RULE"],
    flags,
    exitCodes: ["clean", "error", "usage"],
  },
  explainTopics,
);
export const { main } = command;

/** What docs/troubleshooting.md says of a code. */
function codeAsMarkdown(code: ErrorCode): string {
  const page = readFileSync(join(installedFolder(), "docs/troubleshooting.md"), "utf8");
  const parts = page.split(/^(?=##)/m);
  return (parts.find((part) => part.startsWith(`### ${code}\n`)) ?? "").trimEnd();
}

/** Links to other pages, as a terminal shows them. */
const plainLinks = (text: string): string =>
  text
    .replace(/\[([^\][]*)\]\(#[^()]*\)/g, "$1")
    .replace(/\[([^\][]*)\]\(([^()#]*)(?:#[^()]*)?\)/g, "$1 (docs/$2)")
    .replaceAll("`", "");

/** The same as data. */
function explanationOfCode(code: ErrorCode) {
  const [, meaning = "", look = "", fix = ""] =
    /^\*\*.*?\.\*\* (.*)\n\n- \*\*How to see why:\*\* (.*)\n- \*\*What to do:\*\* (.*)$/m
      .exec(codeAsMarkdown(code))
      ?.map(plainLinks) ?? [];
  return { code, title: errorCodes[code], meaning, look, fix };
}

function codeAsText(code: ErrorCode): string {
  const { title, meaning, look, fix } = explanationOfCode(code);
  return [
    `${code}  ${title}`,
    `What it means\n${wrapped(meaning, "  ")}`,
    `How to see why\n${wrapped(look, "  ")}`,
    `What to do\n${wrapped(fix, "  ")}`,
  ].join("\n\n");
}

const topicAsText = (subject: Topic): string =>
  "rule" in subject ? explainAsText(subject.rule) : codeAsText(subject.code);

const markdownOf = (subject: Topic): string =>
  "rule" in subject ? explainAsMarkdown(subject.rule) : codeAsMarkdown(subject.code);

function asJson(subjects: readonly Topic[]): object {
  const codes = subjects.flatMap((subject) => ("code" in subject ? explanationOfCode(subject.code) : []));
  const explained = subjects.flatMap((subject) => ("rule" in subject ? explainRule(subject.rule) : []));
  return { schemaVersion: 1, rules: explained, ...(codes.length === 0 ? {} : { codes }) };
}

/** @throws UsageError for an unknown rule or code. */
function explainTopics({ values, positionals }: Parsed<typeof flags>): Promise<number> {
  const all = values.rules === undefined ? rules : [...rules, ...loadRules(values.rules)];
  const subjects = positionals.map((text) => resolve(text, all));
  const isList = subjects.length === 0;
  writeResults(readDestinations(values.output, forms), {
    text: () => `${isList ? listAsText(all) : subjects.map(topicAsText).join("\n\n\n")}\n`,
    md: () => `${isList ? listAsMarkdown(all) : subjects.map(markdownOf).join("\n\n")}\n`,
    json: () => `${JSON.stringify(asJson(isList ? all.map((rule) => ({ rule })) : subjects), null, 2)}\n`,
  });
  return Promise.resolve(exitCodes.clean);
}
