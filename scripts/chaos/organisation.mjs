// @ts-check
import { pick, randomOf } from "../lib/random.cjs";
import { loadSpecs, loadTables } from "./kinds.mjs";

/*
 * Programs of any size, of all kinds. The tests generate other things: what a server holds, odd names and people
 * without a program included (test/support/organisation.ts), and edits of one program (randomOrganisation.ts there).
 */

/**
 * @typedef {import("./kinds.mjs").Field} Field
 * @typedef {import("./kinds.mjs").Spec} Spec
 * @typedef {{ kind: string, args: Record<string, unknown> }} Declaration
 * @typedef {Record<string, Declaration>} Declarations
 */

const CAPABILITIES = [
  "CAP_REPO_LIST",
  "CAP_REPO_UPDATE",
  "CAP_TAG_LIST",
  "CAP_TAG_CREATE",
  "CAP_IAM_GROUPS_LIST",
];

/**
 * A value for a field that is required. @param {string} name of the field @param {Field} field @param {number} n
 * @returns {unknown}
 */
function valueOf(name, field, n) {
  if (field.type === "enum") return `${field.prefix ?? ""}${field.known?.[0] ?? ""}`;
  if (field.type === "boolean") return true;
  if (field.type === "integer") return n;
  if (field.type === "list" && field.items) return [valueOf(name, field.items, n)];
  if (field.type !== "string" || (field.format && !/url/i.test(field.format))) {
    throw new Error(`scripts/chaos/organisation.mjs: no value for ${name}: write how its kind is made here`);
  }
  return field.format ? `https://${name}.example.com/${n}` : `${name}-${n}`;
}

/**
 * The kinds that need no more than a parent and what they require, with the kind of that parent.
 * @param {readonly string[]} written Kinds that are made by an entry below.
 * @returns {{ spec: Spec, parent: string }[]}
 */
function plainKinds(written) {
  const tables = loadTables();
  return loadSpecs().flatMap((spec) => {
    const { parent } = tables.find(({ kind }) => kind === spec.kind)?.rules ?? {};
    return parent === undefined || written.includes(spec.kind) ? [] : [{ spec, parent }];
  });
}

/** How many of a hundred are of which kind, beside what they stand on: 4 of those without an entry. */
const SHARES = {
  Group: 12,
  Identity: 20,
  Role: 8,
  RoleBinding: 22,
  Repo: 12,
  RepoReadme: 4,
  Tag: 8,
  AccountAssociation: 3,
  ExternalGroupRoleMapping: 3,
  TermsAcceptance: 1,
  IdentityProvider: 1,
  GroupInvite: 1,
  ScimToken: 1,
};

/**
 * An organisation of so many resources, of all kinds, no two of them alike.
 * @param {number} seed
 * @param {number} count
 * @returns {Declarations}
 */
export function organisationOf(seed, count) {
  const random = randomOf(seed);
  /** @type {Declarations} */
  const declared = {
    org: { kind: "Group", args: { name: `org ${seed}` } },
  };
  /** @type {Record<string, string[]>} */
  const names = { Group: ["org"] };
  /** @param {string} kind */
  const one = (kind) => `\${${pick(random, names[kind] ?? [])}}`;
  const someGroup = () => one("Group");
  /** Groups that have an association already; each has one at most. @type {Set<string>} */
  const associated = new Set();
  const digest = () =>
    `sha256:${Array.from({ length: 64 }, () => Math.floor(random() * 16).toString(16)).join("")}`;

  /** @type {Record<string, (n: number) => Record<string, unknown> | undefined>} */
  const args = {
    Group: (n) => ({ parentUid: someGroup(), name: `group ${n}`, description: `group number ${n}` }),
    Identity: (n) => ({
      parentUid: someGroup(),
      name: `identity-${n}`,
      claimMatch: {
        issuer: "https://issuer.example.com",
        subject: `subject-${n}`,
        claims: { number: String(n) },
      },
    }),
    Role: (n) => ({
      parentUid: someGroup(),
      name: `role-${n}`,
      capabilities: CAPABILITIES.filter((_, index) => index === n % CAPABILITIES.length || random() < 0.4),
    }),
    // Each identity is bound at most once at each group: no two bindings grant the same.
    RoleBinding: () => ({ parentUid: someGroup(), identityUid: one("Identity"), roleUid: one("Role") }),
    Repo: (n) => ({
      parentUid: someGroup(),
      name: `repo-${n}`,
      description: "made by chaos",
      bundles: ["base"],
    }),
    RepoReadme: (n) => {
      const free = (names["Repo"] ?? []).filter((name) => declared[`${name}-readme`] === undefined);
      const [repo] = free;
      return repo === undefined ? undefined : { parentUid: `\${${repo}}`, content: `# Number ${n}\n` };
    },
    Tag: (n) => ({ parentUid: one("Repo"), name: `v${n}`, digest: digest() }),
    AccountAssociation: (n) => {
      const group = (names["Group"] ?? []).find((name) => !associated.has(name));
      if (group === undefined) return undefined;
      associated.add(group);
      return {
        parentUid: `\${${group}}`,
        name: `accounts-${n}`,
        amazon: { account: String(100000000000 + n) },
      };
    },
    IdentityProvider: (n) => ({
      parentUid: "${org}",
      name: `provider-${n}`,
      defaultRole: one("Role"),
      oidc: { issuer: "https://login.example.com", clientId: `client-${n}`, pkceEnabled: true },
    }),
    ExternalGroupRoleMapping: (n) => ({
      parentUid: one("IdentityProvider"),
      externalGroupId: `external-${n}`,
      roleUid: one("Role"),
      scope: "${org}",
    }),
    TermsAcceptance: () => ({ parentUid: someGroup(), documentIds: ["guardener-tos.v1"] }),
    GroupInvite: (n) => ({
      parentUid: someGroup(),
      roleUid: one("Role"),
      ttl: "24h",
      email: `somebody-${n}@example.com`,
    }),
    ScimToken: () => {
      const free = (names["IdentityProvider"] ?? []).filter((name) => declared[`${name}-scim`] === undefined);
      const [provider] = free;
      return provider === undefined ? undefined : { parentUid: `\${${provider}}`, neverExpires: true };
    },
  };
  const plain = plainKinds(Object.keys(args));
  for (const { spec, parent } of plain) {
    const required = Object.entries(spec.fields).filter(
      ([key, field]) => field.required && key !== "parentUid",
    );
    args[spec.kind] = (n) => ({
      parentUid: one(parent),
      ...Object.fromEntries(required.map(([key, field]) => [key, valueOf(key, field, n)])),
    });
  }
  /** What there is one of, of something: named after it. @type {Record<string, string>} */
  const parts = { RepoReadme: "readme", ScimToken: "scim" };

  let number = 0;
  const bound = new Set();
  /** @param {string} kind */
  const add = (kind) => {
    number += 1;
    const made = args[kind]?.(number);
    if (made === undefined) return;
    if (kind === "RoleBinding") {
      const grant = JSON.stringify(made);
      if (bound.has(grant)) return;
      bound.add(grant);
    }
    const part = parts[kind];
    const name =
      part === undefined ? `${kind}-${number}` : `${String(made["parentUid"]).slice(2, -1)}-${part}`;
    declared[name] = { kind, args: made };
    (names[kind] ??= []).push(name);
  };

  // One of each first, in an order in which each finds what it refers to.
  const order = ["Group", "Identity", "Role", "RoleBinding", "Repo", "RepoReadme", "Tag"];
  order.push(...plain.map(({ spec }) => spec.kind));
  order.push(
    "IdentityProvider",
    "ScimToken",
    "ExternalGroupRoleMapping",
    "AccountAssociation",
    "GroupInvite",
  );
  order.push("TermsAcceptance");
  for (const kind of order) add(kind);
  const shares = { ...Object.fromEntries(plain.map(({ spec }) => [spec.kind, 4])), ...SHARES };
  const lots = Object.entries(shares).flatMap(([kind, share]) => Array.from({ length: share }, () => kind));
  while (Object.keys(declared).length < count) add(pick(random, lots));
  return declared;
}
