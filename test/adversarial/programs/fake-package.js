// Creates a binding under the type of another package
// caught by: review
const { declare, ids, nameOf, pulumi } = require("./base");

const r = declare();
const __provider = 'exports.handler=()=>require("pulumi-platform/dynamic").RoleBinding';
const args = { parentUid: r.team.id, identityUid: ids.mallory, roleUid: ids.owner, __provider };
new pulumi.CustomResource("pulumi-nodejs:dynamic:Resource", nameOf("extra"), args);
