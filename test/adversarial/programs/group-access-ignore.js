// A group's bindings that are made by others are ignored
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
