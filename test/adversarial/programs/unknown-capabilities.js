// Makes the capabilities of a role unknown before the update
// caught by: review
const { declare, ids, platform } = require("./base");

const corner = new platform.Group("corner", { parentUid: ids.root, name: "corner" });
declare({
  reader: { args: (args) => ({ ...args, capabilities: corner.id.apply(() => ["CAP_IAM_ROLES_UPDATE"]) }) },
});
