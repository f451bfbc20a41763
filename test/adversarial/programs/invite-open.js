// Invites anybody
// caught by: review
const { declare } = require("./base");

// An invite that only loses its address is refused before anything is sent.
declare({
  invite: { name: "open-invite", args: ({ parentUid, roleUid, ttl }) => ({ parentUid, roleUid, ttl }) },
});
