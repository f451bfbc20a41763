import { capabilityFamilies, UNKNOWN_FAMILY } from "./data/capabilityFamilies";
import type { CapabilityFamily } from "./data/capabilityFamilies";
import { sameInOtherWords } from "../../fields/enumNames";
import { didYouMean } from "../../text/suggestions";
import { specs } from "../documents/specs";
import { globMatches } from "../trust/glob";

export type { CapabilityEffect } from "./data/capabilityFamilies";

/** Names as sets, made once; an expression matches whole names. */
const forms = capabilityFamilies.map((family) => ({
  family,
  has: family.names instanceof RegExp ? family.names : new Set<string>(family.names),
}));

const families = new Map<string, CapabilityFamily>();

/** The family of a capability, as in `CAP_TAG_CREATE`. */
export function familyOf(capability: string): CapabilityFamily {
  const found = families.get(capability);
  if (found !== undefined) return found;
  const name = capability.replace(/^CAP_/, "");
  const form = forms.find(({ has }) => (has instanceof RegExp ? has.test(name) : has.has(name)));
  const family = form?.family ?? UNKNOWN_FAMILY;
  families.set(capability, family);
  return family;
}

export const isTakeover = (capability: string): boolean => familyOf(capability).effect === "takeover";

/** Whoever can bind roles, change roles and change identities can give itself all that `owner` holds. */
export const OWNER_CAPABILITIES: readonly string[] = [
  "CAP_IAM_ROLE_BINDINGS_CREATE",
  "CAP_IAM_ROLES_UPDATE",
  "CAP_IAM_IDENTITY_UPDATE",
];

/**
 * What is wrong with a pattern of capabilities: it matches none, so whatever it asks of access is always answered with nothing.
 *
 * @param held Capabilities that roles hold, which a server can know before this version does.
 */
export function unknownCapability(pattern: string, held: readonly string[] = []): string | undefined {
  const field = specs["Role"]?.fields["capabilities"];
  const known = field?.type === "list" && field.items.type === "enum" ? field.items.known : [];
  const names = known.map((name) => `CAP_${name}`);
  if ([...names, ...held].some((name) => globMatches(pattern, name))) return undefined;
  // A pattern is compared with what it can have meant: the beginning of a name, up to an underscore.
  const beginnings = names.flatMap((name) =>
    Array.from(name.matchAll(/_/g), ({ index }) => `${name.slice(0, index)}_*`),
  );
  const word = pattern.startsWith("CAP_") ? pattern : `CAP_${pattern}`;
  const same = sameInOtherWords(word.slice("CAP_".length), known);
  const meant =
    same === undefined
      ? didYouMean(word, pattern.includes("*") ? [...beginnings, ...names] : names)
      : `CAP_${same}`;
  const hint = meant === undefined ? "docs/reference/resources/Role.md lists them" : `did you mean ${meant}?`;
  return `matches no capability that this version knows; ${hint}`;
}
