// One secret binding among those that are shown
// caught by: review
const { declare, ids, pulumi } = require("./base");

declare({
  "production-access": {
    args: ({ bindings, ...args }) => ({
      ...args,
      bindings: { ...bindings, extra: pulumi.secret({ identityUid: ids.mallory, roleUid: ids.owner }) },
    }),
  },
});
