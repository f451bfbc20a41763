// Binds another role in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { bind, declare, ids, pulumi } = require("./base");

const r = declare();
bind("extra", r, { roleUid: pulumi.runtime.isDryRun() ? ids.viewer : ids.owner });
