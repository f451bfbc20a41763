import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { ROOT, Stack } from "../support/engine";
import { run } from "../support/project";

const examples = readdirSync(join(ROOT, "examples")).filter((name) =>
  existsSync(join(ROOT, "examples", name, "Pulumi.yaml")),
);

let emulator: Emulator;

beforeAll(async () => {
  emulator = await startEmulator();
});

afterAll(async () => {
  await emulator.close();
});

/** Each run that checks the types of its program takes three seconds more: one test checks those of all. */
const UNCHECKED = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };

async function runs(stack: Stack, env: Record<string, string>): Promise<void> {
  await stack.succeed(["up", "--yes", "--skip-preview"], env);
  expect(Object.keys(stack.recorded()).length).toBeGreaterThan(0);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"], UNCHECKED);
  await stack.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(Object.values(emulator.state()).flat()).toEqual([]);
}

test("there are examples", () => {
  expect(examples).toContain("getting-started");
});

test("the types of all examples are right, by the options that each of them sets", async () => {
  const options = examples.map((name) => readFileSync(join(ROOT, "examples", name, "tsconfig.json"), "utf8"));
  expect(new Set(options).size).toBe(1);
  const { compilerOptions } = JSON.parse(options[0] ?? "") as { compilerOptions: object };
  const files = examples.map((name) => join(ROOT, "examples", name, "index.ts"));
  const folder = mkdtempSync(join(ROOT, ".cache", "examples-"));
  try {
    const config = join(folder, "tsconfig.json");
    writeFileSync(config, JSON.stringify({ compilerOptions, files }));
    const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
    expect(await run(process.execPath, [compiler, "-p", config], { cwd: ROOT })).toMatchObject({
      code: 0,
      output: "",
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(examples)("the example %s goes up, shows no change, and goes down", async (name) => {
  const stack = new Stack(emulator);
  stack.copy(join(ROOT, "examples", name));
  // The first one is checked by the engine, as it is for whoever begins with it.
  await runs(await stack.init(), name === "getting-started" ? {} : UNCHECKED);
  stack.dispose();
});

test("the project file of the repository names the first example", async () => {
  const stack = new Stack(emulator);
  cpSync(join(ROOT, "Pulumi.yaml"), join(stack.directory, "Pulumi.yaml"));
  cpSync(join(ROOT, "examples"), join(stack.directory, "examples"), { recursive: true });
  await stack.init();
  const { stdout } = await stack.succeed(["preview", "--json"], UNCHECKED);
  const { steps } = JSON.parse(stdout) as { steps: { urn: string }[] };
  const types = steps.map(({ urn }) => urn.split("::")[2]);
  expect(types).toContain("pulumi-nodejs:dynamic/platform:Group");
  stack.dispose();
});

/** The example's component, for as many teams as wanted: each of one role, two bindings and one repository. */
const teams = (count: number) => `
import { Group, Identity } from "pulumi-platform";
import { Team } from "./team";
const org = new Group("org", { name: "org" });
const claimMatch = { issuer: "https://issuer.example.com", subject: "ada" };
const people = { ada: new Identity("ada", { parentUid: org.id, name: "ada", claimMatch }).id };
for (let i = 0; i < ${count}; i += 1) {
  const args = {
    parentUid: org.id,
    description: "a team",
    roles: { pusher: ["CAP_REPO_LIST"] },
    access: { pusher: ["ada"], viewer: ["ada"] },
    repos: { api: "its service" },
  };
  new Team(\`team-\${100 + i}\`, args, people);
}
`;

test("a team of the example costs five resources and five requests, and its state is bounded", async () => {
  const stack = new Stack({ url: emulator.url, token: emulator.token, env: UNCHECKED });
  stack.copy(join(ROOT, "examples", "teams"));
  await stack.init();
  const measured = [];
  for (const count of [1, 3]) {
    stack.files({ "index.ts": teams(count) });
    emulator.clearRequests();
    await stack.up();
    const resources = await stack.resources();
    const writes = emulator.requests.filter(({ method }) => method !== "GET").length;
    const bytes = Buffer.byteLength(JSON.stringify(resources));
    measured.push({ resources: resources.length, requests: emulator.requests.length, writes, bytes });
  }
  const [one, three] = measured;
  const perTeam = {
    resources: ((three?.resources ?? 0) - (one?.resources ?? 0)) / 2,
    writes: (three?.writes ?? 0) / 2,
    // One lookup of the built-in role for all teams, and one list for each team's access.
    reads: ((three?.requests ?? 0) - (three?.writes ?? 0) - 1) / 2,
    stateBytes: ((three?.bytes ?? 0) - (one?.bytes ?? 0)) / 2,
  };
  console.log(`a team costs ${JSON.stringify(perTeam)}`);
  expect(perTeam).toMatchObject({ resources: 5, writes: 4, reads: 1 });
  // Most of it is the engine's own: addresses, dependencies, where in the program each resource is made.
  expect(perTeam.stateBytes).toBeLessThan(15_000);
  emulator.reset();
  stack.dispose();
});
