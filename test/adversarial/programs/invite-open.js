// Invites anybody
// caught by: review
const { declare } = require("./base");

declare({ invite: { args: ({ parentUid, roleUid, ttl }) => ({ parentUid, roleUid, ttl }) } });
