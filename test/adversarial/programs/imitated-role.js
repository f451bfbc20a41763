// Creates a role with the name of a harmless built-in role
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const r = declare();
const capabilities = ["CAP_IAM_ROLE_BINDINGS_CREATE", "CAP_IAM_ROLES_UPDATE", "CAP_IAM_IDENTITY_UPDATE"];
const viewer = new platform.Role("viewer", { parentUid: ids.root, name: "viewer", capabilities });
bind("extra", r, { roleUid: viewer.id });
