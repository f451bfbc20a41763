// A binding inside of a component with a harmless name
// caught by: review
// runs alone
const { bind, declare, ids, pulumi } = require("./base");

const r = declare();
const parent = new pulumi.ComponentResource("acme:monitoring:Dashboard", "dashboard");
bind("extra", r, { identityUid: ids.mallory, roleUid: ids.owner }, { parent });
