// Binds another role outside of the job for pull requests
// caught by: verify
// update plan: refuses
// approved report: refuses
const { bind, declare, ids } = require("./base");

const r = declare();
const isReview = process.env.GITHUB_EVENT_NAME === "pull_request";
bind("extra", r, { roleUid: isReview ? ids.viewer : ids.owner });
