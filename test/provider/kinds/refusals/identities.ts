import { output } from "@pulumi/pulumi";
import { GROUP_UID, withValue } from "../../support/samples";
import { GROUP_UID_WANTED, NAME_WANTED, staticKeys } from "./support";
import type { Refusals } from "./support";

export const identities: Refusals = {
  Group: [
    {
      name: "wrong values everywhere",
      inputs: {
        parentUid: "acme",
        name: "team",
        description: "two\nlines",
        kind: "customer",
        verified: true,
        nane: "team",
      },
      failures: [
        'nane is not an argument; did you mean "name"?',
        `parentUid ${GROUP_UID_WANTED}`,
        "description must be one line, without tabs",
        "kind can be set only on a root group; groups below inherit it: remove it here",
        "verified can be set only on a root group; groups below inherit it: remove it here",
      ],
    },
    {
      name: "an object in place of its uid",
      inputs: { parentUid: { uid: GROUP_UID }, name: "team" },
      failures: [
        "parentUid must be a string, not an object: write .uid behind it, or .then(({ uid }) => uid) behind a promise",
      ],
    },
    {
      name: "a verified root group without a kind",
      inputs: { name: "acme", verified: true },
      failures: ["kind is missing: a verified organisation needs a kind"],
    },
  ],
  Identity: [
    {
      name: "texts in place of objects, and of Outputs",
      inputs: {
        parentUid: String(output("acme") as unknown),
        name: "ci",
        claimMatch: "repo:acme/access",
        staticKeys: ["a"],
      },
      failures: [
        "parentUid holds no value, but the text of an Output in a template literal: write pulumi.interpolate before the backquotes, or the id alone without quotes",
        'claimMatch must be an object, as in { issuer: "https://example.com/path", subject: "…" }, not a string',
        'staticKeys must be an object, as in { issuer: "https://example.com/path", subject: "…", issuerKeys: "…" }, not a list',
        "staticKeys conflicts with claimMatch; set only one of claimMatch, staticKeys, awsIdentity, servicePrincipal",
      ],
    },
    {
      name: "all four relationships, each wrong",
      inputs: {
        parentUid: GROUP_UID,
        name: "CI",
        description: "a\tb",
        claimMatch: {},
        staticKeys: {},
        awsIdentity: {},
        servicePrincipal: "ingester",
      },
      failures: [
        `name ${NAME_WANTED}`,
        "description must be one line, without tabs",
        "claimMatch needs exactly one of issuer, issuerPattern",
        "claimMatch needs exactly one of subject, subjectPattern",
        "staticKeys.issuer is missing: give a string that is not empty",
        "staticKeys.subject is missing: give a string that is not empty",
        "staticKeys.issuerKeys is missing: give a string that is not empty",
        "awsIdentity.awsAccount is missing: give a string that is not empty",
        "awsIdentity needs exactly one of arn, arnPattern",
        "awsIdentity needs exactly one of userId, userIdPattern",
        'servicePrincipal must be a full name that begins with SERVICE_PRINCIPAL_, not "ingester"; did you mean SERVICE_PRINCIPAL_INGESTER?',
        "staticKeys conflicts with claimMatch; set only one of claimMatch, staticKeys, awsIdentity, servicePrincipal",
        "awsIdentity conflicts with claimMatch; set only one of claimMatch, staticKeys, awsIdentity, servicePrincipal",
        "servicePrincipal conflicts with claimMatch; set only one of claimMatch, staticKeys, awsIdentity, servicePrincipal",
      ],
    },
    {
      name: "a misspelt relationship, which is not missing besides",
      inputs: { parentUid: GROUP_UID, name: "ci", claimmatch: {} },
      failures: ['claimmatch is not an argument; did you mean "claimMatch"?'],
    },
    {
      name: "keys that have expired",
      inputs: withValue(staticKeys, ["staticKeys", "expirationTime"], "2026-02-28T23:59:59Z"),
      failures: [
        'staticKeys.expirationTime must be in the future, at most 365 days ahead, not "2026-02-28T23:59:59Z"',
      ],
    },
    {
      name: "keys that live too long",
      inputs: withValue(staticKeys, ["staticKeys", "expirationTime"], "2027-03-01T00:00:01Z"),
      failures: ["staticKeys.expirationTime must be at most 365 days after the creation of the identity"],
    },
  ],
};
