// Trusts a pattern that matches a stranger's repository: (?i)^REPO:[^I].*$
// caught by: review
const { declare, GITHUB } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer: GITHUB, subjectPattern: String.raw`(?i)^REPO:[^I].*$` },
    }),
  },
});
