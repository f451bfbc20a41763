// Gives a GroupAccess two new identities, of which one turns out to be another
// caught by: verify
// update plan: accepts
// approved report: refuses
const { declare, ids, nameOf, platform, pulumi, workflow } = require("./base");

const r = declare();
const [one, two] = ["one", "two"].map(
  (name) => new platform.Identity(name, { parentUid: r.sandbox.id, name, claimMatch: workflow(name) }),
);
const group = new platform.Group("new-team", { parentUid: r.sandbox.id, name: nameOf("new-team") });
new platform.GroupAccess("new-team", {
  parentUid: group.id,
  bindings: {
    one: { identityUid: one.id, roleUid: r.reader.id },
    two: { identityUid: pulumi.all([one.id, two.id]).apply(() => ids.mallory), roleUid: r.reader.id },
  },
});
