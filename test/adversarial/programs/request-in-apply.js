// Sends a request to the API when a new id is known, which no preview does
// caught by: verify
// update plan: accepts
const { declare, ids, platform, request } = require("./base");

declare();
const capabilities = ["CAP_REPO_LIST"];
const harmless = new platform.Role("harmless", { parentUid: ids.root, name: "harmless", capabilities });
harmless.id.apply(() =>
  request("POST", `/iam/v2/roleBindings/${ids.root}`, { identityUid: ids.mallory, roleUid: ids.owner }),
);
