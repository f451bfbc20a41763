// Binds a harmless role of the team's group at the root, so that whoever administers the team can widen it there
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const declared = declare();
const role = new platform.Role("helper", {
  parentUid: declared.team.id,
  name: "helper",
  capabilities: ["CAP_REPO_LIST"],
});
bind("helper-everywhere", declared, { parentUid: ids.root, roleUid: role.id });
