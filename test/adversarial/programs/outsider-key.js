// Lets the holder of a new key push, beside an issuer and a subject that look like the organisation's own
// caught by: review
const { bind, declare, GITHUB, ids, platform } = require("./base");

const r = declare();
const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
const helper = new platform.Identity("helper", {
  parentUid: r.team.id,
  name: "helper",
  staticKeys: {
    issuer: GITHUB,
    subject: "repo:acme/pay:ref:refs/heads/main",
    issuerKeys: JSON.stringify({ keys: [{ kty: "OKP", crv: "Ed25519", x }] }),
  },
});
bind("helper-pushes", r, { identityUid: helper.id, roleUid: ids.pusher });
