import { Config } from "@pulumi/pulumi";
import { getRole, Group, Identity, RoleBinding } from "pulumi-platform";

const rootUid = new Config().require("rootUid");

const team = new Group("team", {
  parentUid: rootUid,
  name: "first-team",
  description: "Made by the first program",
});

// The workflow of one repository, on one branch; nothing else can assume this identity.
const deployer = new Identity("deployer", {
  parentUid: team.id,
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
