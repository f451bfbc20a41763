// Makes the default role of an identity provider a secret
// caught by: review
const { declare, ids, pulumi } = require("./base");

declare({ staff: { args: (args) => ({ ...args, defaultRole: pulumi.secret(ids.owner) }) } });
