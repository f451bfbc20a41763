// Binds a role by a value that is not known yet, and depends on a role that exists
// caught by: review
const { bind, declare, ids, platform } = require("./base");

const capabilities = ["CAP_REPO_LIST"];
const fresh = new platform.Role("fresh", { parentUid: ids.root, name: "fresh", capabilities });
const description = fresh.id.apply(() => "reads");
const r = declare({ reader: { args: (args) => ({ ...args, description }) } });
bind("extra", r, { roleUid: r.reader.description.apply(() => ids.owner) });
