// Binds at the other one of two new groups that have the same name and parent
// caught by: verify
// update plan: accepts
// approved report: refuses
const { declare, ids, platform, pulumi } = require("./base");

const r = declare();
const groupOf = (name) => new platform.Group(name, { parentUid: r.team.id, name: "twin" });
const [empty, full] = [groupOf("empty"), groupOf("full")];
new platform.Repo("prod", { parentUid: full.id, name: "prod" });
// Of the one group by its dependencies, and of the other one by its value.
const other = new Promise((resolve) => full.id.apply(resolve));
new platform.RoleBinding("extra", {
  parentUid: empty.id.apply((id) => (pulumi.runtime.isDryRun() ? id : other)),
  identityUid: r.auditor.id,
  roleUid: ids.viewer,
});
