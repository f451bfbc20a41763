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

/** Kinds of which something has one at most: the resource is named after it. @type {Readonly<Record<string, string>>} */
const PARTS = { RepoReadme: "readme", ScimToken: "scim" };

/** One of each first, in an order in which each finds what it refers to; kinds without an entry stand between the two. */
const FIRST = ["Group", "Identity", "Role", "RoleBinding", "Repo", "RepoReadme", "Tag"];
const LAST = [
  "IdentityProvider",
  "ScimToken",
  "ExternalGroupRoleMapping",
  "AccountAssociation",
  "GroupInvite",
  "TermsAcceptance",
];

/** A program that grows by one resource after the other. */
class Program {
  /** @type {Declarations} */
  declared;
  /** @type {Record<string, string[]>} */
  names = { Group: ["org"] };
  /** Groups that have an association already; each has one at most. @type {Set<string>} */
  associated = new Set();
  /** The grants that a binding gives already. @type {Set<string>} */
  bound = new Set();
  number = 0;

  /** @param {number} seed */
  constructor(seed) {
    this.random = randomOf(seed);
    this.declared = { org: { kind: "Group", args: { name: `org ${seed}` } } };
  }

  /** A reference to one of a kind. @param {string} kind */
  one(kind) {
    return `\${${pick(this.random, this.names[kind] ?? [])}}`;
  }

  /** A reference to the first of a kind that has no such part. @param {string} kind @param {string} part */
  without(kind, part) {
    const free = this.names[kind]?.find((name) => this.declared[`${name}-${part}`] === undefined);
    return free === undefined ? undefined : `\${${free}}`;
  }

  digest() {
    const digits = Array.from({ length: 64 }, () => Math.floor(this.random() * 16).toString(16));
    return `sha256:${digits.join("")}`;
  }

  /** Adds a resource, unless it would equal another. @param {string} kind @param {Makers} makers */
  add(kind, makers) {
    this.number += 1;
    const args = makers[kind]?.(this, this.number);
    if (args === undefined) return;
    if (kind === "RoleBinding") {
      const grant = JSON.stringify(args);
      if (this.bound.has(grant)) return;
      this.bound.add(grant);
    }
    const part = PARTS[kind];
    const name =
      part === undefined ? `${kind}-${this.number}` : `${String(args["parentUid"]).slice(2, -1)}-${part}`;
    this.declared[name] = { kind, args };
    (this.names[kind] ??= []).push(name);
  }
}

/** @typedef {(program: Program, n: number) => Record<string, unknown> | undefined} Maker */
/** @typedef {Readonly<Record<string, Maker>>} Makers */

/** @type {Makers} */
const accessMakers = {
  Group: (program, n) => ({
    parentUid: program.one("Group"),
    name: `group ${n}`,
    description: `group number ${n}`,
  }),
  Identity: (program, n) => ({
    parentUid: program.one("Group"),
    name: `identity-${n}`,
    claimMatch: {
      issuer: "https://issuer.example.com",
      subject: `subject-${n}`,
      claims: { number: String(n) },
    },
  }),
  Role: (program, n) => ({
    parentUid: program.one("Group"),
    name: `role-${n}`,
    capabilities: CAPABILITIES.filter(
      (_, index) => index === n % CAPABILITIES.length || program.random() < 0.4,
    ),
  }),
  RoleBinding: (program) => ({
    parentUid: program.one("Group"),
    identityUid: program.one("Identity"),
    roleUid: program.one("Role"),
  }),
  GroupInvite: (program, n) => ({
    parentUid: program.one("Group"),
    roleUid: program.one("Role"),
    ttl: "24h",
    email: `somebody-${n}@example.com`,
  }),
  TermsAcceptance: (program) => ({
    parentUid: program.one("Group"),
    documentIds: ["guardener-tos.v1"],
  }),
};

/** @type {Makers} */
const registryMakers = {
  Repo: (program, n) => ({
    parentUid: program.one("Group"),
    name: `repo-${n}`,
    description: "made by chaos",
    bundles: ["base"],
  }),
  RepoReadme: (program, n) => {
    const parentUid = program.without("Repo", "readme");
    return parentUid === undefined ? undefined : { parentUid, content: `# Number ${n}\n` };
  },
  Tag: (program, n) => ({ parentUid: program.one("Repo"), name: `v${n}`, digest: program.digest() }),
};

/** @type {Makers} */
const loginMakers = {
  IdentityProvider: (program, n) => ({
    parentUid: "${org}",
    name: `provider-${n}`,
    defaultRole: program.one("Role"),
    oidc: { issuer: "https://login.example.com", clientId: `client-${n}`, pkceEnabled: true },
  }),
  ExternalGroupRoleMapping: (program, n) => ({
    parentUid: program.one("IdentityProvider"),
    externalGroupId: `external-${n}`,
    roleUid: program.one("Role"),
    scope: "${org}",
  }),
  ScimToken: (program) => {
    const parentUid = program.without("IdentityProvider", "scim");
    return parentUid === undefined ? undefined : { parentUid, neverExpires: true };
  },
  AccountAssociation: (program, n) => {
    const group = program.names["Group"]?.find((name) => !program.associated.has(name));
    if (group === undefined) return undefined;
    program.associated.add(group);
    return {
      parentUid: `\${${group}}`,
      name: `accounts-${n}`,
      amazon: { account: String(100000000000 + n) },
    };
  },
};

/** Makes a kind by its description: a parent and what is required. @param {Spec} spec @param {string} parent @returns {Maker} */
function plainMaker({ fields }, parent) {
  const required = Object.entries(fields).filter(([key, field]) => field.required && key !== "parentUid");
  return (program, n) => ({
    parentUid: program.one(parent),
    ...Object.fromEntries(required.map(([key, field]) => [key, valueOf(key, field, n)])),
  });
}

/**
 * An organisation of so many resources, of all kinds, no two of them alike.
 * @param {number} seed
 * @param {number} count
 * @returns {Declarations}
 */
export function organisationOf(seed, count) {
  const described = { ...accessMakers, ...registryMakers, ...loginMakers };
  const plain = plainKinds(Object.keys(described));
  const plainMakers = plain.map(({ spec, parent }) => [spec.kind, plainMaker(spec, parent)]);
  const makers = { ...described, ...Object.fromEntries(plainMakers) };
  const program = new Program(seed);
  for (const kind of [...FIRST, ...plain.map(({ spec }) => spec.kind), ...LAST]) program.add(kind, makers);
  const shares = { ...Object.fromEntries(plain.map(({ spec }) => [spec.kind, 4])), ...SHARES };
  const lots = Object.entries(shares).flatMap(([kind, share]) => Array.from({ length: share }, () => kind));
  while (Object.keys(program.declared).length < count) program.add(pick(program.random, lots), makers);
  return program.declared;
}
