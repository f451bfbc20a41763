// Binds the role owner
// caught by: review
const { bind, declare, ids } = require("./base");

const r = declare();
bind("extra", r, { identityUid: ids.mallory, roleUid: ids.owner, parentUid: ids.root });
