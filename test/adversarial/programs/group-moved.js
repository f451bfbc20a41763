// Moves production below the sandbox, which has another owner
// caught by: review
const { declare } = require("./base");

declare({ production: { args: (args, r) => ({ ...args, parentUid: r.sandbox.id }) } });
