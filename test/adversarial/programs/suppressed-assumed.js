// Binds in a group that looks like the suppressed sandbox, and is the root
// caught by: review
const { bind, declare, ids } = require("./base");

const edit = { sandbox: { args: (args) => ({ ...args, description: "edited" }) } };
const r = declare(edit);
const place = r.sandbox.verified.apply(() => ids.root);
bind("accepted", r, { parentUid: r.sandbox.id, identityUid: r.deployer.id, roleUid: ids.pusher });
bind("extra", r, { parentUid: place, roleUid: ids.owner });
