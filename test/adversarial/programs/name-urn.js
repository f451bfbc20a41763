// A resource whose name holds a URN's separators
// caught by: review
const { bind, declare, ids } = require("./base");

const r = declare();
bind("a::pulumi-nodejs:dynamic/platform:Group::b", r, { identityUid: ids.mallory, roleUid: ids.owner });
