// Makes a new binding look old: a provider of its own reads it
// caught by: review
const { bind, declare, ids, nameOf, pulumi } = require("./base");

class Fake extends pulumi.CustomResource {
  constructor(name, type, args, options) {
    super(`pulumi-nodejs:dynamic/platform:${type}`, name, args, options);
  }
}
const held = { parentUid: ids.root, identityUid: ids.mallory, roleUid: ids.owner };
const text = `exports.handler=()=>({read:async(id)=>({id,props:${JSON.stringify(held)}})})`;
new Fake(
  nameOf("held"),
  "RoleBinding",
  { parentUid: undefined, identityUid: undefined, roleUid: undefined, __provider: text },
  { id: `${ids.root}/0123456789abcdef` },
);
const r = declare();
bind("extra", r, held);
