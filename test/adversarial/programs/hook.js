// A hook of a resource that makes a request to the API
// caught by: verify
// update plan: accepts
const { bind, declare, ids, pulumi, request } = require("./base");

const grant = new pulumi.ResourceHook("grant", async () => {
  await request("POST", `/iam/v2/roleBindings/${ids.root}`, { identityUid: ids.mallory, roleUid: ids.owner });
});
const r = declare();
bind("extra", r, { roleUid: ids.viewer }, { hooks: { afterCreate: [grant] } });
