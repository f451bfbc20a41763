// Another role where the run is no preview
// caught by: verify
// update plan: refuses
const { bind, declare, ids, pulumi } = require("./base");

const r = declare();
bind("extra", r, { roleUid: pulumi.runtime.isDryRun() ? ids.viewer : ids.owner });
