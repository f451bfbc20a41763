// Makes the role of an existing binding a secret
// caught by: review
const { declare, ids, pulumi } = require("./base");

declare({ "deployer-reads": { args: (args) => ({ ...args, roleUid: pulumi.secret(ids.owner) }) } });
