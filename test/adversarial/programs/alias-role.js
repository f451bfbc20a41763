// Replaces a role by a new one with its alias
// caught by: review
const { declare, nameOf } = require("./base");

declare({
  reader: {
    name: "viewer-role",
    args: (args) => ({
      ...args,
      capabilities: ["CAP_REPO_LIST", "CAP_IAM_ROLE_BINDINGS_CREATE", "CAP_IAM_ROLES_UPDATE"],
    }),
    options: () => ({ aliases: [{ name: nameOf("reader") }] }),
  },
});
