// Creates a second group of a name, and binds its team there
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const twin = new platform.Group("twin", { parentUid: ids.root, name: "Production" });
bind("twin-reads", r, { parentUid: twin.id });
