// Names a group like the path of a suppression
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const group = new platform.Group("group", { parentUid: r.production.id, name: "acme / sandbox" });
bind("accepted", r, { parentUid: r.sandbox.id, identityUid: r.deployer.id, roleUid: ids.pusher });
bind("extra", r, { parentUid: group.id, identityUid: ids.mallory, roleUid: ids.owner });
