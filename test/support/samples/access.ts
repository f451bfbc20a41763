import { narrowed, unclear, widened } from "./sample";
import type { Sample } from "./sample";
import { jwks, inDays, named } from "./values";

export const access: readonly Sample[] = [
  {
    label: "team",
    kind: "Group",
    args: { parentUid: "${org}", name: "team", description: "before" },
    fields: [
      { path: "name", to: "team two" },
      { path: "description", to: "after", empty: "" },
    ],
  },
  {
    label: "root",
    kind: "Group",
    args: { name: "root", kind: "ORG_KIND_CUSTOMER" },
    fields: [
      unclear("kind", "ORG_KIND_DEV", "ORG_KIND_UNSPECIFIED"),
      { path: "verified", unseen: true, to: true, empty: false },
    ],
  },
  {
    label: "claims",
    kind: "Identity",
    args: {
      ...named,
      name: "claims",
      company: "acme",
      claimMatch: {
        issuer: "https://issuer.example.com",
        subject: "repo:acme/pay",
        audience: "api",
        claims: { repository_owner: "acme" },
        claimPatterns: { ref: "^refs/heads/.+$" },
      },
    },
    fields: [
      { path: "name", to: "claims-two" },
      { path: "description", to: "after", empty: "" },
      { path: "company", to: "acme two", empty: "" },
      widened("claimMatch.issuer", "https://other.example.com"),
      widened("claimMatch.subject", "repo:acme/other"),
      widened("claimMatch.audience", "other", ""),
      narrowed("claimMatch.claims", { repository_owner: "acme", event: "push" }, {}),
      widened("claimMatch.claimPatterns", { ref: "^refs/tags/v.+$" }, {}),
      {
        path: "claimMatch.issuerPattern",
        to: "^https://issuer\\.example\\.com$",
        without: "claimMatch.issuer",
      },
      {
        path: "claimMatch.subjectPattern",
        direction: "widened",
        to: "^repo:acme/.+$",
        without: "claimMatch.subject",
      },
      { path: "claimMatch.audiencePattern", to: "^api$", empty: "", without: "claimMatch.audience" },
    ],
    replacements: [{ property: "servicePrincipal", to: "SERVICE_PRINCIPAL_SKILLS", without: "claimMatch" }],
  },
  {
    label: "keys",
    kind: "Identity",
    args: {
      ...named,
      name: "keys",
      staticKeys: {
        issuer: "https://kubernetes.default.svc",
        subject: "system:serviceaccount:ci:deployer",
        issuerKeys: jwks("one"),
        expirationTime: inDays(100),
        audiences: ["api"],
      },
    },
    fields: [
      widened("staticKeys.issuer", "https://kubernetes.other.svc"),
      widened("staticKeys.subject", "system:serviceaccount:ci:other"),
      widened("staticKeys.issuerKeys", jwks("two")),
      narrowed("staticKeys.expirationTime", inDays(50), null),
      widened("staticKeys.audiences", ["other"], []),
    ],
    replacements: [
      {
        property: "awsIdentity",
        to: {
          awsAccount: "123456789012",
          arnPattern: "^arn:aws:iam::123456789012:role/a$",
          userIdPattern: "^AROA[A-Z0-9]+$",
        },
        without: "staticKeys",
      },
    ],
  },
  {
    label: "aws",
    kind: "Identity",
    args: {
      ...named,
      name: "aws",
      awsIdentity: {
        awsAccount: "123456789012",
        arn: "arn:aws:sts::123456789012:assumed-role/deploy/session",
        userIdPattern: "^AROA[A-Z0-9]+:.+$",
      },
    },
    fields: [
      widened("awsIdentity.awsAccount", "210987654321"),
      widened("awsIdentity.arn", "arn:aws:sts::123456789012:assumed-role/other/session"),
      widened("awsIdentity.userIdPattern", "^AIDA[A-Z0-9]+$"),
      {
        path: "awsIdentity.arnPattern",
        direction: "widened",
        to: "^arn:aws:sts::123456789012:assumed-role/deploy/.+$",
        without: "awsIdentity.arn",
      },
      {
        path: "awsIdentity.userId",
        direction: "narrowed",
        to: "AROAEXAMPLE:session",
        without: "awsIdentity.userIdPattern",
      },
    ],
    replacements: [
      {
        property: "claimMatch",
        to: { issuer: "https://issuer.example.com", subject: "s" },
        without: "awsIdentity",
      },
    ],
  },
  {
    label: "service",
    kind: "Identity",
    args: { ...named, name: "service", servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" },
    fields: [widened("servicePrincipal", "SERVICE_PRINCIPAL_COSIGNED")],
    replacements: [
      {
        property: "staticKeys",
        to: {
          issuer: "https://kubernetes.default.svc",
          subject: "system:serviceaccount:ci:deployer",
          issuerKeys: jwks("one"),
        },
        without: "servicePrincipal",
      },
    ],
  },
  {
    label: "role",
    kind: "Role",
    args: { ...named, name: "role", capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] },
    fields: [
      { path: "name", to: "role two" },
      { path: "description", to: "after", empty: "" },
      widened("capabilities", ["CAP_REPO_LIST", "CAP_REPO_UPDATE"]),
    ],
  },
  {
    label: "binding",
    kind: "RoleBinding",
    args: { parentUid: "${org}", identityUid: "${someone}", roleUid: "${reader}" },
    fields: [widened("identityUid", "${other}"), widened("roleUid", "${writer}")],
  },
  {
    label: "access",
    kind: "GroupAccess",
    own: { kind: "Group", args: { parentUid: "${org}", name: "with access" } },
    args: {
      parentUid: "${own}",
      bindings: {
        "someone reads": { identityUid: "${someone}", roleUid: "${reader}" },
        "other writes": { identityUid: "${other}", roleUid: "${writer}" },
      },
      ignore: { namePatterns: ["break-glass as .+"] },
    },
    permanent: true,
    fields: [],
    updates: [
      { bindings: {}, ignore: undefined },
      { allowSelfRemoval: true, ignore: { identityUids: ["${other}"], roleUids: ["${writer}"] } },
    ],
  },
];
