// Names a resource like the retained part of a replaced one
// caught by: review
// runs alone
const { bind, declare, GITHUB, ids, platform } = require("./base");

const r = declare({
  deployer: { args: (args) => ({ ...args, parentUid: ids.root }), options: () => ({ retainOnDelete: true }) },
});
const fake = new platform.Identity("deployer#retained", {
  parentUid: ids.root,
  name: "deployer#retained",
  claimMatch: { issuer: GITHUB, subject: "repo:mallory/x:ref:refs/heads/main" },
});
bind("extra", r, { identityUid: fake.id, roleUid: ids.owner });
