// Renames a group by a request of its own, so that a suppression of paths matches it
// caught by: verify
// update plan: accepts
const { declare, pulumi, request } = require("./base");

const r = declare();
if (!pulumi.runtime.isDryRun()) {
  r.production.id.apply((uid) =>
    request("PATCH", `/iam/v2/groups/${uid}?updateMask=name`, { name: "sandbox two" }),
  );
}
