// Changes a binding by a stack transformation
// caught by: review
const { declare, ids, nameOf, pulumi } = require("./base");

pulumi.runtime.registerStackTransformation(({ name, props, opts }) =>
  name === nameOf("deployer-reads") ? { props: { ...props, roleUid: ids.owner }, opts } : undefined,
);
declare();
