import { createHash } from "node:crypto";
import { decodeMessage } from "./gateway/request";
import { timestampToMs } from "./gateway/time";
import type { Json } from "./gateway/json";
import { storedParentUid } from "./dataFile";
import type { Store } from "./service/store";
import type { KindTable } from "./tables/kindTable";
import { builtInRoleUid } from "./tables/role";

/** Resources by collection, in the form of responses; each with a uid, or an id where its kind has no uid. */
export type Seed = Readonly<Record<string, readonly object[]>>;

/** Adds missing resources to a store without checks. @throws Error that names an invalid one. */
export function addSeed(seed: Seed, store: Store, tables: readonly KindTable[], now: number): void {
  for (const [collection, resources] of Object.entries(seed)) {
    const table = tables.find((each) => each.collection === collection);
    if (!table) throw new Error(`seed: unknown collection "${collection}"`);
    const { kind } = table;
    resources.forEach((resource, index) => {
      const { uid = "id" in resource ? resource.id : undefined } = resource as { uid?: unknown };
      if (typeof uid !== "string" || uid === "") throw new Error(`seed: ${collection}[${index}] has no uid`);
      if (store.find(kind, uid)) return;
      // As JSON, so that members that are undefined count as absent.
      const value = decodeMessage(JSON.parse(JSON.stringify(resource)) as Json, table.message);
      const createdAt = timestampToMs(value.createTime) ?? now;
      const updatedAt = timestampToMs(value.updateTime) ?? createdAt;
      value.uid = uid;
      store.add({
        kind,
        uid,
        parent: storedParentUid(uid, table),
        createdAt,
        updatedAt,
        value,
        builtIn: false,
      });
    });
  }
}

// The organisation acme.

const rootUid = createHash("sha1").update("organisation acme").digest("hex");

/** The same name below the same parent has the same uid in every run, so that documents and tests can name it. */
const uidBelow = (parent: string, name: string): string =>
  `${parent}/${createHash("sha256").update(`${parent} ${name}`).digest("hex").slice(0, 16)}`;

const below = <T extends object>(
  parent: string,
  name: string,
  fields: T,
): T & { uid: string; name: string } => ({
  uid: uidBelow(parent, name),
  name,
  ...fields,
});

const root = { uid: rootUid, name: "acme", description: "The organisation Acme", kind: "ORG_KIND_CUSTOMER" };
const payments = below(rootUid, "payments", { description: "Takes the money" });
const search = below(rootUid, "search", { description: "Finds things" });

const ada = below(rootUid, "ada", {
  description: "Ada, owner of the organisation",
  claimMatch: { issuer: "https://accounts.google.com", subject: "100000000000000000001" },
});
const auditor = below(rootUid, "auditor", {
  description: "GitHub Actions of acme/access, branch main: review and drift",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/access:ref:refs/heads/main",
  },
});
const deployer = below(payments.uid, "ci-deployer", {
  description: "GitHub Actions of acme/pay, branch main",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/pay:ref:refs/heads/main",
    claims: { repository_owner: "acme" },
  },
});

const pusher = below(rootUid, "image-pusher", {
  description: "May list and change repositories and tags",
  capabilities: ["CAP_REPO_LIST", "CAP_REPO_UPDATE", "CAP_TAG_LIST", "CAP_TAG_CREATE", "CAP_TAG_UPDATE"],
});

const binding = (group: { uid: string }, identity: { uid: string; name: string }, roleUid: string) => ({
  uid: uidBelow(group.uid, `binding ${identity.name} ${roleUid}`),
  identityUid: identity.uid,
  roleUid,
});

/** A small organisation: a root group, two teams, a person, two CI identities, a role, grants and repositories. */
const acme: Seed = {
  groups: [root, payments, search],
  identities: [ada, auditor, deployer],
  roles: [pusher],
  roleBindings: [
    binding(root, ada, builtInRoleUid("owner")),
    binding(root, auditor, builtInRoleUid("viewer")),
    binding(payments, deployer, pusher.uid),
    binding(search, deployer, builtInRoleUid("viewer")),
  ],
  repos: [
    below(payments.uid, "api", {
      description: "The payment service",
      catalogTier: "CATALOG_TIER_APPLICATION",
    }),
    below(search.uid, "indexer", {
      description: "Builds the search index",
      activeTags: ["latest", "stable"],
    }),
  ],
};

/** The organisations that the emulator brings along, by name. */
const organisations = { acme } as const satisfies Record<string, Seed>;

export type SeedName = keyof typeof organisations;

export const seedNames = Object.keys(organisations) as readonly SeedName[];

/** @throws Error for a name that is not in the list. */
export function resolveSeed(seed: Seed | SeedName = {}): Seed {
  if (typeof seed !== "string") return seed;
  if (Object.hasOwn(organisations, seed)) return organisations[seed];
  throw new Error(`seed must be an object or one of ${seedNames.join(", ")}, not "${seed}"`);
}
