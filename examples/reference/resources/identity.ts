import { Group, Identity } from "pulumi-platform";

const acme = new Group("acme", { name: "acme" });

// The deploy workflow of one repository, on one branch.
new Identity("deployer", {
  parentUid: acme.id,
  name: "ci-deployer",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/pay:ref:refs/heads/main",
    claims: { repository_owner: "acme" },
  },
});

// A role of an AWS account.
new Identity("builder", {
  parentUid: acme.id,
  name: "builder",
  awsIdentity: {
    awsAccount: "123456789012",
    arn: "arn:aws:sts::123456789012:assumed-role/builder",
    userIdPattern: "^AROA[A-Z0-9]+:.+$",
  },
});
