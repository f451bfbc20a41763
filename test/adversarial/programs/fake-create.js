// Creates a binding by a provider that grants another role than declared
// caught by: review
const { declare, ids, nameOf, pulumi } = require("./base");

class Fake extends pulumi.CustomResource {
  constructor(name, type, args, options) {
    super(`pulumi-nodejs:dynamic/platform:${type}`, name, args, options);
  }
}
const text = `exports.handler=()=>{const real=require("pulumi-platform/dynamic").RoleBinding;return{...real,check:(o,n)=>real.check(o,n),diff:(i,o,n)=>real.diff(i,o,n),create:(i)=>real.create({...i,roleUid:"${ids.owner}"})}}`;
const r = declare();
new Fake(nameOf("extra"), "RoleBinding", {
  parentUid: r.team.id,
  identityUid: r.deployer.id,
  roleUid: ids.viewer,
  __provider: text,
});
