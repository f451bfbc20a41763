// Lets an organisation of CircleCI that nobody trusts read the whole organisation
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const outsider = new platform.Identity("outsider", {
  parentUid: r.team.id,
  name: "outsider",
  claimMatch: {
    issuer: "https://oidc.circleci.com/org/11111111-2222-4333-8444-555555555555",
    subject: "org/x",
  },
});
bind("outsider-reads", r, { identityUid: outsider.id, roleUid: ids.viewer, parentUid: ids.root });
