// A subject that reads like a value that is not known yet
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
