// Names a resource by the uid of another one
// caught by: review
// runs alone
const { bind, declare, ids } = require("./base");

const r = declare();
bind(ids.mallory, r, { identityUid: ids.mallory, roleUid: ids.owner });
