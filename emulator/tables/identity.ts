import { RE2JS } from "re2js";
import type { Format, Message } from "../gateway/fields";
import {
  bool,
  enumeration,
  fieldMask,
  list,
  map,
  messageType,
  object,
  text,
  timestamp,
} from "../gateway/fields";
import { timestampToMs, wholeSecond } from "../gateway/time";
import { invalidArgument } from "../gateway/status";
import { parseObject } from "../service/jwt";
import type { PlatformService } from "../service/platformService";
import { descriptionFlags, nameFlags, pattern, times, uid } from "./common";
import { applyMask, resolveMask } from "../service/writes";
import type { KindTable, AuthenticatedCall, Write } from "./kindTable";

const awsAccount = pattern("^[0-9]{12}$", "must be 12 digits");

const regularExpression: Format = {
  requirement: "must be a regular expression in RE2 syntax",
  accepts: (value) => {
    try {
      RE2JS.compile(value);
      return true;
    } catch {
      return false;
    }
  },
};

const jwks: Format = {
  requirement: "must be a JSON web key set: an object with a list of keys",
  accepts: (value) => Array.isArray(parseObject(value)?.keys),
};

const longestLifeMs = 365 * 24 * 3_600_000;

const claimMatch = messageType(
  {
    issuer: text({ oneof: "iss" }),
    issuerPattern: text({ oneof: "iss", format: regularExpression }),
    subject: text({ oneof: "sub" }),
    subjectPattern: text({ oneof: "sub", format: regularExpression }),
    audience: text({ oneof: "aud" }),
    audiencePattern: text({ oneof: "aud", format: regularExpression }),
    claims: map(text()),
    claimPatterns: map(text(), { format: regularExpression }),
  },
  ["iss", "sub"],
);

const staticKeys = messageType({
  issuer: text({ required: true }),
  subject: text({ required: true }),
  issuerKeys: text({ required: true, format: jwks }),
  expirationTime: timestamp(),
  audiences: list(text()),
});

const awsIdentity = messageType(
  {
    awsAccount: text({ required: true, format: awsAccount }),
    arn: text({ oneof: "aws_arn" }),
    arnPattern: text({ oneof: "aws_arn", format: regularExpression }),
    userId: text({ oneof: "aws_user_id" }),
    userIdPattern: text({ oneof: "aws_user_id", format: regularExpression }),
  },
  ["aws_arn", "aws_user_id"],
);

const servicePrincipal = enumeration(
  "SERVICE_PRINCIPAL",
  "COSIGNED INGESTER CATALOG_SYNCER APKO_BUILDER ENTITLEMENT_SYNCER TENANT_SCANNER SEDIMENTOLOGY SKILLUP " +
    "MATERIALIZER MICROFLOW GUARDENER MICROVM SKILLS",
  { oneof: "relationship" },
);

const identityMessage = messageType(
  {
    uid,
    name: text(nameFlags),
    description: text(descriptionFlags),
    company: text(),
    claimMatch: object(claimMatch, { oneof: "relationship" }),
    staticKeys: object(staticKeys, { oneof: "relationship" }),
    awsIdentity: object(awsIdentity, { oneof: "relationship" }),
    servicePrincipal,
    email: text({ outputOnly: true }),
    emailUnverified: text({ outputOnly: true }),
    lastSeenTime: timestamp({ outputOnly: true }),
    ...times,
  },
  ["relationship"],
);

const relationshipFields: Readonly<Record<string, string>> = {
  RELATIONSHIP_TYPE_CLAIM_MATCH: "claimMatch",
  RELATIONSHIP_TYPE_STATIC: "staticKeys",
  RELATIONSHIP_TYPE_AWS_IDENTITY: "awsIdentity",
  RELATIONSHIP_TYPE_SERVICE_PRINCIPAL: "servicePrincipal",
};

const metadata = messageType({
  uid: text(),
  name: text(),
  givenName: text(),
  familyName: text(),
  company: text(),
  jobTitle: text(),
  product: text(),
  selfServe: bool(),
  updatesOptIn: bool(),
  hubspotUtk: text(),
  latestFormSubmitUrl: text(),
  latestInternalReferringUrl: text(),
  utmCampaign: text(),
  utmContent: text(),
  utmMedium: text(),
  utmSource: text(),
  utmTerm: text(),
});

export const identity: KindTable = {
  kind: "Identity",
  prefix: "/iam/v2",
  collection: "identities",
  message: identityMessage,
  methods: ["list", "get", "create", "update", "delete"],
  capabilities: "IAM_IDENTITY",
  hasNameFilter: true,
  filters: {
    relationshipType: {
      ...enumeration("RELATIONSHIP_TYPE", "CLAIM_MATCH STATIC AWS_IDENTITY SERVICE_PRINCIPAL"),
      matches: ({ value }, wanted) => value[relationshipFields[wanted as string] ?? ""] !== undefined,
    },
  },
  custom: [
    {
      rpc: "iam.v2.IdentitiesService/LookupIdentity",
      verb: "GET",
      pattern: "/iam/v2/identities:lookupIdentity",
      request: messageType({
        issuer: text(),
        subject: text(),
      }),
      response: messageType({ uid: text() }),
      run({ request }, platform) {
        const violations = ["issuer", "subject"]
          .filter((name) => request[name] === undefined)
          .map((field) => ({ field, description: `${field} is required` }));
        if (violations.length > 0) throw invalidArgument(violations);
        return { uid: platform.store.ensurePerson(request.issuer as string, request.subject as string) };
      },
    },
    {
      rpc: "iam.v2.IdentitiesService/UpdateIdentityMetadata",
      verb: "PATCH",
      pattern: "/iam/v2/identities:updateIdentityMetadata",
      body: "*",
      request: messageType({
        identityMetadata: object(metadata),
        updateMask: fieldMask(),
      }),
      response: metadata,
      run: updateMetadata,
    },
  ],
  parent: "Group",
  events: { name: "iam.identity" },
  check(write) {
    const keys = write.value.staticKeys as Message | undefined;
    if (!keys) return;
    if (((keys.audiences as string[] | undefined) ?? []).length > 1) {
      write.addViolation("staticKeys.audiences", "audiences holds exactly one value when set");
    }
    const expiry = timestampToMs(keys.expirationTime);
    if (expiry !== undefined && Math.floor(expiry / 1000) * 1000 > endOfKeyLifetime(write)) {
      write.addViolation("staticKeys.expirationTime", "expirationTime is at most 365 days after creation");
    }
  },
  complete(write) {
    const match = write.value.claimMatch as Message | undefined;
    for (const name of ["audience", "audiencePattern"]) if (match?.[name] === "") match[name] = undefined;
    const keys = write.value.staticKeys as Message | undefined;
    if (keys) keys.expirationTime ??= wholeSecond(endOfKeyLifetime(write));
  },
};

/** Updates the caller's own metadata, by the mask in the body. */
function updateMetadata(
  { request, updateMask = [], caller }: AuthenticatedCall,
  platform: PlatformService,
): Message {
  const sent = (request.identityMetadata ?? {}) as Message;
  const kept = platform.store.find(callerMetadata.kind, caller.uid)?.value ?? {};
  const paths = resolveMask(updateMask, metadata, false).filter(([field]) => field?.name !== "uid");
  const value = applyMask(kept, sent, paths, metadata);
  return platform.put(callerMetadata.kind, caller.uid, "", value).value;
}

/** Has no addresses of its own; callers write it by `UpdateIdentityMetadata`. */
export const callerMetadata: KindTable = {
  kind: "CallerMetadata",
  prefix: "/iam/v2",
  collection: "callerMetadata",
  message: metadata,
  methods: [],
  parent: "",
};

/** The lifetime of static keys begins at the identity's creation, or now if it had no keys before. */
function endOfKeyLifetime({ before, now, createdAt }: Write): number {
  return (before?.staticKeys === undefined ? now : createdAt) + longestLifeMs;
}
