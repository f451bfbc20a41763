import { createHash } from "node:crypto";
import type { Seed } from "../seed";
import { builtInRoleUid } from "../tables/role";

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
export const acme: Seed = {
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
