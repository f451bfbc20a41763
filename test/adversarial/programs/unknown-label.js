// Computes a role of a GroupAccess that becomes another one in the update
// caught by: verify
// update plan: accepts
// approved report: refuses
const { declare, ids, platform } = require("./base");

const harmless = new platform.Role("harmless", {
  parentUid: ids.root,
  name: "harmless",
  capabilities: ["CAP_REPO_LIST"],
});
declare({
  "production-access": {
    args: ({ bindings, ...args }, r) => ({
      ...args,
      bindings: {
        ...bindings,
        extra: { identityUid: r.deployer.id, roleUid: harmless.id.apply(() => ids.owner) },
      },
    }),
  },
});
