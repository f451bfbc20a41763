// Changes one service of an association, of which another was revoked at the server
// caught by: review
const { declare } = require("./base");

declare({
  agents: {
    args: (args, r) => ({
      ...args,
      chainguard: { serviceBindings: { ...args.chainguard.serviceBindings, INGESTER: r.tester.id } },
    }),
  },
});
