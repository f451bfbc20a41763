// Hides a binding in a component with a harmless name
// caught by: review
const { bind, declare, ids, nameOf, pulumi } = require("./base");

const r = declare();
const parent = new pulumi.ComponentResource("acme:monitoring:Dashboard", nameOf("dashboard"));
bind("extra", r, { identityUid: ids.mallory, roleUid: ids.owner }, { parent });
