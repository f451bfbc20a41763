// Asks for an audience in a trust, which was pinned at the server
// caught by: review
const { declare } = require("./base");

declare({
  contractor: {
    args: (args) => ({ ...args, claimMatch: { ...args.claimMatch, audience: "https://acme.example" } }),
  },
});
