// The identities of the workflows, one for each kind of job. They stand in the organisation itself: an identity of a group
// below it does not see the registry.
// A review before the update that creates them reports what each of them is for, and once only: G1 (critical), since whoever
// deploys access can grant any role, behind the approval of the environment; T4 (medium), since each pull request can be
// ci-preview, which only reads; T7 (medium or high), since nothing trusted this repository before: compare its name letter by letter.
import { Config } from "@pulumi/pulumi";
import { getRole, Identity, Role, RoleBinding } from "pulumi-platform";

const rootUid = new Config().require("rootUid");
const issuer = "https://token.actions.githubusercontent.com";

// How GitHub begins the subjects of this repository: for a newer one, with numbers. This prints it:
//   gh api repos/acme/access/actions/oidc/customization/sub --jq .sub_claim_prefix
const prefix = "repo:acme/access";

// A pipeline cannot delete what it needs to run: whoever makes these again has other uids. To delete one, take the option out first.
const kept = { protect: true };

const viewer = getRole({ name: "viewer", builtIn: true }).then(({ uid }) => uid);

// Whoever holds this role can grant any role. Add what the other kinds of the program need:
//   node_modules/pulumi-platform/docs/least-privilege.md
const deployer = new Role(
  "ci-deployer",
  {
    parentUid: rootUid,
    name: "ci-deployer",
    description: "Deploys groups, identities, roles and role bindings",
    capabilities: [
      "CAP_IAM_GROUPS_CREATE",
      "CAP_IAM_GROUPS_DELETE",
      "CAP_IAM_GROUPS_LIST",
      "CAP_IAM_GROUPS_UPDATE",
      "CAP_IAM_IDENTITY_CREATE",
      "CAP_IAM_IDENTITY_DELETE",
      "CAP_IAM_IDENTITY_LIST",
      "CAP_IAM_IDENTITY_UPDATE",
      "CAP_IAM_ROLES_CREATE",
      "CAP_IAM_ROLES_DELETE",
      "CAP_IAM_ROLES_LIST",
      "CAP_IAM_ROLES_UPDATE",
      "CAP_IAM_ROLE_BINDINGS_CREATE",
      "CAP_IAM_ROLE_BINDINGS_DELETE",
      "CAP_IAM_ROLE_BINDINGS_LIST",
      "CAP_IAM_ROLE_BINDINGS_UPDATE",
    ],
  },
  kept,
);

// The program of a pull request runs as this one, which only reads.
const preview = new Identity(
  "ci-preview",
  {
    parentUid: rootUid,
    name: "ci-preview",
    claimMatch: { issuer, subject: `${prefix}:pull_request` },
  },
  kept,
);
new RoleBinding("ci-preview", { parentUid: rootUid, identityUid: preview.id, roleUid: viewer }, kept);

// The review and the comparison of every night, on the default branch. It only reads.
const review = new Identity(
  "ci-review",
  {
    parentUid: rootUid,
    name: "ci-review",
    claimMatch: { issuer, subject: `${prefix}:ref:refs/heads/main` },
  },
  kept,
);
new RoleBinding("ci-review", { parentUid: rootUid, identityUid: review.id, roleUid: viewer }, kept);

// The update, behind the approval of the environment.
const deploy = new Identity(
  "ci-deploy",
  {
    parentUid: rootUid,
    name: "ci-deploy",
    claimMatch: { issuer, subject: `${prefix}:environment:production` },
  },
  kept,
);
new RoleBinding("ci-deploy", { parentUid: rootUid, identityUid: deploy.id, roleUid: deployer.id }, kept);

export const previewIdentity = preview.id;
export const reviewIdentity = review.id;
export const deployIdentity = deploy.id;
