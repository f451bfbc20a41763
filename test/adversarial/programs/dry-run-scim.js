// Adds a SCIM token in the update only
// caught by: review
const { declare, platform, pulumi } = require("./base");

const r = declare({ staff: { args: (args) => ({ ...args, scimEnabled: true }) } });
if (!pulumi.runtime.isDryRun())
  new platform.ScimToken("token", { parentUid: r.staff.id, neverExpires: true });
