// Gives an identity provider another issuer in the update only
// caught by: verify
// update plan: refuses
// approved report: refuses
const { declare, pulumi } = require("./base");

declare({
  staff: {
    args: (args) => ({
      ...args,
      oidc: {
        ...args.oidc,
        issuer: pulumi.runtime.isDryRun() ? args.oidc.issuer : "https://login.evil.example",
      },
    }),
  },
});
