// Adds a binding in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { bind, declare, ids, pulumi } = require("./base");

const r = declare();
if (!pulumi.runtime.isDryRun()) bind("extra", r, { identityUid: ids.mallory, roleUid: ids.owner });
