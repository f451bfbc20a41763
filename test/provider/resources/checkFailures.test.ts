import fc, { casesOf } from "../../support/properties";
import { checkInputs } from "../../../provider/engine/checks/checkInputs";
import { UNKNOWN } from "../../../provider/engine/description";
import type { CheckContext, FieldSpec, Json, Props } from "../../../provider/engine/description";
import {
  CERTIFICATE,
  GROUP_UID,
  JWKS,
  PROVIDER_UID,
  PUBLIC_KEY,
  ROLE_UID,
  ROOT_UID,
  sampleOf,
  samples,
  specOf,
  specs,
  withValue,
} from "../support/samples";

const NOW = Date.parse("2026-03-01T00:00:00Z");
/** Keys that expire in time, by that clock. */
const staticKeys = withValue(
  sampleOf("Identity", "keys"),
  ["staticKeys", "expirationTime"],
  "2027-01-01T00:00:00Z",
);
const context: CheckContext = { olds: {}, now: NOW };

function failuresOf(kind: string, inputs: Props, olds: Props = {}, now = NOW): string[] {
  return checkInputs(specOf(kind), inputs, { olds, now }).map(
    ({ property, reason }) => `${property} ${reason}`,
  );
}

interface Case {
  readonly name: string;
  readonly inputs: Props;
  readonly failures: readonly string[];
}

const GROUP_UID_WANTED =
  "must be the uid of a group: 40 hex digits, then 16 more after each slash; use the id of a Group or of getGroup";
const UID_WANTED =
  "must be a uid: 40 hex digits, then 16 more after each slash; use the id of a resource or a lookup";
const NAME_WANTED = "must be lower-case letters, digits, blanks, dots, underscores and dashes only";
const URL_WANTED = "must be an absolute https or http URL, as in https://example.com/path";
const TAG_WANTED =
  "must be a tag: at most 128 letters, digits, dots, underscores and dashes, not beginning with a dot or dash";
const DIGEST_WANTED = 'must be the digest of an image: "sha256:" and 64 hex digits in lower case';
const SANITISED = "HTML that a sanitiser would change is refused";
const ANCHOR = "must be a regular expression in RE2 syntax (no look-around, no back-references):";

const cases: Readonly<Record<string, readonly Case[]>> = {
  Group: [
    { name: "nothing at all", inputs: {}, failures: ["name is missing: give a string that is not empty"] },
    {
      name: "a blank name",
      inputs: { name: "  " },
      failures: ["name is missing: give a string that is not empty"],
    },
    {
      name: "wrong types everywhere",
      inputs: { parentUid: 5, name: ["a"], description: {}, kind: true, verified: "true" },
      failures: [
        "parentUid must be a string, not the number 5",
        "name must be a string, not a list",
        "description must be a string, not an object",
        "kind must be a string, not the boolean true",
        "verified must be true or false, not a string",
      ],
    },
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
        'kind must be a full name that begins with ORG_KIND_, not "customer"; did you mean ORG_KIND_CUSTOMER?',
        "kind can be set only on a root group; groups below inherit it: remove it here",
        "verified can be set only on a root group; groups below inherit it: remove it here",
      ],
    },
    {
      name: "a long description",
      inputs: { name: "team", description: "é".repeat(513) },
      failures: ["description must have at most 512 characters, not 513"],
    },
    {
      name: "a verified root group without a kind",
      inputs: { name: "acme", verified: true },
      failures: ["kind is missing: a verified organisation needs a kind"],
    },
    {
      name: "an argument unlike any other",
      inputs: { name: "team", completelyDifferent: 1, "with blank": 1 },
      failures: ["completelyDifferent is not an argument", '["with blank"] is not an argument'],
    },
    {
      name: "a kind unlike any other",
      inputs: { name: "acme", kind: "ORG_KIND_customer!" },
      failures: [
        'kind must be a full name that begins with ORG_KIND_, not "ORG_KIND_customer!"; did you mean ORG_KIND_CUSTOMER?',
      ],
    },
    {
      name: "a kind that resembles none",
      inputs: { name: "acme", kind: "something else" },
      failures: [
        'kind must be a full name that begins with ORG_KIND_, not "something else", as in ORG_KIND_STARTER',
      ],
    },
  ],
  Identity: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "name is missing: give a string that is not empty",
        "claimMatch needs exactly one of claimMatch, staticKeys, awsIdentity, servicePrincipal",
      ],
    },
    {
      name: "all four relationships, each wrong",
      inputs: {
        parentUid: GROUP_UID,
        name: "CI",
        description: "a\tb",
        company: 1,
        claimMatch: {},
        staticKeys: {},
        awsIdentity: {},
        servicePrincipal: "ingester",
      },
      failures: [
        `name ${NAME_WANTED}`,
        "description must be one line, without tabs",
        "company must be a string, not the number 1",
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
          audience: null,
          audiencePattern: "[",
          claims: { ref: 5, "": "x", empty: null },
          claimPatterns: { ref: "(?<=a)b", "job workflow": "\\1" },
          subjet: "x",
        },
      },
      failures: [
        'claimMatch.subjet is not an argument; did you mean "subject"?',
        `claimMatch.issuer ${URL_WANTED}`,
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
      ],
    },
    {
      name: "an exact audience beside a pattern",
      inputs: withValue(sampleOf("Identity", "claims"), ["claimMatch", "audiencePattern"], "^a$"),
      failures: [
        "claimMatch.audiencePattern conflicts with audience; set only one of audience, audiencePattern",
      ],
    },
    {
      name: "an issuer with a password",
      inputs: withValue(sampleOf("Identity", "claims"), ["claimMatch", "issuer"], "https://a:b@example.com"),
      failures: ["claimMatch.issuer must not contain a user name or a password"],
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
      name: "keys without a list",
      inputs: withValue(staticKeys, ["staticKeys", "issuerKeys"], '{"kty":"RSA"}'),
      failures: ['staticKeys.issuerKeys must be a JSON Web Key Set: an object with a list "keys"'],
    },
    {
      name: "no keys",
      inputs: withValue(staticKeys, ["staticKeys", "issuerKeys"], '{"keys":[]}'),
      failures: ['staticKeys.issuerKeys must contain at least one key in "keys"'],
    },
    {
      name: "a key without a type",
      inputs: withValue(staticKeys, ["staticKeys", "issuerKeys"], '{"keys":[{"n":"A"}]}'),
      failures: ['staticKeys.issuerKeys must be a JSON Web Key Set: keys[0] has no "kty"'],
    },
    {
      name: "a private key",
      inputs: withValue(
        staticKeys,
        ["staticKeys", "issuerKeys"],
        '{"keys":[{"kty":"RSA","n":"A"},{"kty":"RSA","n":"A","d":"secret"}]}',
      ),
      failures: [
        'staticKeys.issuerKeys must contain only public keys: keys[1] has the private member "d"; give the public half, and treat this key as exposed',
      ],
    },
    {
      name: "keys that have expired",
      inputs: withValue(staticKeys, ["staticKeys", "expirationTime"], "2026-02-28T23:59:59Z"),
      failures: ["staticKeys.expirationTime must be in the future"],
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
    {
      name: "relationships of wrong types",
      inputs: { parentUid: GROUP_UID, name: "ci", claimMatch: "x" },
      failures: ["claimMatch must be an object, not a string"],
    },
  ],
  Role: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "name is missing: give a string that is not empty",
        "capabilities is missing: give at least one",
      ],
    },
    {
      name: "no capabilities",
      inputs: { parentUid: GROUP_UID, name: "puller", capabilities: [] },
      failures: ["capabilities is missing: give at least one"],
    },
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
    {
      name: "capabilities that are no list",
      inputs: { parentUid: GROUP_UID, name: "puller", capabilities: "CAP_REPO_LIST" },
      failures: ["capabilities must be a list, not a string"],
    },
  ],
  RoleBinding: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "identityUid is missing: give a uid, as in the id of another resource",
        "roleUid is missing: give a uid, as in the id of another resource",
      ],
    },
    {
      name: "wrong uids",
      inputs: {
        parentUid: ROOT_UID.toUpperCase(),
        identityUid: `/${ROOT_UID}`,
        roleUid: "viewer",
        role: "viewer",
      },
      failures: [
        "role is not an argument",
        `parentUid ${GROUP_UID_WANTED}`,
        `identityUid ${UID_WANTED}`,
        `roleUid ${UID_WANTED}`,
      ],
    },
    {
      name: "wrong types",
      inputs: { parentUid: { uid: ROOT_UID }, identityUid: [ROOT_UID], roleUid: 7 },
      failures: [
        "parentUid must be a string, not an object",
        "identityUid must be a string, not a list",
        "roleUid must be a string, not the number 7",
      ],
    },
  ],
  GroupAccess: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "bindings is missing: give a map (an object of keys and values)",
      ],
    },
    {
      name: "wrong types",
      inputs: { parentUid: 1, bindings: [], ignore: "all", allowSelfRemoval: "yes" },
      failures: [
        "parentUid must be a string, not the number 1",
        "bindings must be a map (an object of keys and values), not a list",
        "ignore must be an object, not a string",
        "allowSelfRemoval must be true or false, not a string",
      ],
    },
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
        "bindings.text must be an object, not a string",
        "bindings.wrong.parentUid is not an argument",
        `bindings.wrong.identityUid ${UID_WANTED}`,
        `bindings.wrong.roleUid ${UID_WANTED}`,
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
      failures: ['bindings "c" grants the same role to the same identity as "a": remove one of them'],
    },
  ],
  Repo: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "name is missing: give a string that is not empty",
      ],
    },
    {
      name: "wrong values at the top",
      inputs: {
        parentUid: GROUP_UID,
        name: "nginx",
        description: "a".repeat(600),
        catalogTier: "BASE",
        bundles: ["Base", "ok", 1],
        aliases: ["nginx", "nginx:latest"],
        activeTags: [".hidden", "a".repeat(129), "latest"],
        syncConfg: {},
      },
      failures: [
        'syncConfg is not an argument; did you mean "syncConfig"?',
        "description must have at most 512 characters, not 600",
        'catalogTier must be a full name that begins with CATALOG_TIER_, not "BASE"; did you mean CATALOG_TIER_BASE?',
        'bundles[0] must be a bundle\'s name in lower case, as in "base" or "ai-gpu"',
        "bundles[2] must be a string, not the number 1",
        'aliases[0] must be a name and a tag, as in "nginx:latest"',
        "activeTags[0] must be a tag: at most 128 letters, digits, dots, underscores and dashes, not beginning with a dot or dash",
        "activeTags[1] must be a tag: at most 128 letters, digits, dots, underscores and dashes, not beginning with a dot or dash",
      ],
    },
    {
      name: "what the source gives, set beside it",
      inputs: {
        parentUid: GROUP_UID,
        name: "nginx",
        catalogTier: "CATALOG_TIER_BASE",
        bundles: ["base"],
        aliases: ["a:b"],
        activeTags: ["latest"],
        syncConfig: { source: "", goggle: "x", amazon: 1 },
      },
      failures: [
        'syncConfig.goggle is not an argument; did you mean "google"?',
        "syncConfig.source is missing: give a string that is not empty",
        "syncConfig.amazon must be a string, not the number 1",
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
            packages: ["curl", ""],
            runtimeRepositories: "https://packages.example.com",
            runtimeKeyring: [
              { name: ".hidden", content: "no key" },
              { name: "a/b" },
              "acme",
              { name: "acme.rsa.pub", content: PUBLIC_KEY },
            ],
          },
          environment: { CHAINGUARD_X: "1", LANG: 5, "a b": null },
          annotations: {
            "dev.chainguard.x": "1",
            "org.opencontainers.image.title": "1",
            "com.example": ["x"],
          },
          accounts: {
            runAs: 65532,
            users: [
              { uid: 1.5, gid: 2147483648 },
              { username: "web", uid: -2147483648, homeDirs: "/" },
            ],
            groups: [{ groupName: "web" }, { groupname: "web", gid: "1", members: [null] }],
          },
          certificates: {
            additional: [{ name: "acme", content: "MIIB" }, { content: CERTIFICATE }],
            providers: {},
          },
          content: {},
        },
      },
      failures: [
        'customOverlay.content is not an argument; did you mean "contents"?',
        "customOverlay.contents.packages[1] must not be empty",
        "customOverlay.contents.runtimeRepositories must be a list, not a string",
        "customOverlay.contents.runtimeKeyring[0].name must be a plain file name: letters, digits and _ . @ + -, without a leading dot or a slash",
        'customOverlay.contents.runtimeKeyring[0].content must be an RSA public key in PEM, beginning "-----BEGIN PUBLIC KEY-----"',
        "customOverlay.contents.runtimeKeyring[1].name must be a plain file name: letters, digits and _ . @ + -, without a leading dot or a slash",
        "customOverlay.contents.runtimeKeyring[1].content is missing: give a string that is not empty",
        "customOverlay.contents.runtimeKeyring[2] must be an object, not a string",
        "customOverlay.environment.CHAINGUARD_X is reserved: keys that begin with CHAINGUARD_ are refused",
        "customOverlay.environment.LANG must be a string, not the number 5",
        'customOverlay.environment["a b"] must have a value',
        'customOverlay.annotations["dev.chainguard.x"] is reserved: keys that begin with dev.chainguard. or org.opencontainers. are refused',
        'customOverlay.annotations["org.opencontainers.image.title"] is reserved: keys that begin with dev.chainguard. or org.opencontainers. are refused',
        'customOverlay.annotations["com.example"] must be a string, not a list',
        "customOverlay.accounts.runAs must be a string, not the number 65532",
        "customOverlay.accounts.users[0].username is missing: give a string that is not empty",
        "customOverlay.accounts.users[0].uid must be a whole number, not the number 1.5",
        "customOverlay.accounts.users[0].gid must be a whole number, not the number 2147483648",
        'customOverlay.accounts.users[1].homeDirs is not an argument; did you mean "homeDir"?',
        'customOverlay.accounts.groups[0].groupName is not an argument; did you mean "groupname"?',
        "customOverlay.accounts.groups[0].groupname is missing: give a string that is not empty",
        "customOverlay.accounts.groups[1].gid must be a whole number, not a string",
        "customOverlay.accounts.groups[1].members[0] must not be empty",
        'customOverlay.certificates.additional[0].content must be a certificate in PEM, beginning "-----BEGIN CERTIFICATE-----"',
        "customOverlay.certificates.additional[1].name is missing: give a string that is not empty",
        "customOverlay.certificates.providers must be a list, not an object",
      ],
    },
  ],
  RepoReadme: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "content is missing: give a string that is not empty",
      ],
    },
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
      name: "no text",
      inputs: { parentUid: GROUP_UID, content: { markdown: "# nginx" } },
      failures: ["content must be a string, not an object"],
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
    ...[
      '<a href="javascript:y">b</a>',
      "<a href=JavaScript:y>b</a>",
      "[b]( <javascript:y>)",
      "[b]: javascript:y",
      "<javascript:y>",
    ].map((content) => ({
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
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "name is missing: give a string that is not empty",
        "digest is missing: give a string that is not empty",
      ],
    },
    {
      name: "wrong types everywhere",
      inputs: { parentUid: 1, name: 1.27, digest: { sha256: "6b3f" }, deprecated: "yes", bundles: "base" },
      failures: [
        "parentUid must be a string, not the number 1",
        "name must be a string, not the number 1.27",
        "digest must be a string, not an object",
        "deprecated must be true or false, not a string",
        "bundles must be a list, not a string",
      ],
    },
    {
      name: "wrong values everywhere",
      inputs: {
        parentUid: "nginx",
        name: "-latest",
        digest: `sha256:${"A".repeat(64)}`,
        bundles: ["Base", ""],
        depricated: true,
      },
      failures: [
        'depricated is not an argument; did you mean "deprecated"?',
        `parentUid ${UID_WANTED}`,
        `name ${TAG_WANTED}`,
        `digest ${DIGEST_WANTED}`,
        'bundles[0] must be a bundle\'s name in lower case, as in "base" or "ai-gpu"',
        "bundles[1] must not be empty",
      ],
    },
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
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "sink is missing: give a string that is not empty",
      ],
    },
    {
      name: "a sink without encryption",
      inputs: { parentUid: ROLE_UID, sink: "http://events.example.com", sinkUrl: "x" },
      failures: [
        "sinkUrl is not an argument",
        "sink must be an absolute https URL, as in https://example.com/path",
      ],
    },
    {
      name: "a sink with a password",
      inputs: { parentUid: ROLE_UID, sink: "https://user:secret@events.example.com" },
      failures: [" sink must not contain a user name or a password"],
    },
  ],
  IdentityProvider: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "name is missing: give a string that is not empty",
        "defaultRole is missing: give a uid, as in the id of another resource",
        " oidc is missing: give an object",
      ],
    },
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
      name: "secrets that are no text",
      inputs: {
        parentUid: ROOT_UID,
        name: "directory",
        defaultRole: ROLE_UID,
        oidc: { issuer: "https://login.example.com", clientId: "platform", clientSecret: 3141592653 },
      },
      failures: ["oidc.clientSecret must be a string"],
    },
    {
      name: "a list in place of the object that holds the secret",
      inputs: { parentUid: ROOT_UID, name: "directory", defaultRole: ROLE_UID, oidc: ["canary"] },
      failures: [" oidc is missing: give an object"],
    },
    {
      name: "wrong values everywhere",
      inputs: {
        parentUid: "acme",
        name: "directory",
        description: "a\tb",
        defaultRole: "viewer",
        scimEnabled: "yes",
        oidc: {
          issuer: "login.example.com",
          clientId: "",
          clientSecret: "",
          additionalScopes: ["email", ""],
          groupsClaim: 5,
          correlationRule: "sub",
          pkceEnabled: false,
        },
      },
      failures: [
        `parentUid ${GROUP_UID_WANTED}`,
        "description must be one line, without tabs",
        `defaultRole ${UID_WANTED}`,
        `oidc.issuer ${URL_WANTED}`,
        "oidc.clientId is missing: give a string that is not empty",
        "oidc.additionalScopes[1] must not be empty",
        "oidc.groupsClaim must be a string, not the number 5",
        'oidc.correlationRule must be a full name that begins with CORRELATION_RULE_, not "sub", as in CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID',
        "scimEnabled must be true or false, not a string",
        "oidc.clientSecret is missing: give clientSecret, pkceEnabled or both",
      ],
    },
  ],
  ScimToken: [
    {
      name: "nothing at all",
      inputs: {},
      failures: ["parentUid is missing: give a uid, as in the id of another resource"],
    },
    {
      name: "wrong values everywhere",
      inputs: {
        parentUid: "login",
        expireTime: "tomorrow",
        neverExpires: "no",
        overlap: "an hour",
        rotate: 2,
        token: "mine",
      },
      failures: [
        "token is not an argument",
        `parentUid ${UID_WANTED}`,
        'expireTime must be an RFC 3339 time with a zone, as in "2027-01-31T12:00:00Z"',
        "neverExpires must be true or false, not a string",
        'overlap must be a duration, as in "86400s", "24h" or "1h30m"; at most 315576000000s',
        "rotate must be a string, not the number 2",
        "neverExpires conflicts with expireTime; set only one of expireTime, neverExpires",
      ],
    },
    {
      name: "an end and none",
      inputs: { parentUid: GROUP_UID, expireTime: "2027-01-01T00:00:00Z", neverExpires: true },
      failures: ["neverExpires conflicts with expireTime; set only one of expireTime, neverExpires"],
    },
    {
      name: "an end in the past, and a negative overlap",
      inputs: { parentUid: GROUP_UID, expireTime: "2026-01-01T00:00:00Z", overlap: "-1s" },
      failures: ["expireTime must be in the future", 'overlap must be between "0s" and "24h"'],
    },
    {
      name: "an end too far ahead, and an overlap too long",
      inputs: { parentUid: GROUP_UID, expireTime: "2028-03-03T00:00:00Z", overlap: "24h1s" },
      failures: ["expireTime must be at most two years ahead", 'overlap must be between "0s" and "24h"'],
    },
  ],
  TermsAcceptance: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "documentIds is missing: give at least one",
      ],
    },
    {
      name: "no document, and wrong ones",
      inputs: { parentUid: "acme", documentIds: ["terms.v1", "", 3] },
      failures: [
        `parentUid ${GROUP_UID_WANTED}`,
        "documentIds[1] must not be empty",
        "documentIds[2] must be a string, not the number 3",
      ],
    },
  ],
  AccountAssociation: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "name is missing: give a string that is not empty",
      ],
    },
    {
      name: "blocks of wrong types",
      inputs: { parentUid: GROUP_UID, name: "a", amazon: "123456789012", google: [], github: 5 },
      failures: [
        "amazon must be an object, not a string",
        "google must be an object, not a list",
        "github must be an object, not the number 5",
      ],
    },
    {
      name: "empty blocks",
      inputs: {
        parentUid: GROUP_UID,
        name: "a",
        amazon: {},
        google: {},
        azure: {},
        chainguard: {},
        github: {},
      },
      failures: [
        "amazon.account is missing: give a string that is not empty",
        "google.projectId is missing: give a string that is not empty",
        "google.projectNumber is missing: give a string that is not empty",
        "azure.tenantId is missing: give a string that is not empty",
        "azure.clientIds is missing: give a map (an object of keys and values)",
        "chainguard.serviceBindings is missing: give a map (an object of keys and values)",
      ],
    },
    {
      name: "every member wrong",
      inputs: {
        parentUid: "acme",
        name: "a",
        amazon: { acount: "1", account: 123456789012 },
        google: { projectId: " ", projectNumber: 5 },
        azure: { tenantId: "t", clientIds: { "": "x", pull: null, push: 1 } },
        chainguard: { serviceBindings: { INGESTER: "ingester" } },
        github: {
          appInstallations: {
            app: { installations: [{ installationId: "1" }] },
            "012": { installations: [] },
            "12": { installation: [], installations: [{ name: "acme" }, { installationId: 7 }, "7"] },
            "13": { installations: [{ installationId: "1.5", name: 7 }, null] },
            "14": null,
          },
        },
        awaitReady: ["aws", "github", ""],
        aws: {},
      },
      failures: [
        "aws is not an argument",
        `parentUid ${GROUP_UID_WANTED}`,
        'amazon.acount is not an argument; did you mean "account"?',
        "amazon.account must be a string, not the number 123456789012",
        "google.projectId is missing: give a string that is not empty",
        "google.projectNumber must be a string, not the number 5",
        'azure.clientIds[""] must have a key that is not empty',
        "azure.clientIds.pull must have a value",
        "azure.clientIds.push must be a string, not the number 1",
        `chainguard.serviceBindings.INGESTER ${UID_WANTED}`,
        `github.appInstallations["12"].installation is not an argument; did you mean "installations"?`,
        'github.appInstallations["12"].installations[0].installationId is missing: give a string that is not empty',
        'github.appInstallations["12"].installations[1].installationId must be a string, not the number 7',
        'github.appInstallations["12"].installations[2] must be an object, not a string',
        'github.appInstallations["13"].installations[0].installationId must be a whole number, as in 12345',
        'github.appInstallations["13"].installations[0].name must be a string, not the number 7',
        'github.appInstallations["13"].installations[1] must not be empty',
        'github.appInstallations["14"] must have a value',
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
  GroupInvite: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "roleUid is missing: give a uid, as in the id of another resource",
        "ttl is missing: give a string that is not empty",
      ],
    },
    {
      name: "wrong values everywhere",
      inputs: {
        parentUid: "acme",
        roleUid: "viewer",
        ttl: "1 day",
        email: ["ada@example.com"],
        singleUse: "yes",
        code: "secret",
      },
      failures: [
        "code is not an argument",
        `parentUid ${GROUP_UID_WANTED}`,
        `roleUid ${UID_WANTED}`,
        'ttl must be a duration, as in "86400s", "24h" or "1h30m"; at most 315576000000s',
        "email must be a string, not a list",
        "singleUse must be true or false, not a string",
      ],
    },
    ...["0s", "-1s", "0h0m"].map((ttl) => ({
      name: `a life of ${ttl}`,
      inputs: { parentUid: GROUP_UID, roleUid: ROLE_UID, ttl },
      failures: ["ttl must be greater than 0s"],
    })),
    {
      name: "a life in seconds without a unit",
      inputs: { parentUid: GROUP_UID, roleUid: ROLE_UID, ttl: 86400 },
      failures: ["ttl must be a string, not the number 86400"],
    },
  ],
  ExternalGroupRoleMapping: [
    {
      name: "nothing at all",
      inputs: {},
      failures: [
        "parentUid is missing: give a uid, as in the id of another resource",
        "externalGroupId is missing: give a string that is not empty",
        "roleUid is missing: give a uid, as in the id of another resource",
        "scope is missing: give a uid, as in the id of another resource",
      ],
    },
    {
      name: "a scope below a root",
      inputs: { parentUid: PROVIDER_UID, externalGroupId: "a", roleUid: ROLE_UID, scope: GROUP_UID },
      failures: ["scope must be the uid of a root group, which has no slash"],
    },
    {
      name: "wrong values everywhere",
      inputs: { parentUid: "okta", externalGroupId: 7, roleUid: "viewer", scope: "acme", groupUid: ROOT_UID },
      failures: [
        "groupUid is not an argument",
        `parentUid ${UID_WANTED}`,
        "externalGroupId must be a string, not the number 7",
        `roleUid ${UID_WANTED}`,
        `scope ${GROUP_UID_WANTED}`,
      ],
    },
  ],
};

describe("what check refuses", () => {
  test.each(specs)("$kind: each argument that is missing, by its name", ({ kind, fields, oneOfs = [] }) => {
    const required = Object.keys(fields).filter((key) => fields[key]?.required);
    const choices = oneOfs.filter((oneOf) => oneOf.required).map(({ members: [first] }) => first);
    const named = failuresOf(kind, {}).map((failure) => failure.trim().split(" ")[0]);
    expect(named).toEqual(expect.arrayContaining([...required, ...choices]));
  });

  test.each(specs)("$kind: each argument of a wrong type, without its value", ({ kind, fields }) => {
    for (const [key, field] of Object.entries(fields)) {
      const inputs = { ...sampleOf(kind), [key]: field.type === "list" ? { canary: 1 } : ["canary"] };
      const failures = failuresOf(kind, inputs).filter((failure) => failure.trim().startsWith(key));
      expect([key, failures.length > 0]).toEqual([key, true]);
      expect(failures.join()).not.toContain("canary");
    }
  });

  describe.each(Object.keys(cases))("of %s", (kind) => {
    test.each(cases[kind] ?? [])(
      "$name: every failure at once, with property and text",
      ({ inputs, failures }) => {
        expect(failuresOf(kind, inputs)).toEqual(failures);
      },
    );
  });

  test("an expiration that was there before may lie in the past, or far ahead", () => {
    for (const time of ["2020-01-01T00:00:00Z", "2040-01-01T00:00:00Z"]) {
      const inputs = withValue(staticKeys, ["staticKeys", "expirationTime"], time);
      expect(failuresOf("Identity", inputs, inputs)).toEqual([]);
    }
  });

  test("an expiration spelled anew is not a new one", () => {
    const path = ["staticKeys", "expirationTime"];
    const before = withValue(staticKeys, path, "2020-01-01T00:00:00Z");
    const after = withValue(before, path, "2020-01-01T01:00:00.000+01:00");
    expect(failuresOf("Identity", after, before)).toEqual([]);
  });

  test("a new expiration of an identity that exists must be in the future, how far only the server knows", () => {
    const path = ["staticKeys", "expirationTime"];
    const before = withValue(staticKeys, path, "2026-06-01T00:00:00Z");
    expect(failuresOf("Identity", withValue(before, path, "2030-01-01T00:00:00Z"), before)).toEqual([]);
    expect(failuresOf("Identity", withValue(before, path, "2026-02-01T00:00:00Z"), before)).toEqual([
      "staticKeys.expirationTime must be in the future",
    ]);
  });

  test("a group whose parent is an empty text does not silently become a root group", () => {
    expect(failuresOf("Group", { parentUid: "", name: "acme", kind: "ORG_KIND_CUSTOMER" })).toEqual([
      "parentUid must not be empty: give a uid, or leave it out where there is no parent",
    ]);
  });

  test("a long value is not repeated whole in a message", () => {
    const long = "x".repeat(100_000);
    const reports = [
      ...failuresOf("Role", { parentUid: GROUP_UID, name: "r", capabilities: [long] }),
      ...failuresOf("Identity", {
        ...sampleOf("Identity", "service"),
        servicePrincipal: undefined,
        claimMatch: { issuerPattern: "(".repeat(2000), subject: "s" },
      }),
    ];
    expect(reports).toHaveLength(2);
    for (const report of reports) expect(report.length).toBeLessThan(500);
  });
});

describe("what check takes", () => {
  test.each(samples)("$kind: $label", ({ kind, inputs }) => {
    expect(failuresOf(kind, inputs, {}, Date.now())).toEqual([]);
  });

  test.each(samples)("$kind: $label, with the engine's own keys", ({ kind, inputs }) => {
    expect(failuresOf(kind, { ...inputs, __provider: "text", __defaults: [] }, {}, Date.now())).toEqual([]);
  });

  test("an enumeration's new name, since the server's list grows", () => {
    const role = { parentUid: GROUP_UID, name: "r", capabilities: ["CAP_NEWER_THAN_THIS_PACKAGE"] };
    expect(failuresOf("Role", role)).toEqual([]);
  });

  test("empty values where nothing is required", () => {
    const group = { parentUid: null, name: "g", description: "", kind: "", verified: false };
    expect(failuresOf("Group", group)).toEqual([]);
    const repo = {
      ...sampleOf("Repo", "repo"),
      bundles: [],
      aliases: null,
      customOverlay: {},
    };
    expect(failuresOf("Repo", repo)).toEqual([]);
  });

  test("an empty relationship beside the one that is set is refused, a null one is not", () => {
    const identity = { ...sampleOf("Identity", "claims"), staticKeys: null, servicePrincipal: "" };
    expect(failuresOf("Identity", identity)).toEqual([]);
  });

  test("a description of 512 characters outside the basic plane", () => {
    expect(failuresOf("Group", { name: "g", description: "😀".repeat(512) })).toEqual([]);
  });

  test("keys of a map that are also names of built-in members", () => {
    const claims = JSON.parse(
      '{"__proto__":"a","constructor":"b","toString":"c","hasOwnProperty":"d"}',
    ) as Props;
    const identity = withValue(sampleOf("Identity", "claims"), ["claimMatch", "claims"], claims);
    expect(failuresOf("Identity", identity)).toEqual([]);
  });

  test("a key set spelled over many lines", () => {
    const text = JSON.stringify(JSON.parse(JWKS), null, 2);
    const identity = withValue(staticKeys, ["staticKeys", "issuerKeys"], `\n${text}\n`);
    expect(failuresOf("Identity", identity)).toEqual([]);
  });
});

/** Every way to a value inside, the value itself left out. */
function pathsInto(value: Json | undefined, path: readonly (string | number)[] = []): (string | number)[][] {
  const here = path.length === 0 ? [] : [[...path]];
  if (Array.isArray(value)) return [...here, ...value.flatMap((item, i) => pathsInto(item, [...path, i]))];
  if (value !== null && typeof value === "object") {
    return [...here, ...Object.entries(value).flatMap(([key, item]) => pathsInto(item, [...path, key]))];
  }
  return here;
}

function withUnknown(value: Json | undefined, path: readonly (string | number)[]): Json {
  const [step, ...rest] = path;
  if (step === undefined) return UNKNOWN;
  if (Array.isArray(value)) return value.map((item, i) => (i === step ? withUnknown(item, rest) : item));
  const members = value as Props;
  return { ...members, [step]: withUnknown(members[step], rest) };
}

describe("unknown values", () => {
  test.each(samples)("$kind: $label: none fails, wherever it stands", ({ kind, inputs }) => {
    const paths = pathsInto(inputs);
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) {
      expect([path, failuresOf(kind, withUnknown(inputs, path) as Props, {}, Date.now())]).toEqual([
        path,
        [],
      ]);
    }
  });

  test.each(specs)("$kind: all unknown at once is nothing to complain about", (spec) => {
    const inputs = Object.fromEntries(Object.keys(spec.fields).map((key) => [key, UNKNOWN]));
    expect(failuresOf(spec.kind, inputs)).toEqual([]);
  });

  test("an unknown one-of member stands beside a known one", () => {
    const identity = { ...sampleOf("Identity", "claims"), staticKeys: UNKNOWN };
    expect(failuresOf("Identity", identity)).toEqual([]);
    const inside = withValue(sampleOf("Identity", "claims"), ["claimMatch", "issuerPattern"], UNKNOWN);
    expect(failuresOf("Identity", inside)).toEqual([]);
  });

  test("a list that holds an unknown is not empty", () => {
    expect(failuresOf("Role", { parentUid: UNKNOWN, name: UNKNOWN, capabilities: [UNKNOWN] })).toEqual([]);
  });

  test("a verified group may get its kind later, and a kind its parent", () => {
    expect(failuresOf("Group", { name: "g", verified: true, kind: UNKNOWN })).toEqual([]);
    expect(failuresOf("Group", { parentUid: UNKNOWN, name: "g", kind: "ORG_KIND_DEV" })).toEqual([]);
  });

  test("what is known beside an unknown is still checked", () => {
    const identity = { parentUid: UNKNOWN, name: "CI", claimMatch: { issuer: UNKNOWN } };
    expect(failuresOf("Identity", identity)).toEqual([
      `name ${NAME_WANTED}`,
      "claimMatch needs exactly one of subject, subjectPattern",
    ]);
  });
});

const hostile = fc.oneof(
  fc.jsonValue({ maxDepth: 5 }),
  fc.constantFrom<Json>(
    null,
    "",
    0,
    -1,
    1e308,
    true,
    [],
    {},
    [[]],
    [{}],
    [null],
    UNKNOWN,
    [UNKNOWN],
    { a: UNKNOWN },
    JSON.parse('{"__proto__":{"polluted":true}}') as Json,
    { constructor: { prototype: 1 } },
    "\u0000",
    "\ud800",
    "9".repeat(400),
  ),
  fc.string({ unit: "binary", maxLength: 50 }),
) as fc.Arbitrary<Json>;

/** Values that get deep into a field: the right type with anything inside, or anything. */
function nearly(field: FieldSpec): fc.Arbitrary<Json> {
  const inside = (): fc.Arbitrary<Json> => {
    switch (field.type) {
      case "list":
        return fc.array(nearly(field.items), { maxLength: 3 });
      case "map":
        return fc.dictionary(fc.string({ maxLength: 5 }), nearly(field.values), { maxKeys: 3 });
      case "object":
        return objectOf(field.fields);
      case "boolean":
        return fc.boolean();
      case "integer":
        return fc.double();
      default:
        return fc.string({ unit: "grapheme" });
    }
  };
  return fc.oneof({ weight: 3, arbitrary: inside() }, { weight: 1, arbitrary: hostile });
}

function objectOf(fields: Readonly<Record<string, FieldSpec>>): fc.Arbitrary<Props> {
  const known = fc.record(
    Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, nearly(field)])),
    { requiredKeys: [] },
  );
  const strange = fc.dictionary(
    fc.oneof(fc.constantFrom("__proto__", "constructor", "toString", "__x", "a.b", ""), fc.string()),
    hostile,
    { maxKeys: 2 },
  );
  return fc
    .tuple(known, strange)
    .map(([a, b]) => Object.fromEntries([...Object.entries(a), ...Object.entries(b)]));
}

describe("hostile input", () => {
  test.each(specs)("$kind: check never throws and never changes what it is given", (spec) => {
    fc.assert(
      fc.property(objectOf(spec.fields), objectOf(spec.fields), (inputs, olds) => {
        const before = JSON.stringify([inputs, olds]);
        const failures = checkInputs(spec, inputs, { olds, now: NOW });
        for (const { property, reason } of failures) {
          expect(typeof property).toBe("string");
          expect(reason).not.toBe("");
        }
        expect(JSON.stringify([inputs, olds])).toBe(before);
      }),
      { numRuns: casesOf(150) },
    );
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test.each(specs)(
    "$kind: values nested five hundred deep, or a megabyte long, are refused or taken",
    (spec) => {
      let list: Json = "x";
      let object: Json = "x";
      for (let i = 0; i < 500; i += 1) {
        list = [list];
        object = { a: object };
      }
      for (const value of [list, object, "a".repeat(2 ** 20), "9".repeat(2 ** 16), "(".repeat(2 ** 16)]) {
        const inputs = Object.fromEntries([...Object.keys(spec.fields), "other"].map((key) => [key, value]));
        expect(checkInputs(spec, inputs, context).length).toBeGreaterThan(0);
      }
    },
  );
});
