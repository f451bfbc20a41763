// Computes a role from two new ones, and it is neither
// caught by: review
const { bind, declare, ids, platform, pulumi } = require("./base");

const r = declare();
const harmless = new platform.Role("harmless", {
  parentUid: ids.root,
  name: "harmless",
  capabilities: ["CAP_REPO_LIST"],
});
const second = new platform.Role("second", {
  parentUid: ids.root,
  name: "second",
  capabilities: ["CAP_TAG_LIST"],
});
bind("extra", r, { roleUid: pulumi.all([harmless.id, second.id]).apply(() => ids.owner) });
