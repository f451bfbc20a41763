// Trusts a pattern that matches a stranger's repository: ^repo:acme[0-9]*/pay:ref:refs/heads/main$
// caught by: review
const { declare, GITHUB } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer: GITHUB, subjectPattern: String.raw`^repo:acme[0-9]*/pay:ref:refs/heads/main$` },
    }),
  },
});
