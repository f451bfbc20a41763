// Trusts a pattern that matches a stranger's issuer: ^HTTPS://.*$
// caught by: review
const { declare } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuerPattern: String.raw`^HTTPS://.*$`, subject: "deployer" },
    }),
  },
});
