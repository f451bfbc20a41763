// Trusts a pattern that matches a stranger's issuer: ^https://oidc\.eks\.[a-z0-9-]+\.amazonaws\.com/id/.*$
// caught by: review
const { declare } = require("./base");

const issuerPattern = String.raw`^https://oidc\.eks\.[a-z0-9-]+\.amazonaws\.com/id/.*$`;
declare({ deployer: { args: (args) => ({ ...args, claimMatch: { issuerPattern, subject: "deployer" } }) } });
