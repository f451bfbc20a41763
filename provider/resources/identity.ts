import type * as pulumi from "@pulumi/pulumi";
import { timestampNanos } from "../engine/times";
import { PlatformResource } from "../engine/resource";
import type { Resolved } from "../engine/resource";
import { defineFields, defineResource, description, parentGroup } from "../engine/spec";
import type { Failure, ObjectSpec, StringSpec } from "../engine/spec";

/** Who may assume an identity by the claims of a token: of any issuer on the internet. */
export interface ClaimMatchArgs {
  /** The exact `iss` claim. One of `issuer`, `issuerPattern`. */
  issuer?: pulumi.Input<string>;
  /** An RE2 regular expression for the `iss` claim; anchor it with `^` and `$`. */
  issuerPattern?: pulumi.Input<string>;
  /** The exact `sub` claim. One of `subject`, `subjectPattern`. */
  subject?: pulumi.Input<string>;
  /** An RE2 regular expression for the `sub` claim; anchor it with `^` and `$`. */
  subjectPattern?: pulumi.Input<string>;
  /** The exact `aud` claim; the issuer's host name if neither this nor `audiencePattern` is given. */
  audience?: pulumi.Input<string>;
  /** An RE2 regular expression for the `aud` claim. */
  audiencePattern?: pulumi.Input<string>;
  /** Further claims with their exact values. */
  claims?: pulumi.Input<Record<string, pulumi.Input<string>>>;
  /** Further claims with RE2 regular expressions for their values. */
  claimPatterns?: pulumi.Input<Record<string, pulumi.Input<string>>>;
}

/** Who may assume an identity by tokens signed with keys registered here, of an issuer that publishes none. */
export interface StaticKeysArgs {
  /** The exact `iss` claim. */
  issuer: pulumi.Input<string>;
  /** The exact `sub` claim. */
  subject: pulumi.Input<string>;
  /** The public keys: a JSON Web Key Set as text. */
  issuerKeys: pulumi.Input<string>;
  /** When the keys stop counting: RFC 3339. Default and maximum: 365 days after creation. */
  expirationTime?: pulumi.Input<string>;
  /** The one audience that is accepted instead of the platform's list. */
  audiences?: pulumi.Input<pulumi.Input<string>[]>;
}

/** Which principals of an AWS account may assume an identity. */
export interface AwsIdentityArgs {
  /** The account: 12 digits. */
  awsAccount: pulumi.Input<string>;
  /** The exact ARN. One of `arn`, `arnPattern`. */
  arn?: pulumi.Input<string>;
  /** An RE2 regular expression for the ARN. */
  arnPattern?: pulumi.Input<string>;
  /** The exact user id. One of `userId`, `userIdPattern`. */
  userId?: pulumi.Input<string>;
  /** An RE2 regular expression for the user id. */
  userIdPattern?: pulumi.Input<string>;
}

/** The arguments of an Identity: exactly one of the four relationships. */
export interface IdentityArgs {
  /** The uid of the group that the identity belongs to. Changing it replaces the identity. */
  parentUid: pulumi.Input<string>;
  /** The name: lower-case letters, digits, blank, dot, underscore, dash. */
  name: pulumi.Input<string>;
  /** One line, at most 512 characters. */
  description?: pulumi.Input<string>;
  /** The company that the identity belongs to. */
  company?: pulumi.Input<string>;
  /** Assumed by the claims of a token. Changing to another relationship replaces the identity. */
  claimMatch?: pulumi.Input<ClaimMatchArgs>;
  /** Assumed by tokens signed with given keys. Changing to another relationship replaces the identity. */
  staticKeys?: pulumi.Input<StaticKeysArgs>;
  /** Assumed by principals of AWS. Changing to another relationship replaces the identity. */
  awsIdentity?: pulumi.Input<AwsIdentityArgs>;
  /** `SERVICE_PRINCIPAL_…`: one of the platform's own services. Changing to another relationship replaces the identity. */
  servicePrincipal?: pulumi.Input<string>;
}

const text: StringSpec = { type: "string", security: true, access: "match" };
const pattern: StringSpec = { type: "string", format: "regex", security: true, access: "match" };

const claimMatch: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<ClaimMatchArgs>({
    issuer: { type: "string", format: "url", security: true, access: "match" },
    issuerPattern: pattern,
    subject: text,
    subjectPattern: pattern,
    audience: {
      ...text,
      serverFilled: ({ issuer }) =>
        typeof issuer === "string" && URL.canParse(issuer) ? new URL(issuer).hostname : undefined,
    },
    audiencePattern: pattern,
    claims: { type: "map", security: true, access: "limits", values: { type: "string" } },
    claimPatterns: {
      type: "map",
      security: true,
      access: "limits",
      values: { type: "string", format: "regex" },
    },
  }),
  oneOfs: [
    { members: ["issuer", "issuerPattern"], required: true },
    { members: ["subject", "subjectPattern"], required: true },
    { members: ["audience", "audiencePattern"], required: false },
  ],
};

const staticKeys: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<StaticKeysArgs>({
    issuer: { type: "string", format: "url", required: true, security: true, access: "match" },
    subject: { ...text, required: true },
    issuerKeys: { type: "string", format: "jwks", required: true, security: true, access: "keys" },
    expirationTime: { type: "string", format: "timestamp", serverFilled: true, access: "until" },
    audiences: { type: "list", security: true, access: "match", maxItems: 1, items: { type: "string" } },
  }),
};

const awsIdentity: ObjectSpec = {
  type: "object",
  security: true,
  fields: defineFields<AwsIdentityArgs>({
    awsAccount: {
      ...text,
      required: true,
      pattern: { regex: /^\d{12}$/, must: "the 12 digits of an AWS account" },
    },
    arn: text,
    arnPattern: pattern,
    userId: text,
    userIdPattern: pattern,
  }),
  oneOfs: [
    { members: ["arn", "arnPattern"], required: true },
    { members: ["userId", "userIdPattern"], required: true },
  ],
};

const DAY_MS = 86_400_000;

function member(value: unknown, key: string): unknown {
  return value !== null && typeof value === "object" && key in value
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

/** Only a new value is held to the calendar: an expired key must not block other changes, or a delete. */
function checkExpiration(now: unknown, old: unknown, isNew: boolean, clock: number): Failure[] {
  const nanos = typeof now === "string" ? timestampNanos(now) : undefined;
  if (nanos === undefined || (typeof old === "string" && nanos === timestampNanos(old))) return [];
  const time = Number(nanos / 1_000_000n);
  const property = "staticKeys.expirationTime";
  if (time <= clock) return [{ property, reason: "must lie in the future" }];
  if (isNew && time > clock + 365 * DAY_MS) {
    return [{ property, reason: "must be at most 365 days after the creation of the identity" }];
  }
  return [];
}

/** Someone, or something, that can hold roles. Contract, section 5. */
export class Identity extends PlatformResource {
  /** @internal */
  static readonly spec = defineResource<IdentityArgs>({
    kind: "Identity",
    noun: "identity",
    collection: "/iam/v2/identities",
    events: "iam.identity",
    listsByName: true,
    readsByList: {},
    fields: {
      parentUid: parentGroup({ required: true }),
      name: {
        type: "string",
        required: true,
        pattern: {
          regex: /^[a-z0-9 ._-]{1,}$/,
          must: "lower-case letters, digits, blanks, dots, underscores and dashes only",
        },
      },
      description,
      company: { type: "string" },
      claimMatch,
      staticKeys,
      awsIdentity,
      servicePrincipal: {
        type: "enum",
        prefix: "SERVICE_PRINCIPAL_",
        security: true,
        access: "match",
        known: [
          "COSIGNED",
          "INGESTER",
          "CATALOG_SYNCER",
          "APKO_BUILDER",
          "ENTITLEMENT_SYNCER",
          "TENANT_SCANNER",
          "SEDIMENTOLOGY",
          "SKILLUP",
          "MATERIALIZER",
          "MICROFLOW",
          "GUARDENER",
          "MICROVM",
          "SKILLS",
        ],
      },
    },
    listing: { details: ["email"] },
    gives: "bound",
    oneOfs: [
      {
        members: ["claimMatch", "staticKeys", "awsIdentity", "servicePrincipal"],
        required: true,
        immutable: true,
      },
    ],
    rules: (inputs, _unknown, { olds, now }) =>
      checkExpiration(
        member(inputs["staticKeys"], "expirationTime"),
        member(olds["staticKeys"], "expirationTime"),
        Object.keys(olds).length === 0,
        now,
      ),
  });

  declare readonly parentUid: pulumi.Output<string>;
  declare readonly name: pulumi.Output<string>;
  declare readonly description: pulumi.Output<string | undefined>;
  declare readonly company: pulumi.Output<string | undefined>;
  declare readonly claimMatch: pulumi.Output<Resolved<ClaimMatchArgs> | undefined>;
  declare readonly staticKeys: pulumi.Output<Resolved<StaticKeysArgs> | undefined>;
  declare readonly awsIdentity: pulumi.Output<Resolved<AwsIdentityArgs> | undefined>;
  declare readonly servicePrincipal: pulumi.Output<string | undefined>;

  constructor(name: string, args: IdentityArgs, opts?: pulumi.CustomResourceOptions) {
    super(Identity.spec, name, args, opts);
  }

  /** Reads an identity that this program does not manage. */
  static get(name: string, uid: pulumi.Input<string>, opts?: pulumi.CustomResourceOptions): Identity {
    return new Identity(name, undefined as unknown as IdentityArgs, { ...opts, id: uid });
  }
}
