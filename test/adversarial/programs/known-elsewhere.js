// Lets somebody read the whole organisation whom a group below it trusts
// caught by: review
const { bind, declare, GITHUB, ids, platform } = require("./base");

const r = declare();
const outsider = new platform.Identity("outsider", {
  parentUid: r.team.id,
  name: "outsider",
  claimMatch: { issuer: GITHUB, subject: "repo:mallory/y:ref:refs/heads/main" },
});
bind("outsider-reads", r, { identityUid: outsider.id, roleUid: ids.viewer, parentUid: ids.root });
