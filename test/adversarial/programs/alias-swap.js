// Two identities exchange their names by aliases
// caught by: review
// runs alone
const { declare, GITHUB, workflow } = require("./base");

declare({
  deployer: {
    args: (args) => ({ ...args, name: "auditor", claimMatch: workflow("audit") }),
    options: () => ({ aliases: [{ name: "auditor" }] }),
  },
  auditor: {
    args: (args) => ({
      ...args,
      name: "deployer",
      claimMatch: { issuer: GITHUB, subject: "repo:mallory/x:ref:refs/heads/main" },
    }),
    options: () => ({ aliases: [{ name: "deployer" }] }),
  },
});
