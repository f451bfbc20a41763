// Sends a request to the API from the program, in the update only
// caught by: verify
// update plan: accepts
const { declare, ids, pulumi, request } = require("./base");

declare();
if (!pulumi.runtime.isDryRun()) {
  void request("POST", `/iam/v2/roleBindings/${ids.root}`, { identityUid: ids.mallory, roleUid: ids.owner });
}
