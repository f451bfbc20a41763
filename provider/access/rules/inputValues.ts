import { isObject } from "../../fields/values";
import type { Json } from "../../fields/values";
import type { Entity } from "../graph/model";
import { ownMember } from "../graph/references";
import type { Finding } from "../review/finding";
import { isUnread } from "../graph/unread";

export function textAt(value: Json | undefined, key: string): string | undefined {
  const member = isObject(value) ? ownMember(value, key) : undefined;
  return typeof member === "string" && member !== "" && !isUnread(member) ? member : undefined;
}

export function listAt(value: Json | undefined, key: string): readonly Json[] {
  const member = isObject(value) ? ownMember(value, key) : undefined;
  return Array.isArray(member) ? member.filter((item) => !isUnread(item)) : [];
}

/** How an identity, or a provider of identities, proves who it is, as the program writes it. */
export function describeTrust(entity: Entity | undefined): Finding["trust"] {
  if (entity === undefined) return undefined;
  const { claimMatch, staticKeys, awsIdentity, oidc } = entity.inputs;
  const issuer =
    textAt(claimMatch, "issuer") ??
    textAt(claimMatch, "issuerPattern") ??
    textAt(staticKeys, "issuer") ??
    textAt(oidc, "issuer") ??
    textAt(awsIdentity, "awsAccount");
  const subject =
    textAt(claimMatch, "subject") ??
    textAt(claimMatch, "subjectPattern") ??
    textAt(staticKeys, "subject") ??
    textAt(awsIdentity, "arn") ??
    textAt(awsIdentity, "arnPattern") ??
    textAt(entity.inputs, "servicePrincipal");
  if (issuer === undefined && subject === undefined) return undefined;
  return { ...(issuer === undefined ? {} : { issuer }), ...(subject === undefined ? {} : { subject }) };
}
