// Takes a capability from a role, and gives it another that was revoked at the server
// caught by: review
const { declare } = require("./base");

declare({
  keeper: {
    args: (args) => ({ ...args, capabilities: ["CAP_REPO_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE"] }),
  },
});
