// Names a resource with the separators of a URN
// caught by: review
const { bind, declare, ids } = require("./base");

const r = declare();
bind("a::pulumi-nodejs:dynamic/platform:Group::b", r, { identityUid: ids.mallory, roleUid: ids.owner });
