// Associates a stranger's account with another group, beside a grant that is harmless
// caught by: review
const { declare, platform } = require("./base");

const r = declare();
new platform.AccountAssociation("cloud", {
  parentUid: r.sandbox.id,
  name: "cloud",
  amazon: { account: "210987654321" },
  chainguard: { serviceBindings: { CATALOG_SYNCER: r.tester.id } },
});
