// Trusts the pattern of an issuer with a Cyrillic letter in its host
// caught by: review
const { declare } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuerPattern: "^https://login\\.\u0430cme\\.example$", subject: "deployer" },
    }),
  },
});
