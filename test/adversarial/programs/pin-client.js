// Pins a public client of Google, which everybody can use
// caught by: review
const { declare } = require("./base");

const issuer = "https://accounts.google.com";
declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer, subjectPattern: ".*", claims: { azp: "32555940559.apps.googleusercontent.com" } },
    }),
  },
});
