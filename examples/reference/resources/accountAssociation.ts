import { AccountAssociation, Group } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });

new AccountAssociation("accounts", {
  parentUid: acme.id,
  name: "accounts",
  amazon: { account: "123456789012" },
  google: { projectId: "acme-payments", projectNumber: "987654321098" },
  awaitReady: ["amazon", "google"],
});
