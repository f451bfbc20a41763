// Changes roles by a stack transformation in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { bind, declare, ids, nameOf, pulumi } = require("./base");

if (!pulumi.runtime.isDryRun()) {
  pulumi.runtime.registerStackTransformation(({ name, props, opts }) =>
    name === nameOf("extra") ? { props: { ...props, roleUid: ids.owner }, opts } : undefined,
  );
}
const r = declare();
bind("extra", r, { roleUid: ids.viewer });
