// A role that is bound gains capabilities
// caught by: review
const { declare } = require("./base");

declare({
  reader: { args: (args) => ({ ...args, capabilities: ["CAP_REPO_LIST", "CAP_IAM_ROLES_UPDATE"] }) },
});
