// Computes a default role that looks like a new harmless one
// caught by: verify
// update plan: accepts
// approved report: refuses
const { declare, ids, platform } = require("./base");

const harmless = new platform.Role("harmless", {
  parentUid: ids.root,
  name: "harmless",
  capabilities: ["CAP_REPO_LIST"],
});
declare({ staff: { args: (args) => ({ ...args, defaultRole: harmless.id.apply(() => ids.owner) }) } });
