import { isFoundByComparison } from "../engine/description";
import type { FieldSpec, NeededCapabilities, ResourceSpec } from "../engine/description";

const BINDINGS = "IAM_ROLE_BINDINGS";

/** Whether writing a resource grants somebody a role, which needs what writing a binding needs. */
function grantsRole(fields: Readonly<Record<string, FieldSpec>>): boolean {
  return Object.values(fields).some(({ access }) => access === "role");
}

/**
 * What the requests of a kind need, whose capabilities begin alike: `IAM_GROUPS`. A create that may have to find a lost one
 * by comparison lists what existed before.
 */
export function deriveCapabilities(
  family: string,
  spec: Omit<ResourceSpec, "capabilities">,
): NeededCapabilities {
  const named = (verb: string): string => `CAP_${family}_${verb}`;
  const toGrant = family !== BINDINGS && grantsRole(spec.fields) ? [`CAP_${BINDINGS}_CREATE`] : [];
  const isReplacedOnly = Object.values(spec.fields).every(({ immutable }) => immutable);
  return {
    read: [named("LIST")],
    create: [...(isFoundByComparison(spec) ? [named("LIST")] : []), named("CREATE"), ...toGrant],
    ...(isReplacedOnly ? {} : { update: [named("UPDATE"), ...toGrant] }),
    delete: [named("DELETE")],
  };
}
