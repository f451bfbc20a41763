import { getRole, Group, Identity, Repo, Role, RoleBinding, Subscription } from "pulumi-platform";

// The organisation, and a group for each team below it.
const organisation = new Group("organisation", {
  name: "acme",
  description: "Acme's organisation",
});
const payments = new Group("payments", {
  parentUid: organisation.id,
  name: "payments",
  description: "Takes the money",
});
const search = new Group("search", {
  parentUid: organisation.id,
  name: "search",
  description: "Finds things",
});

// The deploy workflow of one repository, on one branch; nothing else can assume this identity.
const deployer = new Identity("deployer", {
  parentUid: organisation.id,
  name: "ci-deployer",
  description: "GitHub Actions of acme/pay, branch main",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/pay:ref:refs/heads/main",
    claims: { repository_owner: "acme" },
  },
});

// What it may do: push images, and no more.
const pusher = new Role("pusher", {
  parentUid: organisation.id,
  name: "image-pusher",
  description: "Puts images into repositories that exist",
  capabilities: [
    "CAP_REPO_LIST",
    "CAP_REPO_BLOBS_GET",
    "CAP_MANIFEST_LIST",
    "CAP_MANIFEST_CREATE",
    "CAP_TAG_LIST",
    "CAP_TAG_CREATE",
    "CAP_TAG_UPDATE",
  ],
});

// Grants: who, what, where.
new RoleBinding("deployer-pushes-for-payments", {
  parentUid: payments.id,
  identityUid: deployer.id,
  roleUid: pusher.id,
});
const viewer = getRole({ name: "viewer", builtIn: true });
new RoleBinding("deployer-views-search", {
  parentUid: search.id,
  identityUid: deployer.id,
  roleUid: viewer.then((role) => role.uid),
});

new Repo("api", {
  parentUid: payments.id,
  name: "api",
  description: "The payment service",
  catalogTier: "CATALOG_TIER_APPLICATION",
});
new Repo("indexer", {
  parentUid: search.id,
  name: "indexer",
  description: "Builds the search index",
  activeTags: ["latest", "stable"],
});

// Every change in the organisation is sent to this address.
new Subscription("audit", {
  parentUid: organisation.id,
  sink: "https://audit.example.com/platform-events",
});

export const organisationUid = organisation.id;
export const deployerUid = deployer.id;
