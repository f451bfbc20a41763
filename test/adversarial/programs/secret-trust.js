// Makes the trust of an identity a secret
// caught by: review
const { declare, GITHUB, pulumi } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: pulumi.secret({ issuer: GITHUB, subject: "repo:mallory/x:ref:refs/heads/main" }),
    }),
  },
});
