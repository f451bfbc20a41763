import { startEmulator } from "../../emulator";
import type { Seed } from "../../emulator";
import { kindTables } from "../../emulator/tables";
import { formats } from "../../provider/fields/formats";
import { kinds } from "../../provider/kinds";
import { createObjects, generateOrganisation, plainKinds } from "../../scripts/lib/organisation/index.cjs";
import { randomOf } from "../../scripts/lib/random.cjs";
import { bodyOf } from "./byHand";
import { call } from "./wire";

/** How much of each there is, roughly. */
export interface OrganisationSize {
  readonly groups: number;
  readonly identities: number;
  readonly roles: number;
  readonly bindings: number;
  readonly repos: number;
  /** Of each other kind that a list shows. */
  readonly others: number;
}

export const small: OrganisationSize = {
  groups: 5,
  identities: 8,
  roles: 3,
  bindings: 10,
  repos: 4,
  others: 2,
};

export interface Organisation {
  readonly root: string;
  /** For the emulator. */
  readonly seed: Seed;
  /** How many objects below the root. */
  readonly count: number;
}

const TIMES = { createTime: "2026-01-02T03:04:05.678Z", updateTime: "2026-02-03T04:05:06.789Z" };
const DAY_MS = 86_400_000;

const specs = kinds.map(({ spec }) => spec);
const plain = plainKinds(specs, kindTables, formats);
const partKinds = new Set(specs.flatMap(({ kind, sharesParentUid }) => (sharesParentUid ? [kind] : [])));

/** How many of each kind that an inventory lists by default. */
function countsOf({ groups, identities, roles, bindings, repos, others }: OrganisationSize) {
  return {
    Group: groups,
    // Every fifth is somebody who signed in.
    Identity: identities - Math.floor(identities / 5),
    Role: roles,
    RoleBinding: bindings,
    Repo: repos,
    IdentityProvider: Math.min(1, others),
    ExternalGroupRoleMapping: others,
    GroupInvite: others,
    AccountAssociation: others,
    ...Object.fromEntries(plain.map(({ kind }) => [kind, others])),
  };
}

/** What the server adds to an object of a kind, or stores in another form. */
const additions: Readonly<
  Record<string, (body: Record<string, unknown>, random: () => number, now: number) => object>
> = {
  Identity: ({ staticKeys }, _, now) =>
    // Keys live for a year at most.
    staticKeys === undefined ? {} : { createTime: new Date(now - 20 * DAY_MS).toISOString() },
  IdentityProvider: (_, random) => ({
    scim: { enabled: random() < 0.5, credentialState: "CREDENTIAL_STATE_NOT_ISSUED", etag: "5f3a9c01" },
  }),
  GroupInvite: (_, random, now) => ({
    ttl: undefined,
    singleUse: true,
    keyId: hexOf(random, 32),
    expirationTime: new Date(now + DAY_MS).toISOString(),
  }),
};

const hexOf = (random: () => number, length: number): string =>
  Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join("");

/**
 * An organisation that people made without a program, in the form of the API's responses: people who signed in and what
 * the server fills in included.
 */
export function randomOrganisation(
  seed: number,
  size: OrganisationSize,
  builtInRoles: readonly string[],
  now = Date.now(),
): Organisation {
  const random = randomOf(seed);
  const root = hexOf(random, 40);
  const people = Array.from({ length: Math.floor(size.identities / 5) }, (_, i) => ({
    uid: `${root}/${hexOf(random, 16)}`,
    name: `person ${i}`,
    ...TIMES,
    // No relationship.
    ...(random() < 0.5 ? { email: "ada@example.com" } : { servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" }),
  }));
  const existing = { Role: builtInRoles, Identity: people.map(({ uid }) => uid) };
  const counts = countsOf(size);
  const declared = generateOrganisation({ seed, counts, plain, isVaried: true, existing, now });
  const objects = createObjects(
    declared,
    root,
    () => hexOf(random, 16),
    (kind) => partKinds.has(kind),
  ).map(({ kind, uid, inputs }) => {
    const body = bodyOf(inputs);
    return { kind, object: { uid, ...body, ...TIMES, ...additions[kind]?.(body, random, now) } };
  });
  const collections = kindTables.map(({ kind, collection }): [string, object[]] => [
    collection,
    objects.filter((each) => each.kind === kind).map(({ object }) => object),
  ]);
  const held = Object.fromEntries(collections.filter(([, items]) => items.length > 0));
  const identities = [...(held["identities"] ?? []), ...people];
  const [organisation, ...groups] = held["groups"] ?? [];
  return {
    root,
    seed: { ...held, groups: [{ ...organisation, kind: "ORG_KIND_CUSTOMER" }, ...groups], identities },
    count: objects.length + people.length,
  };
}

/** The uids of the roles that the platform has of its own. */
export async function builtInRoles(): Promise<string[]> {
  const emulator = await startEmulator();
  const { roles } = await call(emulator, "GET", "/iam/v2/roles?page_size=200");
  await emulator.close();
  return (roles as { uid: string }[]).map(({ uid }) => uid);
}
