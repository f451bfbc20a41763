// Invites anybody
// caught by: review
const { declare } = require("./base");

declare({ invite: { args: (args) => ({ ...args, email: undefined, singleUse: undefined }) } });
