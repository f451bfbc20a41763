// Makes all bindings of a GroupAccess one secret
// caught by: review
const { declare, ids, pulumi } = require("./base");

declare({
  "production-access": {
    args: ({ bindings, ...args }) => ({
      ...args,
      bindings: pulumi.secret({ ...bindings, extra: { identityUid: ids.mallory, roleUid: ids.owner } }),
    }),
  },
});
