import { resource } from "../program/resource";
import { findPatternSign } from "../text/plain";
import { isObject } from "../fields/values";
import type { Json, Props } from "../fields/values";
import { optionalParentUid } from "../fields/wire";
import { enumOf, kind, list, map, object, shape, string, time, times } from "../fields/builders";
import type { ArgsOf, OfKind, Resolved, ResultOf } from "../fields/builders";
import { checkEnd, description, forPeople, identityName, nameOnly, parentGroup } from "./common";

const claimMatch = shape({
  fields: {
    /** The exact `iss` claim. One of `issuer`, `issuerPattern`. */
    issuer: string({ access: "trust.issuer", format: "url" }),
    /** An RE2 regular expression for the `iss` claim; anchor it with `^` and `$`. */
    issuerPattern: string({ access: "trust.issuer", format: "regex" }),
    /**
     * The exact `sub` claim. One of `subject`, `subjectPattern`. GitHub puts numbers into the subjects of repositories created since
     * 15 July 2026: `gh api repos/OWNER/REPO/actions/oidc/customization/sub` prints how they begin.
     */
    subject: string({ access: "trust.subject" }),
    /** An RE2 regular expression for the `sub` claim; anchor it with `^` and `$`. */
    subjectPattern: string({ access: "trust.subject", format: "regex" }),
    /**
     * The exact `aud` claim. If neither this nor `audiencePattern` is given, the host name of the platform's own issuer, not of the
     * `issuer` here.
     */
    audience: string({
      security: true,
      access: "trust.audience",
      serverFilled: ({ issuer }) =>
        typeof issuer === "string" && URL.canParse(issuer) ? new URL(issuer).hostname : undefined,
    }),
    /** An RE2 regular expression for the `aud` claim. */
    audiencePattern: string({ access: "trust.audience", format: "regex" }),
    /** Further claims with their exact values. */
    claims: map(string(), { access: "trust.claims" }),
    /** Further claims with RE2 regular expressions for their values. */
    claimPatterns: map(string({ format: "regex" }), { access: "trust.claims" }),
  },
  oneOfs: [
    { members: ["issuer", "issuerPattern"], required: true },
    { members: ["subject", "subjectPattern"], required: true },
    { members: ["audience", "audiencePattern"], required: false },
  ],
});

const staticKeys = shape({
  fields: {
    /** The exact `iss` claim. */
    issuer: string({ access: "trust.issuer", format: "url", required: true }),
    /** The exact `sub` claim. */
    subject: string({ access: "trust.subject", required: true }),
    /** The public keys: a JSON Web Key Set as a string. */
    issuerKeys: string({ format: "jwks", required: true, access: "trust.keys" }),
    /** When the keys stop counting: RFC 3339. Default and maximum: 365 days after creation. */
    expirationTime: string({ format: "timestamp", serverFilled: true, access: "trust.keysEnd" }),
    /** The one audience that is accepted instead of the platform's list. */
    audiences: list(string(), { access: "trust.audience", maxItems: 1 }),
  },
});

const awsIdentity = shape({
  fields: {
    /** The account: 12 digits. */
    awsAccount: string({
      access: "trust.account",
      required: true,
      pattern: { regex: /^\d{12}$/, must: "the 12 digits of an AWS account" },
    }),
    /** The exact ARN. One of `arn`, `arnPattern`. */
    arn: string({ access: "trust.arn" }),
    /** An RE2 regular expression for the ARN. */
    arnPattern: string({ access: "trust.arn", format: "regex" }),
    /** The exact user id. One of `userId`, `userIdPattern`. */
    userId: string({ access: "trust.userId" }),
    /** An RE2 regular expression for the user id. */
    userIdPattern: string({ access: "trust.userId", format: "regex" }),
  },
  oneOfs: [
    { members: ["arn", "arnPattern"], required: true },
    { members: ["userId", "userIdPattern"], required: true },
  ],
});

/** Who may assume an identity by the claims of a token: of any issuer on the internet. */
export interface ClaimMatchArgs extends ArgsOf<typeof claimMatch> {}
/** Who may assume an identity by tokens signed with keys registered here, of an issuer that publishes none. */
export interface StaticKeysArgs extends ArgsOf<typeof staticKeys> {}
/** Which principals of an AWS account may assume an identity. */
export interface AwsIdentityArgs extends ArgsOf<typeof awsIdentity> {}
/** Whose tokens may assume an identity, by their claims. */
export interface IdentityClaimMatch extends ResultOf<typeof claimMatch> {}
/** Whose tokens may assume an identity, by registered keys. */
export interface IdentityStaticKeys extends ResultOf<typeof staticKeys> {}
/** Which principals of an AWS account may assume an identity. */
export interface IdentityAws extends ResultOf<typeof awsIdentity> {}

/** Members that are compared exactly, and those that take a pattern in their place. */
const PATTERNS = {
  issuer: "issuerPattern",
  subject: "subjectPattern",
  audience: "audiencePattern",
  claims: "claimPatterns",
  arn: "arnPattern",
  userId: "userIdPattern",
} as const;

/** Warnings about exact values that are written like patterns. */
function adviseOnExactValues(relationship: Json | undefined): string[] {
  if (!isObject(relationship)) return [];
  return Object.entries(PATTERNS).flatMap(([member, pattern]) => {
    const value = relationship[member];
    const texts = isObject(value) ? Object.values(value) : [value];
    return texts.flatMap((text) => {
      const sign = typeof text === "string" ? findPatternSign(text) : undefined;
      if (sign === undefined) return [];
      const advice =
        "issuerKeys" in relationship
          ? "write out one value, and create an identity for each"
          : `where a part must vary, write ${pattern} in its place, anchored with ^ and $`;
      return [
        `${member} ${JSON.stringify(text)} is compared exactly, and the ${sign} in it stands for itself: ${advice}`,
      ];
    });
  });
}

const YEAR = { days: 365, must: "must be at most 365 days after the creation of the identity" };
const expirationIn = ({ staticKeys: keys }: Props) => (isObject(keys) ? keys["expirationTime"] : undefined);

const identity = kind({
  kind: "Identity",
  collection: "/iam/v2/identities",
  capabilities: "IAM_IDENTITY",
  eventPrefix: "iam.identity",
  listsByName: true,
  listing: { contents: "complete" },
  grantsAccess: "bound",
  usedBy: "uid",
  fields: {
    /**
     * The uid of the group that the identity belongs to. It can act in that group and below only, whatever roles it has elsewhere:
     * one of the organisation can act everywhere, and alone sees its registry. Changing it replaces the identity.
     */
    parentUid: parentGroup,
    /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
    name: string({ required: true, pattern: identityName, ...nameOnly }),
    /** One line, at most 512 characters. */
    description,
    /** The company that the identity belongs to. */
    company: string(forPeople),
    /** Assumed by the claims of a token. Changing to another relationship replaces the identity. */
    claimMatch: object<ClaimMatchArgs, IdentityClaimMatch>(claimMatch, { security: true }),
    /** Assumed by tokens signed with given keys. Changing to another relationship replaces the identity. */
    staticKeys: object<StaticKeysArgs, IdentityStaticKeys>(staticKeys, { security: true }),
    /** Assumed by principals of AWS. Changing to another relationship replaces the identity. */
    awsIdentity: object<AwsIdentityArgs, IdentityAws>(awsIdentity, { security: true }),
    /** `SERVICE_PRINCIPAL_…`: one of the platform's own services. Changing to another relationship replaces the identity. */
    servicePrincipal: enumOf(
      "SERVICE_PRINCIPAL_",
      "COSIGNED INGESTER CATALOG_SYNCER APKO_BUILDER ENTITLEMENT_SYNCER TENANT_SCANNER SEDIMENTOLOGY SKILLUP MATERIALIZER MICROFLOW GUARDENER MICROVM SKILLS",
      { access: "trust.service" },
    ),
  },
  oneOfs: [
    {
      members: ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"],
      required: true,
      immutable: true,
    },
  ],
  reads: {
    /** The uid of its group; left out where it has none. */
    parentUid: optionalParentUid,
    /** The verified e-mail address of a person; empty where there is none. */
    email: string(),
    /** The e-mail address that nobody has verified; empty where there is none. */
    emailUnverified: string(),
    /** When it was last used: RFC 3339, as the API wrote it. Left out where it never was. */
    lastSeenTime: time,
    ...times,
  },
  inputWarnings: {
    claimMatch: adviseOnExactValues,
    staticKeys: adviseOnExactValues,
    awsIdentity: adviseOnExactValues,
  },
  validate: (inputs, _unknown, { olds, now }) =>
    checkEnd("staticKeys.expirationTime", expirationIn(inputs), {
      now,
      recorded: expirationIn(olds),
      ...(Object.keys(olds).length === 0 && YEAR),
    }),
});

/** The arguments of an Identity: exactly one of the four relationships. */
export interface IdentityArgs extends ArgsOf<typeof identity>, OfKind {}
/** An identity. One of `claimMatch`, `staticKeys`, `awsIdentity`, `servicePrincipal` is there. */
export interface GetIdentityResult extends ResultOf<typeof identity> {}
/** Someone, or something, that can hold roles. */
export class Identity extends resource<IdentityArgs>(identity) {}
export interface Identity extends Resolved<IdentityArgs> {}
