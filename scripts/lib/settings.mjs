// @ts-check
import { code, table } from "./reference/markdown.mjs";

/** @typedef {import("../../provider/settings/definitions.js").SettingDefinition} Definition */

const SETTINGS = "<!-- every setting: written by npm run docs -->";
const VARIABLES = "<!-- every variable of others: written by npm run docs -->";
const END = "<!-- end -->";

/**
 * Replaces what stands between a comment and the next end.
 * @param {string} page @param {string} start @param {string} text
 */
function replacePart(page, start, text) {
  const [before, rest] = page.split(start);
  if (before === undefined || rest === undefined) throw new Error(`the page lacks ${start}`);
  return `${before}${start}\n\n${text}\n\n${rest.slice(rest.indexOf(END))}`;
}

/** @param {Definition} definition */
function defaultOf({ fallback }) {
  if (fallback === undefined) return "";
  // A default with blanks describes how it is derived.
  return /\s/.test(String(fallback)) ? String(fallback) : code(String(fallback));
}

/** @param {Definition} definition */
function formatSetting(definition) {
  const { key, variable, type, min, max, isSecret, text } = definition;
  return [
    key ? code(`platform:${key}`) : "",
    variable ? code(variable) : "",
    min === undefined ? type : `${type}, ${min} to ${max}`,
    defaultOf(definition),
    isSecret ? "yes" : "",
    text,
  ];
}

/**
 * A page with its tables of settings and of other variables brought up to date.
 * @param {string} page
 * @param {Readonly<Record<string, Definition>>} definitions
 * @param {Readonly<Record<string, import("../../provider/settings/environment.js").HostVariable>>} variables
 */
export function withSettings(page, definitions, variables) {
  const settingsTable = table(
    ["Stack configuration", "Environment", "Type", "Default", "Secret", "Meaning"],
    Object.values(definitions).map(formatSetting),
  );
  const rows = Object.entries(variables).map(([name, { of, text }]) => [code(name), of, text]);
  const variablesTable = table(["Variable", "Set by", "What it is read for"], rows);
  return replacePart(replacePart(page, SETTINGS, settingsTable), VARIABLES, variablesTable);
}
