// Gives an identity of a suppressed group, which is bound in another group, to somebody else
// caught by: review
const { declare, GITHUB } = require("./base");

const claimMatch = { issuer: GITHUB, subject: "repo:mallory/x:ref:refs/heads/main" };
declare({ tester: { args: (args) => ({ ...args, claimMatch }) } });
