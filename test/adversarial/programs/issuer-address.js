// Trusts a pattern that matches a stranger's issuer: ^https://[0-9.]+$
// caught by: review
const { declare } = require("./base");

const issuerPattern = String.raw`^https://[0-9.]+$`;
declare({ deployer: { args: (args) => ({ ...args, claimMatch: { issuerPattern, subject: "deployer" } }) } });
