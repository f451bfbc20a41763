import { getRoleOutput, Group, GroupAccess, Identity } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });
const payments = new Group("payments", { parentUid: acme.id, name: "payments" });
const deployer = new Identity("deployer", {
  parentUid: acme.id,
  name: "ci-deployer",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/pay:ref:refs/heads/main",
  },
});

new GroupAccess("payments-access", {
  parentUid: payments.id,
  // The labels are yours. Previews show them.
  bindings: {
    "the deployer pushes": {
      identityUid: deployer.id,
      roleUid: getRoleOutput({ name: "registry.push", builtIn: true }).uid,
    },
  },
  // Bindings that others create by hand in an emergency stay.
  ignore: { namePatterns: ["break-glass as .+"] },
});
