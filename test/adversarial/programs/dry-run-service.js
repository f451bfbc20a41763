// Lets a service act as another identity in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, ids, pulumi } = require("./base");

declare({
  services: {
    args: (args) => {
      const INGESTER = pulumi.runtime.isDryRun() ? args.chainguard.serviceBindings.INGESTER : ids.boss;
      return { ...args, chainguard: { serviceBindings: { INGESTER } } };
    },
  },
});
