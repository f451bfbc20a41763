// Makes the subject of an identity a secret
// caught by: review
const { declare, GITHUB, pulumi } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer: GITHUB, subject: pulumi.secret("repo:mallory/x:ref:refs/heads/main") },
    }),
  },
});
