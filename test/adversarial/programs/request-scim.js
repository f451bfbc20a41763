// Makes a SCIM token by a request of its own
// caught by: verify
// update plan: accepts
const { declare, pulumi, request } = require("./base");

const r = declare();
if (!pulumi.runtime.isDryRun()) {
  r.staff.id.apply((uid) =>
    request("POST", `/iam/v2/identityProviders/${uid}:generateScimToken`, { neverExpires: true }),
  );
}
