// Adopts an identity with another owner, and binds it
// caught by: review
const { bind, declare, GITHUB, ids, platform } = require("./base");

const r = declare();
const args = {
  parentUid: ids.root,
  name: "mallory",
  claimMatch: { issuer: GITHUB, subject: "repo:mallory/x:ref:refs/heads/main" },
};
const mallory = new platform.Identity("helper", platform.adopt(ids.mallory, args));
bind("extra", r, { identityUid: mallory.id, roleUid: ids.owner });
