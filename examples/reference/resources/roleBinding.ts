import { getRoleOutput, Group, Identity, RoleBinding } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });
const deployer = new Identity("deployer", {
  parentUid: acme.id,
  name: "ci-deployer",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/pay:ref:refs/heads/main",
  },
});

// The deployer holds the platform's role "viewer" on the organisation and everything below it.
new RoleBinding("deployer-views", {
  parentUid: acme.id,
  identityUid: deployer.id,
  roleUid: getRoleOutput({ name: "viewer", builtIn: true }).uid,
});
