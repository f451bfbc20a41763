// Uses a name that looks like the CLI's mark of an unknown value
// caught by: review
const { bind, declare, GITHUB, ids, platform } = require("./base");

const r = declare();
const name = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
const fake = new platform.Identity("fake", {
  parentUid: ids.root,
  name,
  claimMatch: { issuer: GITHUB, subject: name },
});
bind("extra", r, { identityUid: fake.id, roleUid: ids.owner });
