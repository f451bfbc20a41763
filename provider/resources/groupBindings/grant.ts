import { printable } from "../../engine/operations/messages";
import { SECRET_MASK } from "../../engine/description";
import type { Json, Props } from "../../engine/description";
import { isObject, stringOrEmpty } from "../../engine/values/values";
import { declaredGrantKey } from "../grants";

/** Who holds which role. Bindings are told apart by it: two that grant the same at one group are one here. */
export interface Grant {
  readonly identityUid: string;
  readonly roleUid: string;
}

export type LabelledGrant = readonly [label: string, grant: Grant];

export const identityRoleKey = ({ identityUid, roleUid }: Grant): string => `${identityUid} ${roleUid}`;

export function identityRoleKeys(grants: readonly LabelledGrant[]): ReadonlySet<string> {
  return new Set(grants.map(([, grant]) => identityRoleKey(grant)));
}

export const quoteLabel = (label: string): string => JSON.stringify(printable(label, 100));

/** The first labels, for a message. */
export const quoteLabels = (grants: readonly LabelledGrant[]): string =>
  [...grants.slice(0, 3).map(([label]) => quoteLabel(label)), ...(grants.length > 3 ? ["…"] : [])].join(", ");

export function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(stringOrEmpty) : [];
}

/** The bindings among arguments or outputs, with their labels. */
export function labelledGrantsIn(props: Props): LabelledGrant[] {
  const { bindings } = props;
  return Object.entries(isObject(bindings) ? bindings : {}).flatMap(([label, grant]): LabelledGrant[] => {
    if (grant === SECRET_MASK) return [[label, { identityUid: SECRET_MASK, roleUid: SECRET_MASK }]];
    if (!isObject(grant)) return [];
    return [
      [label, { identityUid: stringOrEmpty(grant["identityUid"]), roleUid: stringOrEmpty(grant["roleUid"]) }],
    ];
  });
}

/** The key by which the GroupAccess of a group allows that the caller loses its own bindings. */
export const selfRemovalKey = (group: Json | undefined): string => JSON.stringify(["selfRemoval", group]);

/** The keys of what arguments declare: the grants, and whether the caller's own may go. */
export function declaredGrantKeys(inputs: Props): string[] {
  const { parentUid, allowSelfRemoval } = inputs;
  const grants = labelledGrantsIn(inputs).map(([, grant]) =>
    declaredGrantKey("all", { ...grant, parentUid }),
  );
  return allowSelfRemoval === true ? [...grants, selfRemovalKey(parentUid)] : grants;
}
