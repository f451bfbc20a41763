// Pins the id of an environment, which names no organisation
// caught by: review
const { declare } = require("./base");

const issuer = "https://token.actions.githubusercontent.com";
declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer, subject: "environment:production", claims: { environment_node_id: "EN_kwDOA" } },
    }),
  },
});
