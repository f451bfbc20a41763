// Gives the grants of an identity to a stranger, by a resource of another name
// caught by: review
const { declare, GITHUB } = require("./base");

declare({
  deployer: {
    name: "deployer-of-main",
    args: (args) => ({
      ...args,
      claimMatch: { issuer: GITHUB, subject: "repo:mallory/pay:ref:refs/heads/main" },
    }),
  },
});
