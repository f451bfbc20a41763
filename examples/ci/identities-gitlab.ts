// The identities of the pipeline, one for each kind of job. They stand in the organisation itself: an identity of a group
// below it does not see the registry.
// A review before the update that creates them reports what each of them is for, and once only: G1 (critical), since whoever
// deploys access can grant any role; T4 (medium), since each branch can be ci-preview and ci-review, which only read;
// T7 (medium or high), since nothing trusted this project before: compare its name letter by letter.
import { Config } from "@pulumi/pulumi";
import { getRole, Identity, Role, RoleBinding } from "pulumi-platform";

const rootUid = new Config().require("rootUid");
// The address of your GitLab, which issues the tokens of the jobs.
const issuer = "https://gitlab.com";

// GitLab's subject names the branch and not the kind of the job, so the review has no right that the preview lacks.
const prefix = "project_path:acme/access:ref_type:branch";
const eachBranch = `^${prefix.replace(/\./g, "\\.")}:.*$`;

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

// The program of a merge request runs as this one, which only reads.
const preview = new Identity(
  "ci-preview",
  {
    parentUid: rootUid,
    name: "ci-preview",
    claimMatch: { issuer, subjectPattern: eachBranch },
  },
  kept,
);
new RoleBinding("ci-preview", { parentUid: rootUid, identityUid: preview.id, roleUid: viewer }, kept);

// The review and the comparison of every night. It only reads.
const review = new Identity(
  "ci-review",
  {
    parentUid: rootUid,
    name: "ci-review",
    claimMatch: { issuer, subjectPattern: eachBranch },
  },
  kept,
);
new RoleBinding("ci-review", { parentUid: rootUid, identityUid: review.id, roleUid: viewer }, kept);

// The update, on the default branch and in the environment that waits for approval. The program runs on that branch before, too.
const deploy = new Identity(
  "ci-deploy",
  {
    parentUid: rootUid,
    name: "ci-deploy",
    claimMatch: { issuer, subject: `${prefix}:ref:main`, claims: { environment: "production" } },
  },
  kept,
);
new RoleBinding("ci-deploy", { parentUid: rootUid, identityUid: deploy.id, roleUid: deployer.id }, kept);

export const previewIdentity = preview.id;
export const reviewIdentity = review.id;
export const deployIdentity = deploy.id;
