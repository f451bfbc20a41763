// Makes everybody who signs in an owner
// caught by: review
const { declare, ids } = require("./base");

declare({ staff: { args: (args) => ({ ...args, defaultRole: ids.owner }) } });
