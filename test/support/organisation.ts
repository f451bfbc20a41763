import { startEmulator } from "../../emulator";
import type { Seed } from "../../emulator";
import { kindTables } from "../../emulator/tables";
import type { KindTable } from "../../emulator/tables/kindTable";
import { pick as pickBy, randomOf } from "../../scripts/lib/random.cjs";
import { addresses, bodyOf } from "./byHand";
import { samples } from "./samples";
import { call } from "./wire";

/** How much of each there is, roughly. */
export interface OrganisationSize {
  readonly groups: number;
  readonly identities: number;
  readonly roles: number;
  readonly bindings: number;
  readonly repos: number;
  /** Of providers, mappings, invites, associations and subscriptions, each. */
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

const WORDS = "pay web data ml ops core edge audit class new default await 1st a.b x_y q-r".split(" ");
const DESCRIPTIONS = [
  "",
  "one line",
  'with "quotes" and \\ and `ticks` ${not}',
  "it's */ odd // <b>",
  "ünïcødé 日本 😀",
  "x".repeat(200),
];
const CAPABILITIES = [
  "CAP_REPO_LIST",
  "CAP_REPO_UPDATE",
  "CAP_TAG_LIST",
  "CAP_IAM_ROLES_LIST",
  "CAP_IAM_GROUPS_LIST",
];

/** Whether its parent is the only resource that it names, and lists below a group show it. */
function isPlain(kind: string): boolean {
  const sample = samples.find((each) => each.kind === kind);
  if (sample === undefined || sample.writing !== undefined) return false;
  return !JSON.stringify({ ...sample.args, parentUid: "" }).includes("${");
}

/**
 * An organisation that people made without a program, in the form of the API's responses. A program cannot declare all of
 * it (names, people, what the server fills in), so it is not made of the declarations of `scripts/chaos/organisation.mjs`.
 */
export function randomOrganisation(
  seed: number,
  size: OrganisationSize,
  builtInRoles: readonly string[],
  now = Date.now(),
): Organisation {
  const random = randomOf(seed);
  const below = (most: number) => Math.floor(random() * most);
  const pick = <T>(items: readonly T[]): T => pickBy(random, items);
  const some = <T>(items: readonly T[]): T[] => {
    const chosen = items.filter(() => random() < 0.5);
    return chosen.length > 0 ? chosen : [pick(items)];
  };
  const hex = (length: number) => Array.from({ length }, () => below(16).toString(16)).join("");
  const child = (parent: string) => `${parent}/${hex(16)}`;
  const times = { createTime: "2026-01-02T03:04:05.678Z", updateTime: "2026-02-03T04:05:06.789Z" };
  const name = () => (random() < 0.3 ? pick(WORDS) : `${pick(WORDS)} ${below(1000)}`);
  const named = () => ({ name: name(), description: pick(DESCRIPTIONS), ...times });
  const many = <T>(count: number, make: (i: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i));

  const root = hex(40);
  const groups = [root];
  const subgroups = many(size.groups, () => {
    const uid = child(pick(groups.filter((each) => each.split("/").length < 5).slice(-40)));
    groups.push(uid);
    return { uid, ...named() };
  });
  const identities = many(size.identities, (i) => {
    const base = { uid: child(pick(groups)), ...named() };
    switch (i % 5) {
      case 0:
        return {
          ...base,
          claimMatch: {
            issuer: "https://token.actions.example.com",
            subject: `repo:acme/${pick(WORDS)}:ref:refs/heads/main`,
            ...(random() < 0.5 ? { audience: random() < 0.5 ? "token.actions.example.com" : "api" } : {}),
            claims: random() < 0.5 ? { repository_owner: "acme", "odd key": pick(DESCRIPTIONS) } : {},
          },
        };
      case 1:
        return {
          ...base,
          claimMatch: {
            issuerPattern: "^https://[a-z]+\\.example\\.com$",
            subjectPattern: "^repo:acme/.+$",
            claimPatterns: { ref: "^refs/heads/.+$" },
          },
        };
      case 2:
        return {
          ...base,
          company: "Acme & Sons",
          // Keys live for a year at most.
          createTime: new Date(now - 20 * 86_400_000).toISOString(),
          staticKeys: {
            issuer: "https://kubernetes.default.svc",
            subject: "system:serviceaccount:ci:deployer",
            issuerKeys: '{"keys":[{"kty":"RSA","kid":"a","use":"sig","n":"AQAB","e":"AQAB"}]}',
            expirationTime: new Date(now + (below(360) - 15) * 86_400_000).toISOString(),
            audiences: random() < 0.5 ? ["api"] : [],
          },
        };
      case 3:
        return {
          ...base,
          awsIdentity: {
            awsAccount: "123456789012",
            ...(random() < 0.5
              ? { arn: "arn:aws:sts::123456789012:assumed-role/deploy/session" }
              : { arnPattern: "^arn:aws:sts::123456789012:assumed-role/deploy/.+$" }),
            ...(random() < 0.5 ? { userIdPattern: "^AROA[A-Z0-9]+:.+$" } : { userId: "AROAEXAMPLE:session" }),
          },
        };
      default:
        // Somebody who signed in: no relationship.
        return random() < 0.5
          ? { ...base, email: "ada@example.com" }
          : { ...base, servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" };
    }
  });
  const roles = many(size.roles, () => ({
    uid: child(pick(groups)),
    ...named(),
    capabilities: some(CAPABILITIES),
  }));
  const roleUids = [...roles.map(({ uid }) => uid), ...builtInRoles];
  const roleBindings = many(size.bindings, () => ({
    uid: child(pick(groups)),
    identityUid: pick(identities).uid,
    roleUid: pick(roleUids),
    createTime: times.createTime,
  }));
  const repos = many(size.repos, (i) => ({
    uid: child(pick(groups)),
    ...named(),
    ...(i % 4 === 3
      ? {
          sync_config: { source: hex(40), google: "gcr.example.com", uniqueTags: true },
          catalogTier: "CATALOG_TIER_BASE",
          bundles: ["base"],
          activeTags: ["latest"],
        }
      : {
          ...(random() < 0.5 ? { catalogTier: "CATALOG_TIER_AI", aliases: ["acme/repo:latest"] } : {}),
          ...(random() < 0.5
            ? {
                customOverlay: {
                  contents: { packages: ["curl", "jq"] },
                  environment: { LANG: "C.UTF-8", "odd-key": pick(DESCRIPTIONS) },
                  accounts: { runAs: "65532", users: [{ username: "app", uid: 65532, gid: 65532 }] },
                },
              }
            : {}),
        }),
  }));
  const identityProviders = many(Math.min(1, size.others), () => ({
    uid: child(root),
    ...named(),
    defaultRole: pick(roleUids),
    oidc: {
      issuer: "https://login.example.com",
      clientId: "platform",
      ...(random() < 0.5 ? { pkceEnabled: true } : { clientSecret: "the secret" }),
      correlationRule: `CORRELATION_RULE_${random() < 0.5 ? "SUB" : "OID"}_EQUALS_EXTERNAL_ID`,
      additionalScopes: random() < 0.5 ? ["email", "groups"] : [],
      groupsClaim: "groups",
    },
    scim: { enabled: random() < 0.5, credentialState: "CREDENTIAL_STATE_NOT_ISSUED", etag: hex(8) },
  }));
  const externalGroupRoleMappings = identityProviders.flatMap(({ uid }) =>
    many(size.others, (i) => ({
      uid: child(uid),
      externalGroupId: `group ${i}`,
      roleUid: pick(roleUids),
      scope: root,
    })),
  );
  const groupInvites = many(size.others, () => ({
    uid: child(pick(groups)),
    roleUid: pick(roleUids),
    email: "ada@example.com",
    singleUse: true,
    keyId: hex(32),
    expirationTime: new Date(now + 86_400_000).toISOString(),
  }));
  const accountAssociations = groups.slice(0, size.others).map((uid, i) => ({
    uid,
    ...named(),
    ...(i % 2 === 0
      ? {
          amazon: { account: "123456789012" },
          google: { projectId: "acme-production", projectNumber: "987654321098" },
          azure: { tenantId: "7b1e9a4c-0000-4000-8000-000000000001", clientIds: { pull: "client-1" } },
        }
      : {
          chainguard: { serviceBindings: { INGESTER: pick(identities).uid } },
          github: {
            appInstallations: { "12345": { installations: [{ installationId: "2", name: "acme" }] } },
          },
        }),
  }));
  const subscriptions = many(size.others, (i) => ({
    uid: child(pick(groups)),
    sink: `https://sink.example.com/${i}`,
  }));
  const described = {
    groups: [{ uid: root, name: "acme", kind: "ORG_KIND_CUSTOMER", ...times }, ...subgroups],
    identities,
    roles,
    roleBindings,
    repos,
    identityProviders,
    externalGroupRoleMappings,
    groupInvites,
    accountAssociations,
    subscriptions,
  };
  const parents = { Group: () => pick(groups), Repo: () => pick(repos).uid };
  const nameOf = (args: object, i: number) => ("name" in args ? { name: `further ${i}` } : {});
  const furtherOf = ({ collection, kind, rules }: KindTable) => {
    const parent = parents[rules?.parent as keyof typeof parents];
    const args = samples.find((sample) => sample.kind === kind)?.args ?? {};
    const make = (i: number) => ({ ...bodyOf(args), uid: child(parent()), ...nameOf(args, i), ...times });
    return [collection, many(size.others, make)] as const;
  };
  const further = kindTables.filter(
    ({ kind, collection }) => !(collection in described) && isPlain(kind) && kind in addresses,
  );
  const collections = { ...described, ...Object.fromEntries(further.map(furtherOf)) };
  const count = Object.values(collections).reduce((sum, items) => sum + items.length, 0);
  return { root, seed: collections, count };
}

/** The uids of the roles that the platform has of its own. */
export async function builtInRoles(): Promise<string[]> {
  const emulator = await startEmulator();
  const { roles } = await call(emulator, "GET", "/iam/v2/roles?page_size=200");
  await emulator.close();
  return (roles as { uid: string }[]).map(({ uid }) => uid);
}
