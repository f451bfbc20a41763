// Trusts an issuer whose host is one number, an IP address
// caught by: review
const { declare } = require("./base");

declare({
  deployer: {
    args: (args) => ({ ...args, claimMatch: { issuer: "https://3405803783", subject: "deployer" } }),
  },
});
