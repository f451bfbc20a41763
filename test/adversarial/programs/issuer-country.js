// Trusts a pattern that matches a stranger's issuer: ^https://(?:sso\.acme\.com|[a-z]{3}\.ru)$
// caught by: review
const { declare } = require("./base");

const issuerPattern = String.raw`^https://(?:sso\.acme\.com|[a-z]{3}\.ru)$`;
declare({ deployer: { args: (args) => ({ ...args, claimMatch: { issuerPattern, subject: "deployer" } }) } });
