// @ts-check
import { code, table } from "./reference/markdown.mjs";

/** @typedef {import("../../provider/settings/definitions.js").SettingDefinition} Definition */

const START = "<!-- every setting: written by npm run docs -->";
const END = "<!-- end -->";

/** @param {Definition} definition */
function defaultOf({ fallback }) {
  if (fallback === undefined) return "";
  // A default with blanks describes how it is derived.
  return /\s/.test(String(fallback)) ? String(fallback) : code(String(fallback));
}

/** @param {Definition} definition */
function rowOf(definition) {
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
 * A page with its table of settings brought up to date.
 * @param {string} page
 * @param {Readonly<Record<string, Definition>>} definitions
 */
export function withSettings(page, definitions) {
  const head = ["Stack configuration", "Environment", "Type", "Default", "Secret", "Meaning"];
  const [before = "", rest = ""] = page.split(START);
  const after = rest.slice(rest.indexOf(END) + END.length);
  return `${before}${START}\n\n${table(head, Object.values(definitions).map(rowOf))}\n\n${END}${after}`;
}
