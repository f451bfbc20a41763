import { output } from "@pulumi/pulumi";
import { GROUP_UID, withValue } from "../../support/samples";
import { GROUP_UID_WANTED, NAME_WANTED, URL_WANTED, ANCHOR, staticKeys } from "./support";
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
      name: "every member of claimMatch, each wrong",
      inputs: {
        parentUid: GROUP_UID,
        name: "ci",
        claimMatch: {
          issuer: "token.example.com",
          issuerPattern: "(",
          subject: 7,
          subjectPattern: "a(?!b)",
          audience: "x",
          audiencePattern: "[",
          claims: { ref: 5, "": "x", empty: null },
          claimPatterns: { ref: "(?<=a)b", "job workflow": "\\1" },
          subjet: "x",
        },
      },
      failures: [
        'claimMatch.subjet is not an argument; did you mean "subject"?',
        `claimMatch.issuer ${URL_WANTED}, not "token.example.com"; did you mean "https://token.example.com"?`,
        `claimMatch.issuerPattern ${ANCHOR} missing closing ): \`(\``,
        "claimMatch.subject must be a string, not the number 7",
        `claimMatch.subjectPattern ${ANCHOR} invalid or unsupported Perl syntax: \`(?!\``,
        `claimMatch.audiencePattern ${ANCHOR} missing closing ]: \`[\``,
        "claimMatch.claims.ref must be a string, not the number 5",
        'claimMatch.claims[""] must have a key that is not empty',
        "claimMatch.claims.empty must have a value",
        `claimMatch.claimPatterns.ref ${ANCHOR} invalid named capture: \`(?<=a)b\``,
        `claimMatch.claimPatterns["job workflow"] ${ANCHOR} invalid escape sequence: \`\\1\``,
        "claimMatch.issuerPattern conflicts with issuer; set only one of issuer, issuerPattern",
        "claimMatch.subjectPattern conflicts with subject; set only one of subject, subjectPattern",
        "claimMatch.audiencePattern conflicts with audience; set only one of audience, audiencePattern",
      ],
    },
    {
      name: "every member of staticKeys, each wrong",
      inputs: {
        parentUid: GROUP_UID,
        name: "ci",
        staticKeys: {
          issuer: "ftp://example.com",
          subject: " ",
          issuerKeys: "-----BEGIN PUBLIC KEY-----",
          expirationTime: "2020-01-01",
          audiences: ["a", ""],
        },
      },
      failures: [
        `staticKeys.issuer ${URL_WANTED}`,
        "staticKeys.subject is missing: give a string that is not empty",
        'staticKeys.issuerKeys must be a JSON Web Key Set as a string: {"keys": [ … ]}; this is not JSON',
        'staticKeys.expirationTime must be an RFC 3339 time with a zone, as in "2027-01-31T12:00:00Z"',
        "staticKeys.audiences must hold at most 1, not 2",
        "staticKeys.audiences[1] must not be empty",
      ],
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
    {
      name: "every member of awsIdentity, each wrong",
      inputs: {
        parentUid: GROUP_UID,
        name: "ci",
        awsIdentity: { awsAccount: "1234", arn: "a", arnPattern: "*", userId: "b", userIdPattern: "(?P<a" },
      },
      failures: [
        "awsIdentity.awsAccount must be the 12 digits of an AWS account",
        `awsIdentity.arnPattern ${ANCHOR} missing argument to repetition operator: \`*\``,
        `awsIdentity.userIdPattern ${ANCHOR} invalid named capture: \`(?P<a\``,
        "awsIdentity.arnPattern conflicts with arn; set only one of arn, arnPattern",
        "awsIdentity.userIdPattern conflicts with userId; set only one of userId, userIdPattern",
      ],
    },
  ],
};
