// Creates a binding under the type of a harmless kind
// caught by: review
const { declare, ids, nameOf, pulumi } = require("./base");

class Fake extends pulumi.CustomResource {
  constructor(name, type, args, options) {
    super(`pulumi-nodejs:dynamic/platform:${type}`, name, args, options);
  }
}
const r = declare();
const __provider = 'exports.handler=()=>require("pulumi-platform/dynamic").RoleBinding';
new Fake(nameOf("extra"), "Subscription", {
  parentUid: r.team.id,
  identityUid: ids.mallory,
  roleUid: ids.owner,
  __provider,
});
