// Gives the role owner to an external group that anybody can join
// caught by: review
const { declare, ids } = require("./base");

declare({ readers: { args: (args) => ({ ...args, externalGroupId: "everyone", roleUid: ids.owner }) } });
