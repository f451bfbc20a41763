// @ts-check

/**
 * @typedef {{ kind: string, args: Record<string, unknown> }} Declaration
 * @typedef {Record<string, any>} Resource As the API returns it, or as in an exported state.
 */

/** The collection of each kind that has one; the others are a part of another resource. */
export const COLLECTIONS = {
  Group: "groups",
  Identity: "identities",
  Role: "roles",
  RoleBinding: "roleBindings",
  Repo: "repos",
  Tag: "tags",
  Subscription: "subscriptions",
  IdentityProvider: "identityProviders",
  AccountAssociation: "accountAssociations",
  GroupInvite: "groupInvites",
  ExternalGroupRoleMapping: "externalGroupRoleMappings",
};

/** Properties that the server returns unchanged. */
const PLAIN = [
  "name",
  "description",
  "capabilities",
  "bundles",
  "digest",
  "sink",
  "email",
  "externalGroupId",
];

/** The resources of the package in an exported state, by name. @param {{ deployment: { resources?: Resource[] } }} exported */
export function recordedIn(exported) {
  const ours = (exported.deployment.resources ?? []).filter(({ type }) =>
    String(type).startsWith("pulumi-nodejs:dynamic/platform:"),
  );
  return new Map(ours.map((resource) => [String(resource["urn"]).split("::").at(-1) ?? "", resource]));
}

/**
 * What the server does not hold of what is declared, and what it holds besides.
 * @param {Record<string, Declaration>} declared
 * @param {Map<string, Resource>} recorded
 * @param {Record<string, Resource[]>} state
 * @returns {{ problems: string[], orphans: { collection: string, resource: Resource }[] }}
 */
export function compare(declared, recorded, state) {
  /** @type {string[]} */
  const problems = [];
  const known = new Map(
    Object.values(COLLECTIONS).map((collection) => [collection, /** @type {Set<string>} */ (new Set())]),
  );
  for (const [name, { kind, args }] of Object.entries(declared)) {
    const entry = recorded.get(name);
    if (entry === undefined) {
      problems.push(`${name} is not in state`);
      continue;
    }
    const collection = COLLECTIONS[/** @type {keyof typeof COLLECTIONS} */ (kind)];
    if (collection === undefined) continue;
    const uids = known.get(collection);
    if (uids?.has(entry["id"])) problems.push(`${name} has the uid of another resource`);
    uids?.add(entry["id"]);
    const held = (state[collection] ?? []).find(({ uid }) => uid === entry["id"]);
    if (held === undefined) {
      problems.push(`${name} is not at the server`);
      continue;
    }
    for (const key of PLAIN) {
      if (args[key] === undefined || JSON.stringify(args[key]) === JSON.stringify(held[key])) continue;
      problems.push(`${name}: ${key} is ${JSON.stringify(held[key])}, not ${JSON.stringify(args[key])}`);
    }
  }
  for (const [name, { initErrors, outputs }] of recorded) {
    const secret = { GroupInvite: "code", ScimToken: "token" }[declared[name]?.kind ?? ""];
    if (secret !== undefined && outputs?.[secret] === undefined)
      problems.push(`${name} has no ${secret} in state`);
    if (declared[name] === undefined) problems.push(`${name} is in state, and not declared`);
    if (initErrors !== undefined && initErrors.length > 0)
      problems.push(`${name} is not finished: ${initErrors}`);
  }
  const orphans = Object.values(COLLECTIONS).flatMap((collection) =>
    (state[collection] ?? [])
      .filter(({ uid }) => !known.get(collection)?.has(uid))
      .map((resource) => ({ collection, resource })),
  );
  return { problems, orphans };
}

/** Everything that the server holds, of the collections that can be emptied. @param {Record<string, Resource[]>} state */
export function leftOf(state) {
  return Object.values(COLLECTIONS).flatMap((collection) =>
    (state[collection] ?? []).map(({ uid, name }) => `${collection} ${name ?? ""} ${uid}`),
  );
}
