// Production moves below the sandbox, whose owner is somebody else
// caught by: review
const { declare } = require("./base");

declare({ production: { args: (args, r) => ({ ...args, parentUid: r.sandbox.id }) } });
