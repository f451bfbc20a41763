// A transformation of the stack that edits a binding
// caught by: review
// runs alone
const { declare, ids, pulumi } = require("./base");

pulumi.runtime.registerStackTransformation(({ name, props, opts }) =>
  name === "deployer-reads" ? { props: { ...props, roleUid: ids.owner }, opts } : undefined,
);
declare();
