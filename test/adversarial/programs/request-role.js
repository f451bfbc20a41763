// Makes a role without a grant by a request of its own
// caught by: verify
// update plan: accepts
const { declare, ids, pulumi, request } = require("./base");

declare();
if (!pulumi.runtime.isDryRun()) {
  const capabilities = ["CAP_IAM_ROLE_BINDINGS_CREATE"];
  void request("POST", `/iam/v2/roles/${ids.root}`, { name: "helper", capabilities });
}
