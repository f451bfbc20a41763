// A transformation of the stack that edits roles where the run is no preview
// caught by: verify
// update plan: refuses
const { bind, declare, ids, nameOf, pulumi } = require("./base");

if (!pulumi.runtime.isDryRun()) {
  pulumi.runtime.registerStackTransformation(({ name, props, opts }) =>
    name === nameOf("extra") ? { props: { ...props, roleUid: ids.owner }, opts } : undefined,
  );
}
const r = declare();
bind("extra", r, { roleUid: ids.viewer });
