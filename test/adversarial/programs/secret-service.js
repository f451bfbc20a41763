// Makes the identity that a service acts as a secret
// caught by: review
const { declare, ids, pulumi } = require("./base");

declare({
  services: {
    args: (args) => ({ ...args, chainguard: { serviceBindings: { INGESTER: pulumi.secret(ids.boss) } } }),
  },
});
