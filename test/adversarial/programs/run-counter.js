// Binds another role in its second run, which a file of the first one tells
// caught by: verify
// update plan: refuses
// approved report: refuses
const { bind, declare, ids } = require("./base");

const fs = require("fs");

const r = declare();
const hasRun = fs.existsSync(`${__dirname}/.cache`);
fs.writeFileSync(`${__dirname}/.cache`, "");
bind("extra", r, { roleUid: hasRun ? ids.owner : ids.viewer });
