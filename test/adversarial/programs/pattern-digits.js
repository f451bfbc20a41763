// A pattern that a stranger's repository fits: ^repo:acme[0-9]*/pay:ref:refs/heads/main$
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
