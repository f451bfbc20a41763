// Adds a binding whose role is a secret
// caught by: review
const { bind, declare, ids, pulumi } = require("./base");

const r = declare();
bind("extra", r, { roleUid: pulumi.secret(ids.owner) });
