// Trusts the issuer of all tenants of Azure
// caught by: review
const { declare } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer: "https://login.microsoftonline.com/common/v2.0", subject: "deployer" },
    }),
  },
});
