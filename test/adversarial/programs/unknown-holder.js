// Computes an identity that looks like a new one, and is another one
// caught by: verify
// update plan: accepts
// approved report: refuses
const { bind, declare, ids, platform, workflow } = require("./base");

const r = declare();
const robot = new platform.Identity("robot", {
  parentUid: r.team.id,
  name: "robot",
  claimMatch: workflow("robot"),
});
bind("extra", r, { identityUid: robot.id.apply(() => ids.mallory) });
