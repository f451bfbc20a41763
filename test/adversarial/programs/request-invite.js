// Invites the same person for ten years by a request of its own
// caught by: verify
// update plan: accepts
const { declare, pulumi, request } = require("./base");

const r = declare();
if (!pulumi.runtime.isDryRun()) {
  pulumi.all([r.team.id, r.reader.id]).apply(([team, roleUid]) =>
    request("POST", `/iam/v2/groupInvites/${team}`, {
      roleUid,
      ttl: "315360000s",
      email: "ada@acme.example",
      singleUse: true,
    }),
  );
}
