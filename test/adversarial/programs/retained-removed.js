// Removes a retained binding, which still grants
// caught by: none
const { declare } = require("./base");

declare({ retained: { drop: true } });
