// Maps another external group in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, pulumi } = require("./base");

declare({
  readers: {
    args: (args) => ({
      ...args,
      externalGroupId: pulumi.runtime.isDryRun() ? args.externalGroupId : "everyone",
    }),
  },
});
