import type * as pulumi from "@pulumi/pulumi";
import * as read from "./answers";
import * as take from "./arguments";
import type { LookupInputs, Rules } from "./arguments";
import { ask, askLater, listing, listRules, selecting } from "./lookup";
import type { ListArgs, Lookup } from "./lookup";

/** Selects one identity: by `uid`, or by `name`. */
export interface GetIdentityArgs {
  /** The uid, as the `id` of an Identity. */
  uid?: string;
  /** The exact name. */
  name?: string;
  /** Only an identity of this group. */
  parentUid?: string;
}

/** Whose tokens may assume an identity, by their claims. */
export interface IdentityClaimMatch {
  /** The exact `iss` claim. */
  issuer?: string;
  /** An RE2 regular expression for the `iss` claim. */
  issuerPattern?: string;
  /** The exact `sub` claim. */
  subject?: string;
  /** An RE2 regular expression for the `sub` claim. */
  subjectPattern?: string;
  /** The exact `aud` claim. With neither this nor `audiencePattern` it is the issuer's host name. */
  audience?: string;
  /** An RE2 regular expression for the `aud` claim. */
  audiencePattern?: string;
  /** Further claims with their exact values. */
  claims: Record<string, string>;
  /** Further claims with RE2 regular expressions for their values. */
  claimPatterns: Record<string, string>;
}

/** Whose tokens may assume an identity, by registered keys. */
export interface IdentityStaticKeys {
  /** The exact `iss` claim. */
  issuer: string;
  /** The exact `sub` claim. */
  subject: string;
  /** The public keys: a JSON Web Key Set as text. */
  issuerKeys: string;
  /** When the keys stop counting: RFC 3339, as the API wrote it. */
  expirationTime?: string;
  /** The one audience that is accepted instead of the platform's list; empty for that list. */
  audiences: string[];
}

/** Which principals of an AWS account may assume an identity. */
export interface IdentityAws {
  /** The account: 12 digits. */
  awsAccount: string;
  /** The exact ARN. */
  arn?: string;
  /** An RE2 regular expression for the ARN. */
  arnPattern?: string;
  /** The exact user id. */
  userId?: string;
  /** An RE2 regular expression for the user id. */
  userIdPattern?: string;
}

/** An identity. Contract, section 5. One of `claimMatch`, `staticKeys`, `awsIdentity`, `servicePrincipal` is there. */
export interface GetIdentityResult {
  /** The uid. */
  uid: string;
  /** The uid of its group; left out where it has none. */
  parentUid?: string;
  /** The name. */
  name: string;
  /** The description; empty where there is none. */
  description: string;
  /** The company; empty where there is none. */
  company: string;
  /** The verified e-mail address of a person; empty where there is none. */
  email: string;
  /** The e-mail address that nobody has verified; empty where there is none. */
  emailUnverified: string;
  /** Assumed by the claims of a token. */
  claimMatch?: IdentityClaimMatch;
  /** Assumed by tokens signed with registered keys. */
  staticKeys?: IdentityStaticKeys;
  /** Assumed by principals of AWS. */
  awsIdentity?: IdentityAws;
  /** `SERVICE_PRINCIPAL_…`: one of the platform's own services. */
  servicePrincipal?: string;
  /** When it was last used: RFC 3339, as the API wrote it. Left out where it never was. */
  lastSeenTime?: string;
  /** When it was made: RFC 3339, as the API wrote it. */
  createTime?: string;
  /** When it last changed: RFC 3339, as the API wrote it. */
  updateTime?: string;
}

/** Which identities to list. All by default. */
export interface GetIdentitiesArgs extends ListArgs {
  /** The exact name. */
  name?: string;
  /** `RELATIONSHIP_TYPE_` and one of `CLAIM_MATCH`, `STATIC`, `AWS_IDENTITY`, `SERVICE_PRINCIPAL`. */
  relationshipType?: string;
}

/** The person or program behind a token. */
export interface LookupIdentityArgs {
  /** The `iss` claim of its tokens. */
  issuer: string;
  /** The `sub` claim of its tokens. */
  subject: string;
}

/** What `lookupIdentity` answers. */
export interface LookupIdentityResult {
  /** The uid. */
  uid: string;
}

const COLLECTION = "/iam/v2/identities";

const readIdentity = read.object<GetIdentityResult>({
  uid: read.text,
  parentUid: read.parent,
  name: read.text,
  description: read.text,
  company: read.text,
  email: read.text,
  emailUnverified: read.text,
  claimMatch: read.optional<IdentityClaimMatch>({
    issuer: read.optionalText,
    issuerPattern: read.optionalText,
    subject: read.optionalText,
    subjectPattern: read.optionalText,
    audience: read.optionalText,
    audiencePattern: read.optionalText,
    claims: read.textMap,
    claimPatterns: read.textMap,
  }),
  staticKeys: read.optional<IdentityStaticKeys>({
    issuer: read.text,
    subject: read.text,
    issuerKeys: read.text,
    expirationTime: read.time,
    audiences: read.texts,
  }),
  awsIdentity: read.optional<IdentityAws>({
    awsAccount: read.text,
    arn: read.optionalText,
    arnPattern: read.optionalText,
    userId: read.optionalText,
    userIdPattern: read.optionalText,
  }),
  servicePrincipal: read.enumName,
  lastSeenTime: read.time,
  createTime: read.time,
  updateTime: read.time,
});

const rules: Rules<GetIdentityArgs> = { uid: take.uid, name: take.text, parentUid: take.uid };
const oneIdentity = selecting("getIdentity", COLLECTION, rules, readIdentity);

const identities = listing<GetIdentitiesArgs, GetIdentityResult>({
  call: "getIdentities",
  collection: COLLECTION,
  rules: {
    ...listRules,
    name: take.sentAs("name", take.text),
    relationshipType: take.sentAs(
      "relationshipType",
      take.enumName("RELATIONSHIP_TYPE_", "CLAIM_MATCH STATIC AWS_IDENTITY SERVICE_PRINCIPAL"),
    ),
  },
  read: readIdentity,
});

const person: Lookup<LookupIdentityArgs, LookupIdentityResult> = {
  call: "lookupIdentity",
  rules: { issuer: take.required(take.text), subject: take.required(take.text) },
  run: async (client, { issuer, subject }) => {
    const answer = await client.get(`${COLLECTION}:lookupIdentity`, { issuer, subject });
    const uid = read.text(answer["uid"]);
    if (uid === "") throw new Error(`the answer holds no uid for ${subject} of ${issuer}`);
    return { uid };
  },
};

/** Finds exactly one identity. Throws where there is none, and where there are several, with their uids and parents. */
export function getIdentity(args: GetIdentityArgs): Promise<GetIdentityResult> {
  return ask(oneIdentity, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getIdentityOutput(args: LookupInputs<GetIdentityArgs>): pulumi.Output<GetIdentityResult> {
  return askLater(oneIdentity, args);
}

/** Lists the identities that match and that the token may see. */
export function getIdentities(args: GetIdentitiesArgs = {}): Promise<GetIdentityResult[]> {
  return ask(identities, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function getIdentitiesOutput(
  args: LookupInputs<GetIdentitiesArgs> = {},
): pulumi.Output<GetIdentityResult[]> {
  return askLater(identities, args);
}

/**
 * The uid that the holder of an issuer's subject has, or will have: the answer is the same before the
 * first sign-in (contract, section 6).
 */
export function lookupIdentity(args: LookupIdentityArgs): Promise<LookupIdentityResult> {
  return ask(person, args);
}

/** The same with inputs, for arguments that are known only when other resources are. */
export function lookupIdentityOutput(
  args: LookupInputs<LookupIdentityArgs>,
): pulumi.Output<LookupIdentityResult> {
  return askLater(person, args);
}
