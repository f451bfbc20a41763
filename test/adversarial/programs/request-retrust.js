// Gives an identity that holds grants to a stranger by a request of its own
// caught by: verify
// update plan: accepts
const { declare, pulumi, request } = require("./base");

const r = declare();
if (!pulumi.runtime.isDryRun()) {
  const claimMatch = { subject: "repo:mallory/x:ref:refs/heads/main" };
  r.deployer.id.apply((uid) =>
    request("PATCH", `/iam/v2/identities/${uid}?updateMask=claimMatch.subject`, { claimMatch }),
  );
}
