import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import type { StateResource } from "../support/engine";
import { declared, samples, surroundings } from "../support/samples";

/** Found nowhere else: whoever holds one, leaked it. */
const CANARY = "canary-3f9c1d7e5b2a4860";
const CLIENT_SECRET = "canary-client-secret-1-8d2f6b";

const plain = {
  ...surroundings,
  ...Object.fromEntries(
    samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args))),
  ),
};
const program = JSON.parse(
  JSON.stringify(plain).replaceAll(/(?<="clientSecret":)"\w+"/g, JSON.stringify(CLIENT_SECRET)),
) as typeof plain;

/** The texts that a state, exported with its secrets, keeps as secrets. */
const secretsIn = (state: unknown): string[] =>
  [...JSON.stringify(state).matchAll(/"plaintext":"\\"(.*?)\\""/g)].map(([, text = ""]) => text);

describe("state and secrets, through the real engine", () => {
  let emulator: Emulator;
  /** The state of all samples, by their names. */
  let ours: Readonly<Record<string, StateResource>>;

  beforeAll(async () => {
    emulator = await startEmulator({ token: CANARY });
  });

  afterAll(async () => {
    await emulator.close();
  });

  test("a token from the environment and the secrets of resources appear in no output, log or file", async () => {
    const stack = await new Stack({
      url: emulator.url,
      token: CANARY,
      env: { PLATFORM_LOG: "debug" },
    }).init();
    stack.declare(program);
    const outputs = [await stack.succeed(["up", "--yes", "--logtostderr", "-v=9"])];
    ours = await stack.ours();
    const secrets = secretsIn(ours);
    const all = expect.arrayContaining([CLIENT_SECRET, expect.stringMatching(/^cgscim_/)]) as unknown;
    expect(secrets).toEqual(all);
    outputs.push(
      await stack.succeed(["refresh", "--yes"]),
      await stack.pulumi(["up", "--yes"], {
        PLATFORM_BASE_URL: `${emulator.url}/nowhere`,
        PLATFORM_MAX_RETRIES: "0",
      }),
      await stack.succeed(["stack", "export", "--show-secrets"]),
      await stack.succeed(["destroy", "--yes"]),
    );
    expect(outputs[0]?.output).toMatch(/platform: POST \/iam\/v2\/groups -> 200 in \d+ ms \(attempt 1\)/);
    for (const { output } of outputs) expect(output).not.toContain(CANARY);
    expect(stack.everyByte()).not.toContain(CANARY);
    // The engine's own log of the first run, and the export, show the secrets of resources: they were asked to.
    const [, refreshed, failed, , destroyed] = outputs;
    for (const secret of secrets) {
      for (const run of [refreshed, failed, destroyed]) expect(run?.output).not.toContain(secret);
      expect(stack.everyByte()).not.toContain(secret);
    }
    stack.dispose();
  });

  test("a secret token in stack configuration works with one warning, for lookups that wait for the update too, and is stored encrypted only", async () => {
    const stack = await new Stack({
      url: emulator.url,
      token: CANARY,
      env: { PLATFORM_TOKEN: undefined, PLATFORM_BASE_URL: undefined },
    }).init({ "platform:baseUrl": emulator.url });
    await stack.succeed(["config", "set", "--secret", "platform:token", CANARY]);
    stack.files({
      "index.js": `
        const platform = require("pulumi-platform");
        const fresh = new platform.Group("fresh", { name: "fresh", description: "new" });
        module.exports = (async () => ({
          builtIn: (await platform.getRole({ name: "viewer", builtIn: true })).builtIn,
          late: platform.getGroupOutput({ uid: fresh.id }).description,
          lateRole: platform.getRoleOutput({ uid: platform.getRoleOutput({ name: "owner", builtIn: true }).uid }).name,
        }))();
      `,
    });
    await stack.succeed(["preview"]);
    const up = await stack.up();
    expect(up.output).toContain(
      "platform:token: the engine hands refresh and destroy the stack configuration",
    );
    const { stdout } = await stack.succeed(["stack", "output", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ builtIn: true, late: "new", lateRole: "owner" });
    const refresh = await stack.succeed(["refresh", "--yes"]);
    for (const { output } of [up, refresh]) expect(output).not.toContain(CANARY);
    expect(stack.everyByte()).not.toContain(CANARY);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    stack.dispose();
  });

  test("no path of this machine is stored in inputs and outputs", () => {
    const resources = Object.values(ours);
    // The engine itself keeps where the program's code lies (stackTrace); what is ours must not.
    const stored = JSON.stringify(resources.map(({ inputs, outputs }) => [inputs, outputs]));
    expect(stored).not.toContain(process.cwd());
  });
});
