// Uses names and subjects that look like a masked secret
// caught by: review
// runs alone
const { bind, declare, GITHUB, ids, platform } = require("./base");

const r = declare();
const fake = new platform.Identity("[secret]", {
  parentUid: ids.root,
  name: "[secret]",
  claimMatch: { issuer: GITHUB, subject: "[secret]" },
});
bind("extra", r, { identityUid: fake.id, roleUid: ids.owner });
