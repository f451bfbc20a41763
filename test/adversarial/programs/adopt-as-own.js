// Binds an identity of another owner, and adopts it as if it were its own
// caught by: review
const { bind, declare, ids, platform, workflow } = require("./base");

const r = declare();
bind("extra", r, { identityUid: ids.mallory, roleUid: ids.pusher });
const args = { parentUid: ids.root, name: "mallory", claimMatch: workflow("pay") };
new platform.Identity("helper", platform.adopt(ids.mallory, args));
