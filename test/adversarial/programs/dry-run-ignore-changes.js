// Ignores changes of a role's capabilities, in the update only: what is done there by hand later stays
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, pulumi } = require("./base");

declare({
  reader: {
    options: (options) =>
      pulumi.runtime.isDryRun() ? options : { ...options, ignoreChanges: ["capabilities"] },
  },
});
