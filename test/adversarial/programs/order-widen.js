// Widens a role before the update deletes the only grant of it
// caught by: review
const { declare } = require("./base");

declare({
  rescue: { args: (args) => ({ ...args, capabilities: ["CAP_IAM_ROLE_BINDINGS_CREATE", "CAP_REPO_LIST"] }) },
  "rescuer-rescues": { drop: true },
});
