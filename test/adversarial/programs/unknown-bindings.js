// Makes all bindings of a GroupAccess unknown before the update
// caught by: review
const { declare, ids, platform } = require("./base");

const harmless = new platform.Role("harmless", {
  parentUid: ids.root,
  name: "harmless",
  capabilities: ["CAP_REPO_LIST"],
});
declare({
  "production-access": {
    args: (args) => ({
      ...args,
      bindings: harmless.id.apply(() => ({ extra: { identityUid: ids.mallory, roleUid: ids.owner } })),
    }),
  },
});
