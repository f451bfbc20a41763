// Makes an identity without a grant by a request of its own, with a suppressed name
// caught by: verify
// update plan: accepts
const { declare, GITHUB, ids, pulumi, request } = require("./base");

declare();
if (!pulumi.runtime.isDryRun()) {
  void request("POST", `/iam/v2/identities/${ids.root}`, {
    name: "break-glass",
    claimMatch: { issuer: GITHUB, subject: "repo:mallory/x:ref:refs/heads/main" },
  });
}
