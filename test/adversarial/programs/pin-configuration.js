// Pins a public configuration of GitLab, which everybody can run
// caught by: review
const { declare } = require("./base");

const issuer = "https://gitlab.com";
declare({
  deployer: {
    args: (args) => ({
      ...args,
      claimMatch: {
        issuer,
        subjectPattern: ".*",
        claims: { ci_config_ref_uri: "gitlab.com/acme/ci//deploy.yml@refs/heads/main" },
      },
    }),
  },
});
