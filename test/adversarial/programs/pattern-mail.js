// Trusts a pattern that matches a stranger's address: ^.*@duck\.com$
// caught by: review
const { declare } = require("./base");

const issuer = "https://login.acme.example";
declare({
  deployer: {
    args: (args) => ({ ...args, claimMatch: { issuer, subjectPattern: String.raw`^.*@duck\.com$` } }),
  },
});
