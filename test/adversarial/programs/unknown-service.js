// A service that looks as if it acted as a new identity
// caught by: verify
// update plan: accepts
const { declare, ids, platform, workflow } = require("./base");

const robot = new platform.Identity("robot", {
  parentUid: ids.root,
  name: "robot",
  claimMatch: workflow("robot"),
});
declare({
  services: {
    args: (args) => ({
      ...args,
      chainguard: { serviceBindings: { INGESTER: robot.id.apply(() => ids.boss) } },
    }),
  },
});
