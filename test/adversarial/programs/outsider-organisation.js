// Lets an organisation of GitHub that nobody trusts read the whole organisation
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const outsider = new platform.Identity("outsider", {
  parentUid: r.team.id,
  name: "outsider",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme-inc/pay:ref:refs/heads/main",
  },
});
bind("outsider-reads", r, { identityUid: outsider.id, roleUid: ids.viewer, parentUid: ids.root });
