import type { CheckContext, Failure, FieldSpec, Json, Props, ResourceSpec } from "../description";
import { ADOPT, containsSecret } from "../description";
import { containsUnknown, isUnknown } from "../values/values";
import { FieldChecker, isRecorded } from "./fieldChecker";
import { hasType } from "./types";

/** Finds all problems of inputs that can be found without the server. Unknown values never fail. */
export function checkInputs(spec: ResourceSpec, inputs: Props, context: CheckContext): Failure[] {
  const checker = new FieldChecker();
  // A create has none.
  const olds = Object.keys(context.olds).length === 0 ? undefined : context.olds;
  if (olds && Object.keys({ ...olds, ...inputs }).every((key) => isRecorded(olds, key, inputs[key])))
    return [];
  checker.checkFields(spec.fields, "", inputs, olds);
  checker.checkOneOfs(spec.oneOfs ?? [], spec.fields, "", inputs);
  const adopted = inputs[ADOPT];
  if (adopted !== undefined) {
    checker.checkValue({ type: "string", format: "uid" }, "adopt", adopted);
    if (adopted === "")
      checker.report("PP1006", "adopt", "must be the uid of the existing object, not empty");
  }
  checker.failures.push(...validateAcrossFields(spec, inputs, context));
  return checker.failures.map((failure) => hideValue(spec, inputs, failure));
}

/** Runs `spec.validate`, which may look inside a value only if its form is right, so it gets no others. */
function validateAcrossFields(spec: ResourceSpec, inputs: Props, context: CheckContext): Failure[] {
  const unknown = new Set(Object.keys(inputs).filter((key) => containsUnknown(inputs[key])));
  const valid = Object.fromEntries(
    Object.entries(inputs).filter(([key, value]) => {
      const field = spec.fields[key];
      return field && value !== undefined && value !== null && !isUnknown(value) && hasType(field, value);
    }),
  );
  return spec.validate?.(valid, unknown, context) ?? [];
}

/**
 * The engine prints the value of a top-level property that fails: an object with a secret in it, an address with a
 * password, or a secret under a name that is none. Without a property it prints the reason alone.
 */
function hideValue(spec: ResourceSpec, inputs: Props, failure: Failure): Failure {
  const { property, reason, code } = failure;
  const field = Object.hasOwn(spec.fields, property) ? spec.fields[property] : undefined;
  const hides = field
    ? containsSecret(field) || mayHoldPassword(field, inputs[property])
    : Object.values(spec.fields).some(containsSecret) && !isInside(spec, property);
  return hides ? { property: "", reason: `${property} ${reason}`, code } : failure;
}

/** Whether a path leads into a field, as in `oidc.issuer` or `defaultScopes[0]`: of those the engine prints no value. */
function isInside(spec: ResourceSpec, property: string): boolean {
  return Object.keys(spec.fields).some(
    (key) => property.startsWith(`${key}.`) || property.startsWith(`${key}[`),
  );
}

function mayHoldPassword(field: FieldSpec, value: Json | undefined): boolean {
  const isAddress = field.type === "string" && (field.format === "url" || field.format === "httpsUrl");
  return isAddress && typeof value === "string" && /@|%40/.test(value);
}
