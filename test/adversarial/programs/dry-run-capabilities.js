// Adds capabilities in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, pulumi } = require("./base");

const more = pulumi.runtime.isDryRun() ? [] : ["CAP_IAM_ROLES_UPDATE"];
declare({ reader: { args: (args) => ({ ...args, capabilities: ["CAP_REPO_LIST", ...more] }) } });
