// Trusts a pattern that matches a stranger's repository: ^repo:acme[1-9]/pay:ref:refs/heads/main$
// caught by: review
const { declare } = require("./base");

const issuer = "https://token.actions.githubusercontent.com";
declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer, subjectPattern: "^repo:acme[1-9]/pay:ref:refs/heads/main$" },
    }),
  },
});
