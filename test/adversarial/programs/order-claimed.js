// Narrows a role only after it is bound by an argument that claims to come from its resource
// caught by: review
const { bind, declare, ids, nameOf, platform, pulumi } = require("./base");

const TYPE = "pulumi-nodejs:dynamic/platform:Role";
const { uid } = platform.getRoleOutput({ name: "rescue", parentUid: ids.root });
const role = {
  __pulumiResource: true,
  __pulumiCustomResource: true,
  __childResources: new Set(),
  urn: pulumi.createUrn(nameOf("rescue"), TYPE),
  id: uid,
};
const [yes, no] = [Promise.resolve(true), Promise.resolve(false)];
const claimed = new uid.constructor([role], uid.promise(), yes, no, Promise.resolve(new Set([role])));
declare({
  rescue: {
    create: (name, args, options, declared) => {
      const extra = bind("extra", declared, { roleUid: claimed });
      // Else the engine, which checks that what a resource depends on is in the state, ends the update.
      const narrowed = extra.urn.apply(() => ["CAP_REPO_LIST"]);
      return new platform.Role(name, { ...args, capabilities: narrowed }, options);
    },
  },
});
