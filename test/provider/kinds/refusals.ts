import { output } from "@pulumi/pulumi";
import { checkInputs } from "../../../provider/fields/check";
import { UNKNOWN } from "../../../provider/fields/values";
import type { Props } from "../../../provider/fields/values";
import {
  CERTIFICATE,
  GROUP_UID,
  PROVIDER_UID,
  PUBLIC_KEY,
  ROLE_UID,
  ROOT_UID,
  sampleOf,
  specOf,
  withValue,
} from "../support/samples";

interface Refusal {
  readonly name: string;
  readonly inputs: Props;
  readonly failures: readonly string[];
}

export const NOW = Date.parse("2026-03-01T00:00:00Z");
/** Keys that expire in time, by that clock. */
export const staticKeys = withValue(
  sampleOf("Identity", "keys"),
  ["staticKeys", "expirationTime"],
  "2027-01-01T00:00:00Z",
);

const GROUP_UID_WANTED =
  "must be the uid of a group: 40 hex digits, then 16 more after each slash; use the id of a Group or of getGroup";
const UID_WANTED =
  "must be a uid: 40 hex digits, then 16 more after each slash; use the id of a resource or a lookup";
export const NAME_WANTED = "must be lower-case letters, digits, blanks, dots, underscores and dashes only";
const DIGEST_WANTED = 'must be the digest of an image: "sha256:" and 64 hex digits in lower case';
const ANCHOR = "must be a regular expression in RE2 syntax (no look-around, no back-references):";
const SANITISED = "HTML that a sanitiser would change is refused";

export function failuresOf(kind: string, inputs: Props, olds: Props = {}, now = NOW): string[] {
  return checkInputs(specOf(kind), inputs, { olds, now }).map(
    ({ property, reason }) => `${property} ${reason}`,
  );
}

/** What check refuses, and in which words, by the kind. */
export const refusals: Readonly<Record<string, readonly Refusal[]>> = {
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
  Role: [
    {
      name: "wrong capabilities",
      inputs: {
        parentUid: `${ROOT_UID}/`,
        name: "puller",
        capabilities: [
          "repo.list",
          "CAP_REPO_LIST",
          "REPO_LIST",
          "cap_repo_lst",
          null,
          "",
          7,
          "CAP_",
          "nonsense",
        ],
        capabilites: [],
      },
      failures: [
        'capabilites is not an argument; did you mean "capabilities"?',
        `parentUid ${GROUP_UID_WANTED}`,
        'capabilities[0] must be a full name that begins with CAP_, not "repo.list"; did you mean CAP_REPO_LIST?',
        'capabilities[2] must be a full name that begins with CAP_, not "REPO_LIST"; did you mean CAP_REPO_LIST?',
        'capabilities[3] must be a full name that begins with CAP_, not "cap_repo_lst"; did you mean CAP_REPO_LIST?',
        "capabilities[4] must not be empty",
        "capabilities[5] must not be empty",
        "capabilities[6] must be a string, not the number 7",
        'capabilities[7] must be a full name that begins with CAP_, not "CAP_", as in CAP_IAM_GROUPS_CREATE',
        'capabilities[8] must be a full name that begins with CAP_, not "nonsense", as in CAP_IAM_GROUPS_CREATE',
      ],
    },
  ],
  GroupAccess: [
    {
      name: "wrong labels and wrong bindings",
      inputs: {
        parentUid: GROUP_UID,
        bindings: {
          "": { identityUid: ROOT_UID, roleUid: ROOT_UID },
          "two\nlines": { identityUid: ROOT_UID, roleUid: ROLE_UID },
          "unmanaged: alice as owner": { identityUid: GROUP_UID, roleUid: ROOT_UID },
          half: { identityUid: ROLE_UID },
          none: null,
          text: "owner",
          wrong: { identityUid: "alice", roleUid: "owner", parentUid: ROOT_UID },
        },
        ignore: { identities: [], identityUids: ["alice"], namePatterns: ["(?=a)"] },
      },
      failures: [
        'bindings[""] must have a key that is not empty',
        'bindings[""] key must be one line of at most 100 characters',
        'bindings["two\\nlines"] key must be one line of at most 100 characters',
        'bindings["unmanaged: alice as owner"] has a label that begins with "unmanaged:", which is reserved for bindings that the program does not have',
        "bindings.half.roleUid is missing: give a uid, as in the id of another resource",
        "bindings.none must have a value",
        'bindings.text must be an object, as in { identityUid: "…", roleUid: "…" }, not a string',
        "bindings.wrong.parentUid is not an argument",
        `bindings.wrong.identityUid ${UID_WANTED}`,
        `bindings.wrong.roleUid ${UID_WANTED}, as getRoleOutput({ name: "owner" }).uid`,
        "ignore.identities is not an argument",
        `ignore.identityUids[0] ${UID_WANTED}`,
        `ignore.namePatterns[0] ${ANCHOR} invalid or unsupported Perl syntax: \`(?=\``,
      ],
    },
    {
      name: "one grant under two labels, of which only the known are told",
      inputs: {
        parentUid: GROUP_UID,
        bindings: {
          a: { identityUid: ROOT_UID, roleUid: ROLE_UID },
          b: { identityUid: ROOT_UID, roleUid: UNKNOWN },
          c: { identityUid: ROOT_UID, roleUid: ROLE_UID },
          d: { identityUid: ROOT_UID, roleUid: UNKNOWN },
          e: UNKNOWN,
        },
      },
      failures: ['bindings.c grants the same role to the same identity as "a": remove one of them'],
    },
  ],
  GroupInvite: [
    ...["0s", "-1s", "0h0m"].map((ttl) => ({
      name: `a life of ${ttl}`,
      inputs: { parentUid: GROUP_UID, roleUid: ROLE_UID, ttl },
      failures: [`ttl must be greater than 0s, not ${ttl}`],
    })),
    {
      name: "a life as a number",
      inputs: { parentUid: GROUP_UID, roleUid: ROLE_UID, ttl: 24 },
      failures: ['ttl must be a string, as in "24h", not the number 24'],
    },
  ],
  ExternalGroupRoleMapping: [
    {
      name: "a scope below a root",
      inputs: { parentUid: PROVIDER_UID, externalGroupId: "a", roleUid: ROLE_UID, scope: GROUP_UID },
      failures: ["scope must be the uid of a root group, which has no slash"],
    },
  ],
  Repo: [
    {
      name: "what the source gives, set beside it",
      inputs: {
        parentUid: GROUP_UID,
        name: "nginx",
        catalogTier: "CATALOG_TIER_BASE",
        bundles: ["base"],
        aliases: ["a:b"],
        activeTags: ["latest"],
        syncConfig: { source: "" },
      },
      failures: [
        "syncConfig.source is missing: give a string that is not empty",
        ...["catalogTier", "bundles", "aliases", "activeTags"].map(
          (key) => `${key} conflicts with syncConfig, whose source provides it: remove it`,
        ),
      ],
    },
    {
      name: "every part of customOverlay, each wrong",
      inputs: {
        parentUid: GROUP_UID,
        name: "nginx",
        customOverlay: {
          contents: {
            runtimeKeyring: [
              { name: ".hidden", content: "no key" },
              { name: "a/b" },
              { name: "acme.rsa.pub", content: PUBLIC_KEY },
            ],
          },
          environment: { CHAINGUARD_X: "1" },
          annotations: {
            "dev.chainguard.x": "1",
            "org.opencontainers.image.title": "1",
          },
          accounts: {
            users: [
              { uid: 1.5, gid: 2147483648 },
              { username: "web", uid: -2147483648 },
            ],
            groups: [{ groupName: "web" }],
          },
          certificates: {
            additional: [{ name: "acme", content: "MIIB" }, { content: CERTIFICATE }, { name: "acme" }],
          },
        },
      },
      failures: [
        "customOverlay.contents.runtimeKeyring[0].name must be a plain file name: letters, digits and _ . @ + -, without a leading dot or a slash",
        'customOverlay.contents.runtimeKeyring[0].content must be an RSA public key in PEM, beginning "-----BEGIN PUBLIC KEY-----"',
        "customOverlay.contents.runtimeKeyring[1].name must be a plain file name: letters, digits and _ . @ + -, without a leading dot or a slash",
        "customOverlay.contents.runtimeKeyring[1].content is missing: give a string that is not empty",
        "customOverlay.environment.CHAINGUARD_X is reserved: keys that begin with CHAINGUARD_ are refused",
        'customOverlay.annotations["dev.chainguard.x"] is reserved: keys that begin with dev.chainguard. or org.opencontainers. are refused',
        'customOverlay.annotations["org.opencontainers.image.title"] is reserved: keys that begin with dev.chainguard. or org.opencontainers. are refused',
        "customOverlay.accounts.users[0].username is missing: give a string that is not empty",
        "customOverlay.accounts.users[0].uid must be a whole number, not the number 1.5",
        "customOverlay.accounts.users[0].gid must be a whole number, not the number 2147483648",
        'customOverlay.accounts.groups[0].groupName is not an argument; did you mean "groupname"?',
        'customOverlay.certificates.additional[0].content must be a certificate in PEM, beginning "-----BEGIN CERTIFICATE-----"',
        "customOverlay.certificates.additional[1].name is missing: give a string that is not empty",
        "customOverlay.certificates.additional[2].content is missing: give a string that is not empty",
      ],
    },
  ],
  RepoReadme: [
    {
      name: "a text of blanks in a repository without a uid",
      inputs: { parentUid: "nginx", content: " \n", readme: "# nginx" },
      failures: [
        "readme is not an argument",
        `parentUid ${UID_WANTED}`,
        "content is missing: give a string that is not empty",
      ],
    },
    {
      name: "all that runs a script",
      inputs: {
        parentUid: GROUP_UID,
        content: '# a\n<SCRIPT src="x"></SCRIPT>\n<img src="x" onError = "y">\n[b](javascript:y)\n',
      },
      failures: [
        `content must not contain <script>: ${SANITISED}`,
        `content must not contain an attribute that runs a script, as in onclick=: ${SANITISED}`,
        `content must not contain a link to javascript:: ${SANITISED}`,
      ],
    },
    ...["<a href=JavaScript:y>b</a>", "[b]( <javascript:y>)", "[b]: javascript:y"].map((content) => ({
      name: content,
      inputs: { parentUid: GROUP_UID, content },
      failures: [`content must not contain a link to javascript:: ${SANITISED}`],
    })),
    {
      name: "more than a message may hold",
      inputs: { parentUid: GROUP_UID, content: "é".repeat(2 ** 21) },
      failures: ["content must be smaller than 4 MiB"],
    },
  ],
  Tag: [
    ...["nginx", "6b3f".repeat(16), `sha512:${"a".repeat(128)}`, `nginx@sha256:${"a".repeat(64)}`].map(
      (digest) => ({
        name: `the digest ${digest.slice(0, 20)}`,
        inputs: { parentUid: GROUP_UID, name: "a".repeat(128), digest },
        failures: [`digest ${DIGEST_WANTED}`],
      }),
    ),
  ],
  Subscription: [
    {
      name: "a sink with a password",
      inputs: { parentUid: ROLE_UID, sink: "https://user:secret@events.example.com" },
      failures: [" sink must not contain a user name or a password"],
    },
  ],
  IdentityProvider: [
    {
      name: "a secret in every wrong place: no failure at a property whose value would be printed",
      inputs: {
        parentUid: ROOT_UID,
        name: "directory",
        defaultRole: ROLE_UID,
        clientSecret: "canary",
        oidc: { issuer: "https://login.example.com", clientId: "platform", clientSceret: "canary" },
      },
      failures: [
        " clientSecret is not an argument",
        'oidc.clientSceret is not an argument; did you mean "clientSecret"?',
        "oidc.clientSecret is missing: give clientSecret, pkceEnabled or both",
      ],
    },
    {
      name: "a list in place of the object that holds the secret",
      inputs: { parentUid: ROOT_UID, name: "directory", defaultRole: ROLE_UID, oidc: ["canary"] },
      failures: [" oidc is missing: give an object"],
    },
  ],
  ScimToken: [
    {
      name: "an end in the past, and a negative overlap",
      inputs: { parentUid: GROUP_UID, expireTime: "2026-01-01T00:00:00Z", overlap: "-1s" },
      failures: [
        'expireTime must be in the future, at most 731 days ahead, not "2026-01-01T00:00:00Z"',
        'overlap must be between "0s" and "24h"',
      ],
    },
    {
      name: "an end too far ahead, and an overlap too long",
      inputs: { parentUid: GROUP_UID, expireTime: "2028-03-03T00:00:00Z", overlap: "24h1s" },
      failures: ["expireTime must be at most two years ahead", 'overlap must be between "0s" and "24h"'],
    },
  ],
  AccountAssociation: [
    {
      name: "every member wrong",
      inputs: {
        parentUid: "acme",
        name: "a",
        amazon: { account: " " },
        google: { projectId: " ", projectNumber: " " },
        azure: { tenantId: " ", clientIds: { "": "x", pull: null } },
        chainguard: { serviceBindings: { INGESTER: "ingester" } },
        github: {
          appInstallations: {
            app: { installations: [{ installationId: "1" }] },
            "012": { installations: [] },
            "12": { installations: [{ name: "acme" }, { installationId: 7 }] },
            "13": { installations: [{ installationId: "1.5" }] },
          },
        },
        awaitReady: ["aws", "github", ""],
      },
      failures: [
        `parentUid ${GROUP_UID_WANTED}`,
        ...["amazon.account", "google.projectId", "google.projectNumber", "azure.tenantId"].map(
          (path) => `${path} is missing: give a string that is not empty`,
        ),
        'azure.clientIds[""] must have a key that is not empty',
        "azure.clientIds.pull must have a value",
        `chainguard.serviceBindings.INGESTER ${UID_WANTED}`,
        'github.appInstallations["12"].installations[0].installationId is missing: give a string that is not empty',
        'github.appInstallations["12"].installations[1].installationId must be a string, as in "12345", not the number 7',
        'github.appInstallations["13"].installations[0].installationId must be a whole number up to 9223372036854775807, as in 12345',
        "github.appInstallations.app key must be a whole number, as in 12345",
        'github.appInstallations["012"] key must be a whole number, as in 12345',
        'github.appInstallations["012"].installations is missing: give at least one',
        "awaitReady[0] must be amazon, google or azure",
        "awaitReady[1] must be amazon, google or azure",
        "awaitReady[2] must not be empty",
      ],
    },
    {
      name: "waiting for accounts that are not given",
      inputs: {
        parentUid: GROUP_UID,
        name: "a",
        amazon: { account: "123456789012" },
        google: null,
        awaitReady: ["amazon", "google", "azure", "azure"],
      },
      failures: ["google", "azure"].map(
        (name) => `awaitReady names ${name}, but ${name} is not set: set it, or remove it here`,
      ),
    },
  ],
};
