// Adds two bindings with secret roles that look equal
// caught by: review
const { bind, declare, ids, pulumi } = require("./base");

const r = declare({
  "deployer-reads": { args: (args) => ({ ...args, roleUid: pulumi.secret(args.roleUid) }) },
});
bind("extra", r, { roleUid: pulumi.secret(ids.owner) });
