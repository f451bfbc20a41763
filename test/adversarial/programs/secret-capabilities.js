// Makes the capabilities of a role a secret
// caught by: review
const { declare, pulumi } = require("./base");

declare({
  reader: {
    args: (args) => ({ ...args, capabilities: pulumi.secret(["CAP_REPO_LIST", "CAP_IAM_ROLES_UPDATE"]) }),
  },
});
