import { printable } from "../../engine/operations/messages";
import { SECRET_MASK } from "../../engine/description";
import type { Props } from "../../engine/description";
import { isObject } from "../../engine/values/values";
import { grantKey } from "../grants";

/** Who holds which role. Bindings are told apart by it: two that grant the same at one group are one here. */
export interface Grant {
  readonly identityUid: string;
  readonly roleUid: string;
}

export type LabelledGrant = readonly [label: string, grant: Grant];

export const keyOf = ({ identityUid, roleUid }: Grant): string => `${identityUid} ${roleUid}`;

export function keysOf(grants: readonly LabelledGrant[]): ReadonlySet<string> {
  return new Set(grants.map(([, grant]) => keyOf(grant)));
}

export const quoteLabel = (label: string): string => JSON.stringify(printable(label, 100));

/** The first labels, for a message. */
export const quoteLabels = (grants: readonly LabelledGrant[]): string =>
  [...grants.slice(0, 3).map(([label]) => quoteLabel(label)), ...(grants.length > 3 ? ["…"] : [])].join(", ");

export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

export function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(stringOf) : [];
}

/** The bindings among arguments or outputs, with their labels. */
export function labelledGrantsIn(props: Props): LabelledGrant[] {
  const { bindings } = props;
  return Object.entries(isObject(bindings) ? bindings : {}).flatMap(([label, grant]): LabelledGrant[] => {
    if (grant === SECRET_MASK) return [[label, { identityUid: SECRET_MASK, roleUid: SECRET_MASK }]];
    if (!isObject(grant)) return [];
    return [[label, { identityUid: stringOf(grant["identityUid"]), roleUid: stringOf(grant["roleUid"]) }]];
  });
}

/** The keys of the grants that arguments declare. */
export function declaredGrantKeys(inputs: Props): string[] {
  return labelledGrantsIn(inputs).map(([, grant]) =>
    grantKey("all", { ...grant, parentUid: inputs["parentUid"] }),
  );
}
