// Makes a repository that copies a stranger's images by a request of its own
// caught by: verify
// update plan: accepts
const { declare, ids, pulumi, request } = require("./base");

declare();
if (!pulumi.runtime.isDryRun()) {
  void request("POST", `/registry/v2/repos/${ids.root}`, { name: "base", sync_config: { source: "nginx" } });
}
