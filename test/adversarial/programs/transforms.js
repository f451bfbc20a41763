// Changes a resource's arguments by a transform
// caught by: review
const { bind, declare, ids } = require("./base");

const r = declare();
bind(
  "extra",
  r,
  {},
  { transforms: [({ props, opts }) => ({ props: { ...props, roleUid: ids.owner }, opts })] },
);
