// Reads the owner's role under a harmless name
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const role = platform.Role.get("read-only", ids.owner);
bind("extra", r, { roleUid: role.id });
