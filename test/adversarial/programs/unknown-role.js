// Computes a role that looks like a new harmless one, and is another one
// caught by: verify
// update plan: accepts
// approved report: refuses
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const harmless = new platform.Role("harmless", {
  parentUid: ids.root,
  name: "harmless",
  capabilities: ["CAP_REPO_LIST"],
});
bind("extra", r, { roleUid: harmless.id.apply(() => ids.owner) });
