// Has a GroupAccess leave alone what others bind, in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, pulumi } = require("./base");

declare({
  "production-access": {
    args: (args) => (pulumi.runtime.isDryRun() ? args : { ...args, ignore: { namePatterns: [".*"] } }),
  },
});
