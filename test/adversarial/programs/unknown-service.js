// Computes a service's identity that looks like a new one
// caught by: review
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
