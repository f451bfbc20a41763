// Binds the role owner by a provider of another package
// caught by: review
// runs alone
const { declare, ids, pulumi } = require("./base");

const r = declare();
const args = { group: r.team.id, identity: ids.mallory, role: ids.owner };
new pulumi.CustomResource("chainguard:index/rolebinding:Rolebinding", "extra", args);
