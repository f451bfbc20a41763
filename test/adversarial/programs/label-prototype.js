// Labels a binding of a GroupAccess like a property of every JavaScript object
// caught by: review
// runs alone
const { declare, ids } = require("./base");

const extra = JSON.parse(`{ "__proto__": { "identityUid": "${ids.mallory}", "roleUid": "${ids.owner}" } }`);
declare({
  "production-access": {
    args: ({ bindings, ...args }) => ({
      ...args,
      bindings: Object.assign(Object.create(null), bindings, { constructor: extra["__proto__"] }),
    }),
  },
});
