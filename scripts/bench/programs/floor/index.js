// The engine alone: resources with the properties and the thin text of this package's role bindings, whose
// provider asks nobody. node_modules/platform-floor is floor.js.
const pulumi = require("@pulumi/pulumi");
const { parentUid, bindings } = require("./bench.json");

bindings.forEach((binding, index) => {
  new pulumi.CustomResource("pulumi-nodejs:dynamic/platform:RoleBinding", `binding-${index}`, {
    parentUid,
    ...binding,
    __provider: 'exports.handler=()=>require("platform-floor/dynamic").RoleBinding',
  });
});
