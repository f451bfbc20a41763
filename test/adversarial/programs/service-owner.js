// Lets a service act as an owner
// caught by: review
const { declare, ids } = require("./base");

declare({
  services: { args: (args) => ({ ...args, chainguard: { serviceBindings: { INGESTER: ids.boss } } }) },
});
