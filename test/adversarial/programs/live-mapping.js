// Makes a mapping that was revoked at the server again, by another name of its resource
// caught by: review
const { declare } = require("./base");

declare({ admins: { name: "administrators" } });
