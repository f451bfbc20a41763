// Binds a role that it reads by a uid which no preview shows
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const capabilities = ["CAP_REPO_LIST"];
const fresh = new platform.Role("fresh", { parentUid: ids.root, name: "fresh", capabilities });
const read = platform.Role.get(
  "read",
  fresh.id.apply(() => ids.owner),
);
bind("extra", r, { roleUid: read.id });
