import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { startEmulator } from "../../emulator";
import { parsePreview } from "../../provider/access/documents/preview";
import { ROOT, Stack } from "../support/engine";
import { languageHosts, testWithHosts } from "../support/languageHosts";

/* The same organisation in YAML and in Python, by the native plugin. */

/** The program in TypeScript that both examples are, in the form of dynamic resources. */
const PROGRAM = `
const { Group, Identity, RoleBinding, getRoleOutput } = require("pulumi-platform");
const organisation = new Group("organisation", { name: "acme" });
const team = new Group("team", { parentUid: organisation.id, name: "team", description: "Builds the product" });
const ci = new Identity("ci", {
  parentUid: organisation.id,
  name: "ci",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/app:environment:production",
    audience: "https://platform.example.com",
  },
});
new RoleBinding("ci-reads", { parentUid: team.id, identityUid: ci.id, roleUid: getRoleOutput({ name: "viewer" }).uid });
`;

/** What a preview says of the resources of the package, in an order of its own. */
function readSteps(document: string) {
  return parsePreview(document)
    .steps.filter(({ after }) => after?.kind !== undefined || after?.notReviewed !== undefined)
    .map(({ op, urn, after }) => ({
      name: urn.slice(urn.lastIndexOf("::") + 2),
      op,
      kind: after?.kind,
      inputs: after?.inputs,
      notReviewed: after?.notReviewed,
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

testWithHosts.each(["yaml", "python"])("the example in %s is the same program", async (language) => {
  const emulator = await startEmulator();
  const path = [
    languageHosts,
    join(dirname(languageHosts), "venv", "bin"),
    process.env["PULUMI_PLATFORM_CLI_DIR"],
  ];
  const env = { PATH: [...path, process.env["PATH"]].join(delimiter) };
  const [stack, typescript] = [0, 1].map(() => new Stack({ url: emulator.url, token: emulator.token })) as [
    Stack,
    Stack,
  ];
  try {
    stack.copy(join(ROOT, "examples", language));
    await stack.init();
    stack.useForm("native");
    typescript.files({ "index.js": PROGRAM });
    await typescript.init();
    const { stdout: expected } = await typescript.succeed(["preview", "--json", "--show-sames"]);
    const { stdout } = await stack.succeed(["preview", "--json", "--show-sames"], env);
    expect(readSteps(stdout)).toEqual(readSteps(expected));
    expect(readSteps(stdout)).toHaveLength(4);
    await stack.succeed(["up", "--yes", "--skip-preview"], env);
    expect((emulator.state()["groups"] ?? []).map(({ name }) => name).sort()).toEqual(["acme", "team"]);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"], env);
    await stack.succeed(["destroy", "--yes", "--skip-preview"], env);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
  } finally {
    stack.dispose();
    typescript.dispose();
    await emulator.close();
  }
});

test("each example of another language has a project file", () => {
  for (const name of ["yaml", "python"]) {
    expect(existsSync(join(ROOT, "examples", name, "Pulumi.yaml"))).toBe(true);
  }
});
