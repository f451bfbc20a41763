// Makes one binding of a GroupAccess a secret
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
