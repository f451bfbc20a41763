/**
 * The honest program that every hostile one edits. `ids.json` beside it names what exists outside of the stack:
 * the organisation's root, roles of the platform, and identities that nobody manages.
 */
const pulumi = require("@pulumi/pulumi");
const resourceClasses = require("pulumi-platform");
// Where several programs make one run, the names of each have a prefix of its own, and each declares what it needs.
const { prefix = "", only, ...ids } = require("./ids.json");

/** A name in the program, for what is not made by `platform`. */
const nameOf = (name) => prefix + name;

/** A class of resources whose names in the program have the prefix. */
const withPrefix = (resourceClass) =>
  new Proxy(resourceClass, {
    construct: (target, [name, ...more]) => new target(nameOf(name), ...more),
    get: (target, key) =>
      key === "get" ? (name, ...more) => target.get(nameOf(name), ...more) : target[key],
  });

/** The package: its classes have a capital letter, its functions have none. */
const platform = new Proxy(resourceClasses, {
  get: (target, key) =>
    prefix !== "" && /^[A-Z]/.test(key) && typeof target[key] === "function"
      ? withPrefix(target[key])
      : target[key],
});

const GITHUB = "https://token.actions.githubusercontent.com";

const workflow = (repository) => ({
  issuer: GITHUB,
  subject: `repo:acme/${repository}:ref:refs/heads/main`,
});

const resources = {
  team: ["Group", () => ({ parentUid: ids.root, name: "payments" })],
  sandbox: ["Group", () => ({ parentUid: ids.root, name: "sandbox" })],
  production: ["Group", () => ({ parentUid: ids.root, name: "production" })],
  reader: ["Role", () => ({ parentUid: ids.root, name: "reader", capabilities: ["CAP_REPO_LIST"] })],
  deployer: ["Identity", (r) => ({ parentUid: r.team.id, name: "deployer", claimMatch: workflow("pay") })],
  auditor: ["Identity", (r) => ({ parentUid: r.team.id, name: "auditor", claimMatch: workflow("audit") })],
  // It lies in one group, and is bound in another one.
  tester: ["Identity", (r) => ({ parentUid: r.sandbox.id, name: "tester", claimMatch: workflow("test") })],
  "tester-reads": [
    "RoleBinding",
    (r) => ({ parentUid: r.team.id, identityUid: r.tester.id, roleUid: r.reader.id }),
  ],
  "deployer-reads": [
    "RoleBinding",
    (r) => ({ parentUid: r.team.id, identityUid: r.deployer.id, roleUid: r.reader.id }),
  ],
  // The honest program leaves it at the server when it goes.
  retained: [
    "RoleBinding",
    (r) => ({ parentUid: r.sandbox.id, identityUid: r.auditor.id, roleUid: r.reader.id }),
    () => ({ retainOnDelete: true }),
  ],
  "production-access": [
    "GroupAccess",
    (r) => ({
      parentUid: r.production.id,
      bindings: { audit: { identityUid: r.auditor.id, roleUid: r.reader.id } },
    }),
  ],
  annex: ["Group", () => ({ parentUid: ids.root, name: "annex" })],
  // The engine leaves it at the server where the annex goes in the same run.
  tied: [
    "RoleBinding",
    (r) => ({ parentUid: r.sandbox.id, identityUid: r.deployer.id, roleUid: r.reader.id }),
    (r) => ({ deletedWith: r.annex }),
  ],
  staff: [
    "IdentityProvider",
    () => ({
      parentUid: ids.root,
      name: "staff",
      defaultRole: ids.viewer,
      oidc: { issuer: "https://login.acme.example", clientId: "platform", pkceEnabled: true },
    }),
  ],
  readers: [
    "ExternalGroupRoleMapping",
    (r) => ({ parentUid: r.staff.id, externalGroupId: "readers", roleUid: r.reader.id, scope: ids.root }),
  ],
  services: [
    "AccountAssociation",
    (r) => ({
      parentUid: r.team.id,
      name: "services",
      chainguard: { serviceBindings: { INGESTER: r.auditor.id } },
    }),
  ],
  invite: [
    "GroupInvite",
    (r) => ({
      parentUid: r.team.id,
      roleUid: r.reader.id,
      ttl: "24h",
      email: "ada@acme.example",
      singleUse: true,
    }),
  ],
  // Who can take over what others hold.
  rescue: [
    "Role",
    () => ({ parentUid: ids.root, name: "rescue", capabilities: ["CAP_IAM_ROLES_UPDATE", "CAP_REPO_LIST"] }),
  ],
  rescuer: ["Identity", (r) => ({ parentUid: r.team.id, name: "rescuer", claimMatch: workflow("rescue") })],
  "rescuer-rescues": [
    "RoleBinding",
    (r) => ({ parentUid: r.team.id, identityUid: r.rescuer.id, roleUid: r.rescue.id }),
  ],
  // What follows somebody revokes at the server when the honest program is applied: the program does not know of it.
  archive: ["Group", () => ({ parentUid: ids.root, name: "archive" })],
  vault: ["Group", () => ({ parentUid: ids.root, name: "vault" })],
  "archive-owner": [
    "RoleBinding",
    (r) => ({ parentUid: r.archive.id, identityUid: r.tester.id, roleUid: ids.owner }),
  ],
  "vault-access": [
    "GroupAccess",
    (r) => ({
      parentUid: r.vault.id,
      bindings: {
        audit: { identityUid: r.auditor.id, roleUid: r.reader.id },
        keeper: { identityUid: r.tester.id, roleUid: ids.owner },
      },
    }),
  ],
  keeper: [
    "Role",
    () => ({
      parentUid: ids.root,
      name: "keeper",
      capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"],
    }),
  ],
  "archive-keeper": [
    "RoleBinding",
    (r) => ({ parentUid: r.archive.id, identityUid: r.auditor.id, roleUid: r.keeper.id }),
  ],
  admins: [
    "ExternalGroupRoleMapping",
    (r) => ({ parentUid: r.staff.id, externalGroupId: "admins", roleUid: ids.owner, scope: ids.root }),
  ],
  agents: [
    "AccountAssociation",
    (r) => ({
      parentUid: r.vault.id,
      name: "agents",
      chainguard: { serviceBindings: { INGESTER: r.auditor.id, COSIGNED: ids.boss } },
    }),
  ],
  contractor: [
    "Identity",
    (r) => ({
      parentUid: r.archive.id,
      name: "contractor",
      claimMatch: { issuer: GITHUB, subjectPattern: "^repo:.*$" },
    }),
  ],
  "archive-contractor": [
    "RoleBinding",
    (r) => ({ parentUid: r.archive.id, identityUid: r.contractor.id, roleUid: r.reader.id }),
  ],
};

/**
 * Declares the honest program with edits, by resource: `args` and `options` are functions of the honest ones (and of
 * the resources that are declared so far), `drop` leaves it out, `name` and `create` replace how it is made.
 */
function declare(edits = {}) {
  const declared = {};
  for (const [key, [kind, argsOf, optionsOf = () => ({})]] of Object.entries(resources)) {
    const {
      args = (given) => given,
      options = (given) => given,
      drop,
      name = key,
      create,
    } = edits[key] ?? {};
    if (drop || only?.includes(key) === false) continue;
    const given = [name, args(argsOf(declared), declared), options(optionsOf(declared), declared)];
    declared[key] = create ? create(...given, declared) : new platform[kind](...given);
  }
  return declared;
}

/** A binding of the team's group, which every hostile program may add. */
function bind(name, declared, args, options) {
  const honest = {
    parentUid: declared.team.id,
    identityUid: declared.deployer.id,
    roleUid: declared.reader.id,
  };
  return new platform.RoleBinding(name, { ...honest, ...args }, options);
}

/** A request to the API past the engine, with the credential of the run. */
async function request(method, path, body) {
  const response = await fetch(`${process.env.PLATFORM_BASE_URL}${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${process.env.PLATFORM_TOKEN}`,
      "Content-Type": "application/json",
    },
    body: JSON.stringify(body),
  });
  return response.json();
}

module.exports = { bind, declare, GITHUB, ids, nameOf, platform, pulumi, request, resources, workflow };
