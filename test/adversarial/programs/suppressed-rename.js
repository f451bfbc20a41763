// Renames a group to match a suppression
// caught by: review
const { bind, declare, ids } = require("./base");

const r = declare({
  sandbox: { args: (args) => ({ ...args, name: "playground" }) },
  production: { args: (args) => ({ ...args, name: "sandbox" }) },
  "production-access": { drop: true },
});
bind("extra", r, { parentUid: r.production.id, identityUid: ids.mallory, roleUid: ids.owner });
