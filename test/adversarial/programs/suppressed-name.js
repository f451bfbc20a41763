// Adds an owner whose name matches a suppression
// caught by: review
const { bind, declare, GITHUB, ids, platform } = require("./base");

const r = declare();
const claimMatch = { issuer: GITHUB, subject: "repo:mallory/x:ref:refs/heads/main" };
const fake = new platform.Identity("fake", { parentUid: ids.root, name: "break-glass", claimMatch });
bind("accepted", r, { parentUid: r.sandbox.id, identityUid: r.deployer.id, roleUid: ids.pusher });
bind("extra", r, { identityUid: fake.id, roleUid: ids.owner, parentUid: ids.root });
