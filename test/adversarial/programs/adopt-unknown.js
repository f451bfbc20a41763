// Adopts an identity of another owner by a uid that no preview shows
// caught by: review
const { declare, GITHUB, ids, platform } = require("./base");

declare();
const fresh = new platform.Role("fresh", {
  parentUid: ids.root,
  name: "fresh",
  capabilities: ["CAP_REPO_LIST"],
});
const args = {
  parentUid: ids.root,
  name: "mallory",
  claimMatch: { issuer: GITHUB, subject: "repo:mallory/x:ref:refs/heads/main" },
};
new platform.Identity(
  "helper",
  platform.adopt(
    fresh.id.apply(() => ids.mallory),
    args,
  ),
);
