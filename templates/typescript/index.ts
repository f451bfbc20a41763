import { Config } from "@pulumi/pulumi";
import { getRole, Group, Identity, RoleBinding } from "pulumi-platform";

const rootUid = new Config().require("rootUid"); // the uid of your organisation: doctor prints it in its line groups

const team = new Group("team", {
  parentUid: rootUid,
  name: "first-team",
  description: "Made by the first program",
});

// One workflow, on one branch. In the organisation itself: an identity of a group below it does not see the registry.
const deployer = new Identity("deployer", {
  parentUid: rootUid,
  name: "first-deployer",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/first:ref:refs/heads/main",
  },
});

const viewer = getRole({ name: "viewer", builtIn: true });
new RoleBinding("deployer-views-team", {
  parentUid: team.id,
  identityUid: deployer.id,
  roleUid: viewer.then((role) => role.uid),
});

export const teamUid = team.id;
