// Trusts a stranger before the update deletes what the identity holds
// caught by: review
const { declare, GITHUB } = require("./base");

declare({
  rescuer: {
    args: (args) => ({
      ...args,
      claimMatch: { issuer: GITHUB, subject: "repo:intruder/evil:ref:refs/heads/main" },
    }),
  },
  "rescuer-rescues": { drop: true },
});
