// Exchanges the names of two identities by aliases
// caught by: review
const { declare, GITHUB, nameOf, workflow } = require("./base");

declare({
  deployer: {
    args: (args) => ({ ...args, name: "auditor", claimMatch: workflow("audit") }),
    options: () => ({ aliases: [{ name: nameOf("auditor") }] }),
  },
  auditor: {
    args: (args) => ({
      ...args,
      name: "deployer",
      claimMatch: { issuer: GITHUB, subject: "repo:mallory/x:ref:refs/heads/main" },
    }),
    options: () => ({ aliases: [{ name: nameOf("deployer") }] }),
  },
});
