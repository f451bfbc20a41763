// Gives an identity provider another claim of groups by a request of its own
// caught by: verify
// update plan: accepts
const { declare, pulumi, request } = require("./base");

const r = declare();
if (!pulumi.runtime.isDryRun()) {
  const oidc = { groupsClaim: "any" };
  r.staff.id.apply((uid) =>
    request("PATCH", `/iam/v2/identityProviders/${uid}?updateMask=oidc.groupsClaim`, { oidc }),
  );
}
