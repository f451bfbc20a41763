// Makes a subject unknown before the update
// caught by: review
const { declare, GITHUB, ids, platform } = require("./base");

const corner = new platform.Group("corner", { parentUid: ids.root, name: "corner" });
declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer: GITHUB, subject: corner.id.apply(() => "repo:mallory/x:ref:refs/heads/main") },
    }),
  },
});
