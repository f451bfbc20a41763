// Reads the owner's role by a provider that describes a harmless one
// caught by: review
const { bind, declare, ids, nameOf, pulumi } = require("./base");

class Fake extends pulumi.CustomResource {
  constructor(name, type, args, options) {
    super(`pulumi-nodejs:dynamic/platform:${type}`, name, args, options);
  }
}
const harmless = { name: "harmless", parentUid: ids.root, capabilities: ["CAP_REPO_LIST"] };
const text = `exports.handler=()=>({read:async(id)=>({id,props:${JSON.stringify(harmless)}})})`;
const role = new Fake(
  nameOf("harmless"),
  "Role",
  { ...harmless, name: undefined, capabilities: undefined, parentUid: undefined, __provider: text },
  { id: ids.owner },
);
const r = declare();
bind("extra", r, { roleUid: role.id });
