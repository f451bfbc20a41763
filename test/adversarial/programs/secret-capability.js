// Makes one capability of a role a secret
// caught by: review
const { declare, pulumi } = require("./base");

declare({
  reader: {
    args: (args) => ({ ...args, capabilities: ["CAP_REPO_LIST", pulumi.secret("CAP_IAM_ROLES_UPDATE")] }),
  },
});
