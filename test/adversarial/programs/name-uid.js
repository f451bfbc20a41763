// A resource whose name is the uid of another resource
// caught by: review
// runs alone
const { bind, declare, ids } = require("./base");

const r = declare();
bind(ids.mallory, r, { identityUid: ids.mallory, roleUid: ids.owner });
