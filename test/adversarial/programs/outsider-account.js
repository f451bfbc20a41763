// Lets an account of AWS that nobody trusts read the whole organisation
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const outsider = new platform.Identity("outsider", {
  parentUid: r.team.id,
  name: "outsider",
  awsIdentity: {
    awsAccount: "999999999999",
    arn: "arn:aws:iam::999999999999:role/reader",
    userIdPattern: ".*",
  },
});
bind("outsider-reads", r, { identityUid: outsider.id, roleUid: ids.viewer, parentUid: ids.root });
