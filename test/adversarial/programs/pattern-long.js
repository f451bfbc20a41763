// Trusts a pattern that matches a stranger's repository: ^repo:[a-z]{9,39}/pay:ref:refs/heads/main$
// caught by: review
const { declare, GITHUB } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer: GITHUB, subjectPattern: String.raw`^repo:[a-z]{9,39}/pay:ref:refs/heads/main$` },
    }),
  },
});
