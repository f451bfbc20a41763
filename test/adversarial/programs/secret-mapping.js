// Makes the role of an external group a secret
// caught by: review
const { declare, ids, pulumi } = require("./base");

declare({ readers: { args: (args) => ({ ...args, roleUid: pulumi.secret(ids.owner) }) } });
