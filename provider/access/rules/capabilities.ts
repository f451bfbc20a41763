import { capabilityFamilies, UNKNOWN_FAMILY } from "./data/capabilityFamilies";
import type { CapabilityFamily } from "./data/capabilityFamilies";

export type { CapabilityEffect } from "./data/capabilityFamilies";

/** Names as sets, made once; an expression matches whole names. */
const forms = capabilityFamilies.map((family) => ({
  family,
  has: family.names instanceof RegExp ? family.names : new Set<string>(family.names),
}));

const known = new Map<string, CapabilityFamily>();

/** The family of a capability, as in `CAP_TAG_CREATE`. */
export function familyOf(capability: string): CapabilityFamily {
  const found = known.get(capability);
  if (found !== undefined) return found;
  const name = capability.replace(/^CAP_/, "");
  const form = forms.find(({ has }) => (has instanceof RegExp ? has.test(name) : has.has(name)));
  const family = form?.family ?? UNKNOWN_FAMILY;
  known.set(capability, family);
  return family;
}

export const isTakeover = (capability: string): boolean => familyOf(capability).effect === "takeover";

/** Whoever can bind roles, change roles and change identities can give itself all that `owner` holds. */
export const OWNER_CAPABILITIES: readonly string[] = [
  "CAP_IAM_ROLE_BINDINGS_CREATE",
  "CAP_IAM_ROLES_UPDATE",
  "CAP_IAM_IDENTITY_UPDATE",
];
