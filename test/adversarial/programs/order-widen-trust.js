// Gives a role more before the trust of an identity that has it is narrowed
// caught by: review
const { declare, platform } = require("./base");

declare({
  reader: { args: (args) => ({ ...args, capabilities: ["CAP_REPO_LIST", "CAP_REPO_BLOBS_GET"] }) },
  deployer: {
    create: (name, args, options, declared) => {
      const claimMatch = { ...args.claimMatch, claims: { event_name: "push" } };
      return new platform.Identity(
        name,
        { ...args, claimMatch },
        { ...options, dependsOn: [declared.reader] },
      );
    },
  },
});
