// One more binding of a group where the run is no preview
// caught by: verify
// update plan: refuses
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
