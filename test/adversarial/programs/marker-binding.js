// Names a binding like the retained part of a replaced one
// caught by: review
const { bind, declare, ids } = require("./base");

const r = declare({ "deployer-reads": { args: (args) => ({ ...args, roleUid: ids.viewer }) } });
bind("deployer-reads#retained", r, { roleUid: ids.owner });
