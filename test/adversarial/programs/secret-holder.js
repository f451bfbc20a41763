// Adds a binding whose identity is a secret
// caught by: review
const { bind, declare, ids, pulumi } = require("./base");

const r = declare();
bind("extra", r, { identityUid: pulumi.secret(ids.mallory), roleUid: ids.owner });
