// Removes a binding that `deletedWith` keeps at the server
// caught by: none
const { declare } = require("./base");

declare({ annex: { drop: true }, tied: { drop: true } });
