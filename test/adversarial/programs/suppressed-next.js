// Makes an identity under the name of a suppression, for the change after this one
// caught by: review
const { declare, GITHUB, platform } = require("./base");

const r = declare();
const claimMatch = { issuer: GITHUB, subject: "repo:acme/pay:ref:refs/heads/main" };
new platform.Identity("fake", { parentUid: r.sandbox.id, name: "break-glass", claimMatch });
