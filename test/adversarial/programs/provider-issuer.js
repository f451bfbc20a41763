// Gives an identity provider another issuer
// caught by: review
const { declare } = require("./base");

declare({
  staff: { args: (args) => ({ ...args, oidc: { ...args.oidc, issuer: "https://login.evil.example" } }) },
});
