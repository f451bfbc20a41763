// Narrows a role only after it is bound once more
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const uid = platform.getRoleOutput({ name: "rescue", parentUid: ids.root }).uid;
declare({
  rescue: {
    create: (name, args, options, declared) => {
      const extra = bind("extra", declared, { roleUid: uid });
      const narrowed = { ...args, capabilities: ["CAP_REPO_LIST"] };
      return new platform.Role(name, narrowed, { ...options, dependsOn: [extra] });
    },
  },
});
