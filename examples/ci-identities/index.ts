import { getRole, Group, Identity, Repo, Role, RoleBinding } from "pulumi-platform";

// Identities stand in the organisation itself: one in a group below it does not see the registry.
// What they may do is decided by the bindings, each on one team's group only.
const organisation = new Group("organisation", { name: "acme", description: "Acme's organisation" });
const payments = new Group("payments", { parentUid: organisation.id, name: "payments" });
const search = new Group("search", { parentUid: organisation.id, name: "search" });
new Repo("api", { parentUid: payments.id, name: "api", description: "The payment service" });
new Repo("indexer", { parentUid: search.id, name: "indexer", description: "Builds the search index" });

// The built-in registry.push may also delete repositories and make groups. A build needs neither.
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
// Whoever promotes an image moves a tag. The image itself is there already.
const promoter = new Role("promoter", {
  parentUid: organisation.id,
  name: "image-promoter",
  description: "Moves tags between images that exist",
  capabilities: ["CAP_REPO_LIST", "CAP_MANIFEST_LIST", "CAP_TAG_LIST", "CAP_TAG_CREATE", "CAP_TAG_UPDATE"],
});
const puller = getRole({ name: "registry.pull", builtIn: true }).then((role) => role.uid);
const inventory = new Role("inventory", {
  parentUid: organisation.id,
  name: "image-inventory",
  description: "Sees what there is, but cannot pull it",
  capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_MANIFEST_METADATA_LIST"],
});

// --- GitHub Actions ---------------------------------------------------------------------------
const github = "https://token.actions.githubusercontent.com";
// Names of owners and repositories can be released and registered by others; these numbers cannot.
const paymentsRepository = { repository_owner_id: "10231", repository_id: "700123456" };

// Subjects of repositories that are newer than July 2026 contain these numbers too: repo:acme@10231/pay@700123456:…
// A job without an environment: the subject names the branch. It is exact, so a pull request
// (…:pull_request), another branch and another repository all fail.
const githubBuild = new Identity("github-build", {
  parentUid: organisation.id,
  name: "github-pay-build",
  description: "GitHub Actions of acme/pay on branch main",
  claimMatch: {
    issuer: github,
    subject: "repo:acme/pay:ref:refs/heads/main",
    claims: paymentsRepository,
  },
});
new RoleBinding("github-build-pushes", {
  parentUid: payments.id,
  identityUid: githubBuild.id,
  roleUid: pusher.id,
});

// A job with `environment: production`: the subject names the environment and no longer the branch,
// so any branch that the environment lets in would do. The claim `ref` closes that gap: releases only.
const githubRelease = new Identity("github-release", {
  parentUid: organisation.id,
  name: "github-pay-release",
  description: "GitHub Actions of acme/pay in the environment production",
  claimMatch: {
    issuer: github,
    subject: "repo:acme/pay:environment:production",
    claims: paymentsRepository,
    // Without ^ a tag called x/refs/tags/v1.2.3 would match, without $ one called v1.2.3-experiment.
    claimPatterns: { ref: "^refs/tags/v[0-9]+\\.[0-9]+\\.[0-9]+$" },
  },
});
new RoleBinding("github-release-promotes", {
  parentUid: payments.id,
  identityUid: githubRelease.id,
  roleUid: promoter.id,
});

// --- GitLab CI --------------------------------------------------------------------------------
// Several subjects, so a pattern; only what has to vary does. Dots are escaped: an open one matches
// any character. `ref_protected` keeps out tags that just anybody may push.
const gitlabRelease = new Identity("gitlab-release", {
  parentUid: organisation.id,
  name: "gitlab-search-release",
  description: "GitLab CI of acme/search on version tags",
  claimMatch: {
    issuer: "https://gitlab.com",
    subjectPattern: "^project_path:acme/search:ref_type:tag:ref:v[0-9]+\\.[0-9]+\\.[0-9]+$",
    // A token for another service is refused.
    audience: "https://registry.acme.example.com",
    claims: { namespace_id: "4211", project_id: "90210", ref_protected: "true" },
  },
});
new RoleBinding("gitlab-release-pushes", {
  parentUid: search.id,
  identityUid: gitlabRelease.id,
  roleUid: pusher.id,
});

// --- Kubernetes -------------------------------------------------------------------------------
// A cluster whose issuer cannot be reached from outside: its public keys are registered here, as in
// `kubectl get --raw /openid/v1/jwks`. Public halves only; a private one is refused at preview.
// They count for 365 days after creation: register the next ones before that.
const clusterKeys = {
  keys: [
    {
      kty: "RSA",
      use: "sig",
      alg: "RS256",
      kid: "cluster-2026",
      n: "7qOSw_2CKqRk6SUFXNsQ8nOgzaAqRlza_dTZ8fTSdxCnnWQVRoAp72TAb-RIMVQqpZKzV1bUisUZN6qQ9bOsg_RcImIULOy8fcAkLnxCGydpQegsNLj5StelW15Pyn115nmNPCqONwBmo5I1mQGOgCoHdAR_YAP35PnFLGBklJpNm6iNQQqrrd3_G2Zadg8-XBs_T-cjZNplWoXfM7nirWa_mvfI17QS2dMtaqqdr9GAIvXMaHOGwhnyuXL5RCTCxPCbkmVR1VLQnUKPeqwJOKmQb8AU8OiuExMBv5vQ3ka3H23UMwi0LzGNmhUMyj_Xr4vpE7cpo854P7JCUqm7-Q",
      e: "AQAB",
    },
  ],
};
const clusterPull = new Identity("cluster-pull", {
  parentUid: organisation.id,
  name: "cluster-payments-pull",
  description: "The service account pull-images in the namespace payments",
  staticKeys: {
    issuer: "https://kubernetes.default.svc.cluster.local",
    // One service account of one namespace: any other workload of the cluster has another subject.
    subject: "system:serviceaccount:payments:pull-images",
    issuerKeys: JSON.stringify(clusterKeys),
    // A projected token made for this purpose, not the one that every pod gets for the cluster's API.
    audiences: ["https://registry.acme.example.com"],
  },
});
new RoleBinding("cluster-pulls", {
  parentUid: payments.id,
  identityUid: clusterPull.id,
  roleUid: puller,
});

// --- AWS --------------------------------------------------------------------------------------
// One role of one account. The last part of the ARN is the name of a session, which the caller
// chooses: it is the only part left open, and the pattern lets it hold no slash.
// The user id begins with the role's unique id: a role deleted and made again under its old name
// has another, so that it does not inherit this access.
const awsInventory = new Identity("aws-inventory", {
  parentUid: organisation.id,
  name: "aws-image-inventory",
  description: "The role image-inventory of AWS account 123456789012",
  awsIdentity: {
    awsAccount: "123456789012",
    arnPattern: "^arn:aws:sts::123456789012:assumed-role/image-inventory/[A-Za-z0-9+=,.@_-]{2,64}$",
    userIdPattern: "^AROAEXAMPLEINVENTORY7:[A-Za-z0-9+=,.@_-]{2,64}$",
  },
});
// The one binding on the whole organisation: an inventory sees all teams, and only sees.
new RoleBinding("aws-inventory-sees", {
  parentUid: organisation.id,
  identityUid: awsInventory.id,
  roleUid: inventory.id,
});

export const githubBuildUid = githubBuild.id;
export const githubReleaseUid = githubRelease.id;
export const gitlabReleaseUid = gitlabRelease.id;
export const clusterPullUid = clusterPull.id;
export const awsInventoryUid = awsInventory.id;
