// A binding that leaves the program together with what it is said to go with, and stays
// caught by: none
const { declare } = require("./base");

declare({ annex: { drop: true }, tied: { drop: true } });
