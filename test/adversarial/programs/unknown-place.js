// Computes a group that looks like a new one, and is the root
// caught by: verify
// update plan: accepts
// approved report: refuses
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const corner = new platform.Group("corner", { parentUid: r.sandbox.id, name: "corner" });
bind("extra", r, { parentUid: corner.id.apply(() => ids.root) });
