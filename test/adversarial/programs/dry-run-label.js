// Adds a binding to a GroupAccess in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, ids, pulumi } = require("./base");

declare({
  "production-access": {
    args: ({ bindings, ...args }) => ({
      ...args,
      bindings: pulumi.runtime.isDryRun()
        ? bindings
        : { ...bindings, extra: { identityUid: ids.mallory, roleUid: ids.owner } },
    }),
  },
});
