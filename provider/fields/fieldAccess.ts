import { ownEffect, innerFields } from "./fieldSpec";
import type { AccessEffect, FieldSpec } from "./fieldSpec";

/** The effect of a field inside one with the effect `inherited`; `none` where its description says why it is harmless. */
export function effectOf(
  field: FieldSpec,
  inherited: AccessEffect | "none" = "other",
): AccessEffect | "none" {
  if (field.harmless !== undefined) return "none";
  return inherited === "none" ? "none" : (ownEffect(field) ?? inherited);
}

function hasEffect(
  field: FieldSpec,
  inherited: AccessEffect | "none",
  condition: (effect: AccessEffect | "none") => boolean,
): boolean {
  const effect = effectOf(field, inherited);
  if (field.type !== "object" && condition(effect)) return true;
  return innerFields(field).some((each) => hasEffect(each, effect, condition));
}

/** Whether a field, or one inside it, decides who may do what. */
export function decidesAccess(field: FieldSpec, inherited: AccessEffect | "none" = "other"): boolean {
  return hasEffect(field, inherited, (effect) => effect !== "none" && effect !== "other");
}

/** Whether a change of a field, or of one inside it, may matter: all but what its description calls harmless. */
export function isJudged(field: FieldSpec, inherited: AccessEffect | "none" = "other"): boolean {
  return hasEffect(field, inherited, (effect) => effect !== "none");
}

/**
 * Whether no argument may change unless a review announced it: what may matter, and the name. Exceptions, and patterns of
 * names in programs, choose objects by that.
 */
export function mustBeAnnounced(key: string, field: FieldSpec): boolean {
  return isName(key) || isJudged(field);
}

/** Whether a property of a resource is the name by which policies and programs choose it. */
export function isName(path: string): boolean {
  return path === "name";
}
