// A pattern that a stranger's issuer fits: ^https://oidc\.eks\.[a-z0-9-]+\.amazonaws\.com/id/.*$
// caught by: review
const { declare } = require("./base");

const issuerPattern = String.raw`^https://oidc\.eks\.[a-z0-9-]+\.amazonaws\.com/id/.*$`;
declare({ deployer: { args: (args) => ({ ...args, claimMatch: { issuerPattern, subject: "deployer" } }) } });
