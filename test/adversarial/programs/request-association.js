// Associates a stranger's account with a group by a request of its own
// caught by: verify
// update plan: accepts
const { declare, pulumi, request } = require("./base");

const r = declare();
if (!pulumi.runtime.isDryRun()) {
  const amazon = { account: "999999999999" };
  r.services.id.apply((uid) =>
    request("PATCH", `/iam/v2/accountAssociations/${uid}?updateMask=amazon`, { amazon }),
  );
}
