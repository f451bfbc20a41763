// Adds a harmless label to a GroupAccess, of which another binding was revoked at the server
// caught by: review
const { declare } = require("./base");

declare({
  "vault-access": {
    args: ({ bindings, ...args }, r) => ({
      ...args,
      bindings: { ...bindings, tests: { identityUid: r.tester.id, roleUid: r.reader.id } },
    }),
  },
});
