// Adds a binding to a GroupAccess that ignores its identity
// caught by: review
const { declare, ids } = require("./base");

declare({
  "production-access": {
    args: ({ bindings, ...args }) => ({
      ...args,
      bindings: { ...bindings, extra: { identityUid: ids.mallory, roleUid: ids.owner } },
      ignore: { identityUids: [ids.mallory] },
    }),
  },
});
