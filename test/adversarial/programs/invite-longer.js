// Makes an invite valid for ten years
// caught by: review
const { declare } = require("./base");

declare({ invite: { args: (args) => ({ ...args, ttl: "87600h" }) } });
