import { Group, Identity, Role, RoleBinding } from "pulumi-platform";
import { capabilities } from "./capabilities";

const acme = new Group("acme", { name: "acme", description: "Acme's organisation" });
const payments = new Group("payments", { parentUid: acme.id, name: "payments" });

// One role for each job. A role does nothing until it is bound.
const role = (name: string, job: keyof typeof capabilities): Role =>
  new Role(name, { parentUid: acme.id, name, capabilities: capabilities[job] });

const reviewer = role("platform-review", "review");
const drift = role("platform-drift", "drift");
const deployRegistry = role("platform-deploy-registry", "deployRegistry");
role("platform-deploy-access", "deployAccess");
role("platform-deploy-sign-in", "deploySignIn");
role("platform-deploy-events", "deployEvents");
role("platform-deploy-organisation", "deployOrganisation");

// One identity for each workflow, for one repository and one branch or trigger.
const workflow = (name: string, subject: string): Identity =>
  new Identity(name, {
    parentUid: acme.id,
    name,
    claimMatch: { issuer: "https://token.actions.githubusercontent.com", subject },
  });

// The review sees the organisation, and changes nothing.
new RoleBinding("review", {
  parentUid: acme.id,
  identityUid: workflow("ci-review", "repo:acme/infra:pull_request").id,
  roleUid: reviewer.id,
});
new RoleBinding("drift", {
  parentUid: acme.id,
  identityUid: workflow("ci-drift", "repo:acme/infra:ref:refs/heads/main").id,
  roleUid: drift.id,
});
// The deployment of one team's images is limited to the group of that team.
new RoleBinding("deploy-payments-images", {
  parentUid: payments.id,
  identityUid: workflow("ci-deploy", "repo:acme/pay:ref:refs/heads/main").id,
  roleUid: deployRegistry.id,
});
