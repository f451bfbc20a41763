// Pins a public workflow, which everybody can call
// caught by: review
const { declare } = require("./base");

const issuer = "https://token.actions.githubusercontent.com";
declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: {
        issuer,
        subject: "environment:production",
        claims: { job_workflow_ref: "acme/flows/.github/workflows/deploy.yml@main" },
      },
    }),
  },
});
