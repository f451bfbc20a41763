// A retained binding that leaves the program still grants
// caught by: none
const { declare } = require("./base");

declare({ retained: { drop: true } });
