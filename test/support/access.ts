import type { Json, Props } from "../../provider/engine/spec";
import { describeEffects, sideOf } from "../../provider/access/effects";
import { specs } from "../../provider/access/references";
import { Languages } from "../../provider/access/trust/languages";
import type { Comparison, Entity, ResourceChange, World } from "../../provider/access/model";
import type { Grant, GrantChange, GroupNode, Scope, Subject } from "../../provider/access/report";

/** A uid: 40 hex digits made of a word, and 16 for each further part. */
export function uid(...parts: string[]): string {
  const hex = (text: string, length: number): string =>
    Buffer.from(text).toString("hex").padEnd(length, "0").slice(0, length);
  return parts.map((part, i) => hex(part, i === 0 ? 40 : 16)).join("/");
}

/** The organisation of these tests, and two groups in it, one below the other. */
export const acme = uid("acme");
export const payments = `${acme}/${"1".repeat(16)}`;
export const cards = `${payments}/${"2".repeat(16)}`;

type Given = Partial<Omit<Entity, "inputs" | "kind">>;

export function entity(kind: string, name: string, inputs: Props, given: Given = {}): Entity {
  const own = given.uid ?? `${acme}/${uid(kind.slice(0, 2) + name).slice(0, 16)}`;
  return {
    key: own,
    kind,
    uid: own,
    urn: `urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:${kind}::${name}`,
    name,
    inputs: { name, ...inputs },
    unresolved: [],
    hidden: [],
    ...given,
  };
}

export const group = (name: string, own: string, given: Given = {}): Entity => {
  const parentUid = own.includes("/") ? own.slice(0, own.lastIndexOf("/")) : undefined;
  return entity("Group", name, parentUid === undefined ? {} : { parentUid }, {
    uid: own,
    key: own,
    ...given,
  });
};

/** The three groups, as a program that does not manage the organisation sees them. */
export const groups = [
  group("acme", acme, { external: true }),
  group("payments", payments),
  group("cards", cards),
];

export const identity = (name: string, trust: Props, given?: Given): Entity =>
  entity("Identity", name, { parentUid: payments, ...trust }, given);

export const claims = (claimMatch: Props): Props => ({ claimMatch });

/** Of GitHub Actions, the main branch of one repository. */
export const pinned = claims({
  issuer: "https://token.actions.githubusercontent.com",
  subject: "repo:acme/pay:ref:refs/heads/main",
});

export const role = (name: string, capabilities: string[], given?: Given): Entity =>
  entity("Role", name, { parentUid: acme, capabilities: capabilities.map((cap) => `CAP_${cap}`) }, given);

const builtIn = (name: string, capabilities: string[]): Entity =>
  role(name, capabilities, { uid: uid(name), key: uid(name), builtIn: true, external: true });

export const viewer = builtIn("viewer", [
  "IAM_GROUPS_LIST",
  "IAM_IDENTITY_PROVIDERS_LIST",
  "REPO_LIST",
  "REPO_BLOBS_GET",
]);
export const pusher = builtIn("registry.push", ["REPO_LIST", "MANIFEST_CREATE", "TAG_CREATE"]);
export const owner = builtIn("owner", [
  "IAM_GROUPS_LIST",
  "IAM_GROUPS_DELETE",
  "IAM_ROLES_UPDATE",
  "IAM_ROLE_BINDINGS_CREATE",
  "IAM_IDENTITY_UPDATE",
  "REPO_LIST",
  "TAG_CREATE",
]);

export const binding = (who: Entity, what: Entity, where: string, given?: Given): Entity =>
  entity(
    "RoleBinding",
    `${who.name}-${what.name}-${where.length}`,
    { parentUid: where, identityUid: who.key, roleUid: what.key },
    { name: undefined, ...given },
  );

function scopeOf(all: ReadonlyMap<string, Entity>, key: string): Scope {
  const names: string[] = [];
  for (let at: string | undefined = key; at !== undefined;) {
    const found: Entity | undefined = all.get(at);
    names.unshift(found?.name ?? at);
    at = found?.inputs["parentUid"] as string | undefined;
  }
  const own = all.get(key);
  return { key, uid: own?.uid ?? key, name: own?.name, path: names.join(" / "), isRoot: names.length === 1 };
}

function subjectOf(found: Entity | undefined, key: string): Subject {
  const open =
    found !== undefined &&
    (/Pattern"/.test(JSON.stringify(found.inputs)) ||
      (found.kind === "GroupInvite" && !found.inputs["email"]));
  const types: Record<string, Subject["type"] | undefined> = {
    Identity: "identity",
    GroupInvite: "invite",
    IdentityProvider: "identityProvider",
  };
  return {
    key,
    uid: found?.uid,
    urn: found?.urn,
    name: found?.name,
    type: found ? (types[found.kind] ?? "externalGroup") : "unknown",
    displayName: found?.name ?? `identity ${key}`,
    matchesMany: open,
  };
}

function grantOf(all: ReadonlyMap<string, Entity>, via: Entity): Grant | undefined {
  const { kind, inputs } = via;
  const tuples: Record<string, (Json | undefined)[] | undefined> = {
    RoleBinding: [inputs["identityUid"], inputs["roleUid"], inputs["parentUid"]],
    GroupInvite: [via.key, inputs["roleUid"], inputs["parentUid"]],
    IdentityProvider: [via.key, inputs["defaultRole"], inputs["parentUid"]],
    ExternalGroupRoleMapping: [via.key, inputs["roleUid"], inputs["scope"]],
  };
  const [subject, roleKey, where] = tuples[kind] ?? [];
  if (typeof subject !== "string" || typeof roleKey !== "string" || typeof where !== "string")
    return undefined;
  const held = all.get(roleKey);
  return {
    subject: subjectOf(all.get(subject), subject),
    role: {
      key: roleKey,
      uid: held?.uid ?? roleKey,
      urn: held?.urn,
      name: held?.name,
      builtIn: held?.builtIn === true,
      capabilities: held?.inputs["capabilities"] as string[] | undefined,
    },
    group: scopeOf(all, where),
    sourceKind: kind,
    urn: via.urn,
    uid: via.uid,
  };
}

function world(entities: readonly Entity[]): World {
  const all = new Map(entities.map((each) => [each.key, each]));
  return { entities: all, grants: entities.flatMap((each) => grantOf(all, each) ?? []) };
}

const tuple = ({ subject, role: held, group: where }: Grant): string =>
  [subject.key, held.key, where.key].join(" ");

/** What lies between two lists of resources, worked out by key: for rules alone, without the parsers. */
export function comparison(
  before: readonly Entity[],
  after: readonly Entity[],
  given: Partial<Comparison> & { replaced?: readonly Entity[] } = {},
): Comparison {
  const [old, now] = [world(before), world(after)];
  const changes: ResourceChange[] = [];
  const languages = new Languages();
  const context = { before: sideOf(old.entities), after: sideOf(now.entities), languages };
  for (const each of after) {
    const was = old.entities.get(each.key);
    const spec = specs[each.kind];
    const fields = was && spec ? describeEffects(spec, was.inputs, each.inputs, context) : [];
    const isSame = was !== undefined && JSON.stringify(was.inputs) === JSON.stringify(each.inputs);
    const op = given.replaced?.includes(each) ? "replace" : was ? (isSame ? "same" : "update") : "create";
    changes.push({
      op,
      kind: each.kind,
      urn: each.urn,
      before: was,
      after: each,
      fields,
      secretsMayHaveChanged: [],
    });
  }
  for (const each of before.filter(({ key, external }) => !now.entities.has(key) && external !== true)) {
    changes.push({
      op: "delete",
      kind: each.kind,
      urn: each.urn,
      before: each,
      fields: [],
      secretsMayHaveChanged: [],
    });
  }
  const had = new Map(old.grants.map((grant) => [tuple(grant), grant]));
  const has = new Map(now.grants.map((grant) => [tuple(grant), grant]));
  const none = { capabilitiesAdded: [], capabilitiesRemoved: [] };
  const grants: GrantChange[] = [
    ...now.grants
      .filter((grant) => !had.has(tuple(grant)))
      .map((grant): GrantChange => ({ change: "gained", grant, reason: "new", ...none })),
    ...old.grants
      .filter((grant) => !has.has(tuple(grant)))
      .map((grant): GrantChange => ({ change: "lost", grant, reason: "gone", ...none })),
  ];
  const all = new Map([...old.entities, ...now.entities]);
  const nodes: GroupNode[] = [...all.values()]
    .filter(({ kind }) => kind === "Group")
    .map((each) => ({
      ...scopeOf(all, each.key),
      parentKey: each.inputs["parentUid"] as string | undefined,
      change: "same" as const,
    }));
  return {
    before: old,
    after: now,
    changes,
    grants,
    kept: now.grants.length - grants.filter(({ change }) => change === "gained").length,
    groups: nodes,
    unresolved: [],
    complete: true,
    incomplete: [],
    recorded: new Map(before.flatMap((each) => (each.uid === undefined ? [] : [[each.uid, each]]))),
    ...given,
  };
}
