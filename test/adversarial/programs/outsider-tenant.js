// Lets a tenant of Azure that nobody trusts read the whole organisation
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const outsider = new platform.Identity("outsider", {
  parentUid: r.team.id,
  name: "outsider",
  claimMatch: {
    issuer: "https://login.microsoftonline.com/11111111-2222-4333-8444-555555555555/v2.0",
    subject: "app",
  },
});
bind("outsider-reads", r, { identityUid: outsider.id, roleUid: ids.viewer, parentUid: ids.root });
