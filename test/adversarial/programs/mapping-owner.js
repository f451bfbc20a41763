// An external group that anybody joins becomes owner
// caught by: review
const { declare, ids } = require("./base");

declare({ readers: { args: (args) => ({ ...args, externalGroupId: "everyone", roleUid: ids.owner }) } });
