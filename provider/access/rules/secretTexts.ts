import type { Json, Props } from "../../fields/values";
import { isObject } from "../../fields/values";
import { SECRET_MASK } from "../documents/engineState";
import { specs } from "../documents/specs";
import type { Entity } from "../graph/model";
import { isReference, mapLeaves, topProperty } from "../graph/references";
import { isUnread, reasonOf } from "../graph/unread";
import type { ResourceChange } from "../review/comparison";
import type { Severity } from "../review/finding";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { labelEntity, listFirst } from "./wording";

/*
 * A secret that one resource has, such as the code of an invite, in an argument of another one that is no secret: everybody
 * who may read that object reads it. The preview tells from which resources an argument comes, and not from which of their
 * properties.
 */

/** A run of characters as long as the shortest secret of the platform, whatever it is encoded in. */
const SECRET_LIKE = /[\w.~+/=-]{16,}/;

/** The texts inside a value. */
function textsOf(value: Json | undefined): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isObject(value) ? Object.values(value).flatMap(textsOf) : [];
}

/** What a resource shows of itself that is no secret: a text made of it tells nothing. */
function shownTexts(sources: readonly (Entity | undefined)[]): string[] {
  const texts = sources.flatMap((source) =>
    source === undefined
      ? []
      : [source.uid ?? "", ...textsOf(source.inputs), ...textsOf(source.details)].filter(
          (text) => text.length > 3 && text !== SECRET_MASK && !isUnread(text),
        ),
  );
  // A text may contain another one.
  return [...new Set(texts)].sort((a, b) => b.length - a.length);
}

/** Whether what is left of a plain text can be a secret of its source. Without anything of the source it is taken for one. */
function mayBeSecret(text: string, shown: readonly string[]): boolean {
  const isExplained = shown.some((each) => text.includes(each));
  const rest = shown.reduce((left, each) => left.replaceAll(each, " "), text);
  return rest.trim() !== "" && (!isExplained || SECRET_LIKE.test(rest));
}

interface SecretText {
  readonly path: string;
  readonly severity: Severity;
  readonly how: string;
  readonly sources: readonly (Entity | undefined)[];
}

/** How bad it is to have a value there; undefined where it is no secret of its sources. */
function judgeText(
  value: Json | undefined,
  shown: readonly string[],
): Pick<SecretText, "severity" | "how"> | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  if (!isUnread(value)) {
    return mayBeSecret(value, shown)
      ? { severity: "high", how: "may hold a secret in plain text" }
      : undefined;
  }
  const reason = reasonOf(value);
  if (reason === "secret") return { severity: "high", how: "takes over a secret" };
  return reason === "unknown" ? { severity: "medium", how: "may take over a secret" } : undefined;
}

function secretTextsOf(
  facts: Facts,
  { op, before, after, secretsMayHaveChanged }: ResourceChange,
): SecretText[] {
  const { secretSources } = after ?? {};
  const spec = specs[after?.kind ?? ""];
  if (after === undefined || secretSources === undefined || spec === undefined) return [];
  if (op !== "create" && op !== "update" && op !== "replace") return [];
  const found: SecretText[] = [];
  const old: Props = op === "update" ? (before?.inputs ?? {}) : {};
  const isKept = (property: string): boolean => {
    const wasSecret = before?.secretPaths.some((path) => topProperty(path) === property) === true;
    if (op === "update" && wasSecret) {
      return !secretsMayHaveChanged.some((path) => topProperty(path) === property);
    }
    return JSON.stringify(old[property]) === JSON.stringify(after.inputs[property]);
  };
  mapLeaves(spec, after.inputs, (value, { path, property, field, decidesAccess }) => {
    const keys = secretSources[property] ?? [];
    // X3 reports what decides access and was not read.
    const isOther = field.secret === true || isReference({ field }) || (decidesAccess && isUnread(value));
    if (keys.length === 0 || isOther || isKept(property)) return value;
    const sources = keys.flatMap((key) => [
      facts.comparison.before.entities.get(key),
      facts.comparison.after.entities.get(key),
    ]);
    const judged = judgeText(value, shownTexts(sources));
    if (judged !== undefined) found.push({ ...judged, path, sources });
    return value;
  });
  return found;
}

const labelsOf = (sources: SecretText["sources"]): string[] => [
  ...new Set(sources.flatMap((source) => (source === undefined ? [] : [labelEntity(source)]))),
];

/** Secrets of other resources in arguments that everybody reads who may list the object. */
export function findSecretTexts(facts: Facts): FindingInput[] {
  return facts.comparison.changes.flatMap((change) => {
    const { after } = change;
    if (after === undefined) return [];
    return secretTextsOf(facts, change).map(({ path, severity, how, sources }) =>
      facts.aboutEntity(after, {
        severity,
        field: path,
        message: `${path} of ${labelEntity(after)} ${how} of ${listFirst(labelsOf(sources), 3)}, and whoever may read the object reads it`,
        advice:
          severity === "medium"
            ? "apply what it comes from first, in a separate change, so that the preview shows the value"
            : "take the secret out, and rotate it if it was ever written there",
      }),
    );
  });
}
