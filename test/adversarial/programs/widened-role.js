// Adds capabilities to a role that is bound
// caught by: review
const { declare } = require("./base");

declare({
  reader: { args: (args) => ({ ...args, capabilities: ["CAP_REPO_LIST", "CAP_IAM_ROLES_UPDATE"] }) },
});
