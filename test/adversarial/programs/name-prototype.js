// Names bindings like properties of every JavaScript object
// caught by: review
// runs alone
const { bind, declare, ids } = require("./base");

const r = declare();
for (const name of ["constructor", "__proto__", "toString"])
  bind(name, r, {
    identityUid: ids.mallory,
    roleUid: ids.owner,
    parentUid: r[{ constructor: "team", toString: "production", __proto__: null }[name] ?? "sandbox"].id,
  });
