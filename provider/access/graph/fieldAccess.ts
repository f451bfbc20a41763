import type { FieldSpec, AccessEffect } from "../../engine/description";

export function effectOf(field: FieldSpec, inherited: AccessEffect): AccessEffect {
  if (field.secret === true || field.ignoreDrift === true) return "none";
  return field.access ?? inherited;
}
/** Whether a field, or one inside it, decides access; `inherited` is the effect of the field around it. */
export function decidesAccess(field: FieldSpec, inherited: AccessEffect = "none"): boolean {
  const effect = effectOf(field, inherited);
  if (effect !== "none" && field.type !== "object") return true;
  if (field.type === "list") return decidesAccess(field.items, effect);
  if (field.type === "map") return decidesAccess(field.values, effect);
  return field.type === "object" && Object.values(field.fields).some((inner) => decidesAccess(inner, effect));
}
