// Creates a SCIM token that never expires
// caught by: review
const { declare, platform } = require("./base");

const r = declare({ staff: { args: (args) => ({ ...args, scimEnabled: true }) } });
new platform.ScimToken("token", { parentUid: r.staff.id, neverExpires: true });
