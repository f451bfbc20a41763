// Maps another external group by a request of its own
// caught by: verify
// update plan: accepts
const { declare, ids, pulumi, request } = require("./base");

const r = declare();
if (!pulumi.runtime.isDryRun()) {
  pulumi.all([r.staff.id, r.reader.id]).apply(([staff, roleUid]) =>
    request("POST", `/iam/v2/externalGroupRoleMappings/${staff}`, {
      externalGroupId: "guests",
      roleUid,
      scope: ids.root,
    }),
  );
}
