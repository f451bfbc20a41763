// Trusts a pattern that matches a stranger's issuer: ^https://[a-z0-9-]+\.acme\.example$
// caught by: review
const { declare } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuerPattern: String.raw`^https://[a-z0-9-]+\.acme\.example$`, subject: "deployer" },
    }),
  },
});
