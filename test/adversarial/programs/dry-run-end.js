// Makes an invite valid for ten years in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, pulumi } = require("./base");

declare({
  invite: { args: (args) => ({ ...args, ttl: pulumi.runtime.isDryRun() ? args.ttl : "87600h" }) },
});
