// Trusts another subject in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, GITHUB, pulumi } = require("./base");

const owner = pulumi.runtime.isDryRun() ? "acme" : "mallory";
declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer: GITHUB, subject: `repo:${owner}/pay:ref:refs/heads/main` },
    }),
  },
});
