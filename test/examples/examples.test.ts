import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { ROOT, Stack } from "../support/engine";

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

async function runs(stack: Stack): Promise<void> {
  await stack.up();
  expect(Object.keys(await stack.ours()).length).toBeGreaterThan(0);
  await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  await stack.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(Object.values(emulator.state()).flat()).toEqual([]);
}

test("there are examples", () => {
  expect(examples).toContain("getting-started");
});

test.each(examples)(
  "the example %s goes up, shows no change, and goes down",
  async (name) => {
    const stack = new Stack(emulator);
    stack.copy(join(ROOT, "examples", name));
    await runs(await stack.init());
    stack.dispose();
  },
  120_000,
);

test("the project file of the repository runs the first example", async () => {
  const stack = new Stack(emulator);
  cpSync(join(ROOT, "Pulumi.yaml"), join(stack.directory, "Pulumi.yaml"));
  cpSync(join(ROOT, "examples"), join(stack.directory, "examples"), { recursive: true });
  await runs(await stack.init());
  stack.dispose();
}, 120_000);
