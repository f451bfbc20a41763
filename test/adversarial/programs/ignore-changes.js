// Replaces a role whose binding ignores changes of it
// caught by: review
const { declare } = require("./base");

declare({
  reader: { args: (args, r) => ({ ...args, parentUid: r.team.id, capabilities: ["CAP_IAM_ROLES_UPDATE"] }) },
  "deployer-reads": { options: () => ({ ignoreChanges: ["roleUid"] }) },
});
