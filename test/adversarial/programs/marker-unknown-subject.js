// Trusts a subject that looks like the CLI's mark of an unknown value
// caught by: review
const { declare, GITHUB } = require("./base");

declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer: GITHUB, subjectPattern: "04da6b54-80e4-46f7-96ec-b56ff0331ba9|.*" },
    }),
  },
});
