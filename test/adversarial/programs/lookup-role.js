// Binds the owner's role by a lookup
// caught by: review
const { bind, declare, platform } = require("./base");

const r = declare();
bind("extra", r, { roleUid: platform.getRoleOutput({ name: "owner", builtIn: true }).uid });
