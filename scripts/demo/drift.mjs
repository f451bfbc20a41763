// @ts-check
import { isDeepStrictEqual } from "node:util";

/**
 * @typedef {object} Difference One property that is not as it was left.
 * @property {string} path Dots into objects.
 * @property {unknown} from Undefined: was not set.
 * @property {unknown} to Undefined: is not set any more.
 *
 * @typedef {object} Drift
 * @property {string} id
 * @property {string} kind
 * @property {string} name
 * @property {boolean} gone
 * @property {Difference[]} differences
 * @property {string} plan What the next update would do with the resource.
 *
 * @typedef {object} Digest What `pulumi preview --json` prints.
 * @property {{ op: string, urn: string, oldState?: StateRow, newState?: StateRow }[]} steps
 *
 * @typedef {{ id?: string, inputs?: Record<string, unknown> }} StateRow
 */

/**
 * What changed at the server since the last update. In the digest of a preview with refresh, the step
 * `refresh` holds the recorded inputs; the step of the update after it holds the actual ones, or none where
 * the resource is gone.
 * @param {Digest} digest
 * @returns {Drift[]}
 */
export function driftIn({ steps }) {
  const later = new Map(steps.filter(({ op }) => op !== "refresh").map((step) => [step.urn, step]));
  return steps
    .filter(({ op, urn }) => op === "refresh" && !urn.includes("::pulumi:pulumi:Stack::"))
    .map(({ urn, oldState }) => {
      const next = later.get(urn);
      const actual = next?.oldState;
      return {
        id: oldState?.id ?? "",
        kind: /:(\w+)::[^:]*$/.exec(urn)?.[1] ?? "",
        name: urn.slice(urn.lastIndexOf("::") + 2),
        gone: actual === undefined,
        differences: actual === undefined ? [] : differences(oldState?.inputs, actual.inputs),
        plan: next?.op ?? "none",
      };
    })
    .filter(({ gone, differences: found, plan }) => gone || found.length > 0 || plan !== "same");
}

/**
 * @param {unknown} from
 * @param {unknown} to
 * @returns {Difference[]}
 */
export function differences(from, to, path = "") {
  if (isDeepStrictEqual(from, to)) return [];
  if (!isObject(from) || !isObject(to)) return [{ path, from, to }];
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
  return keys.flatMap((key) => differences(from[key], to[key], path === "" ? key : `${path}.${key}`));
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
