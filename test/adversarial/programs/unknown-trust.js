// Makes the trust of an identity unknown before the update
// caught by: review
const { declare, GITHUB, ids, platform } = require("./base");

const corner = new platform.Group("corner", { parentUid: ids.root, name: "corner" });
const subject = "repo:mallory/x:ref:refs/heads/main";
declare({
  deployer: {
    args: (args) => ({ ...args, claimMatch: corner.id.apply(() => ({ issuer: GITHUB, subject })) }),
  },
});
