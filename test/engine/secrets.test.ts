import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { kinds } from "../../provider/kinds";
import { Stack } from "../support/engine";
import type { StateResource } from "../support/engine";
import { declared, samples, surroundings } from "../support/samples";

/** Found nowhere else: whoever holds it, leaked it. */
const CANARY = "canary-3f9c1d7e5b2a4860";

const program = {
  ...surroundings,
  ...Object.fromEntries(
    samples.flatMap((sample) => Object.entries(declared(sample.label, sample, sample.args))),
  ),
};

/**
 * The bytes of our inputs and outputs in state, for each sample: what it takes, and no more. File backends write
 * the whole state at each step, so that whatever is added costs every program time.
 */
const MOST_BYTES: Readonly<Record<string, number>> = {
  access: 1082,
  accounts: 1292,
  aws: 632,
  binding: 568,
  claims: 736,
  invite: 779,
  keys: 922,
  mapping: 642,
  "open-invite": 697,
  provider: 1040,
  readme: 394,
  repo: 2250,
  role: 436,
  root: 240,
  scim: 823,
  service: 450,
  subscription: 358,
  synced: 535,
  tag: 544,
  team: 342,
  terms: 392,
};

/** That of a sample without a figure: its arguments twice, with uids for names, and the text that loads the provider. */
const usualBytes = (args: object): number => 2 * (Buffer.byteLength(JSON.stringify(args)) + 250);

const size = (resource: StateResource | undefined): number =>
  Buffer.byteLength(JSON.stringify(resource?.inputs)) + Buffer.byteLength(JSON.stringify(resource?.outputs));

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

  test("a token from the environment never appears in state, output or logs", async () => {
    const stack = await new Stack({
      url: emulator.url,
      token: CANARY,
      env: { PLATFORM_LOG: "debug" },
    }).init();
    stack.declare(program);
    const outputs = [await stack.succeed(["up", "--yes", "--logtostderr", "-v=9"])];
    ours = await stack.ours();
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
    stack.dispose();
  });

  test("a secret token in stack configuration works with one warning, and is stored encrypted only", async () => {
    const stack = await new Stack({
      url: emulator.url,
      token: CANARY,
      env: { PLATFORM_TOKEN: undefined, PLATFORM_BASE_URL: undefined },
    }).init({ "platform:baseUrl": emulator.url });
    await stack.succeed(["config", "set", "--secret", "platform:token", CANARY]);
    stack.declare({
      org: { kind: "Group", args: { name: "org" } },
      team: { kind: "Group", args: { parentUid: "${org}", name: "team" } },
    });
    const up = await stack.up();
    expect(up.output).toContain(
      "platform:token: the engine hands refresh and destroy the stack configuration",
    );
    const refresh = await stack.succeed(["refresh", "--yes"]);
    for (const { output } of [up, refresh]) expect(output).not.toContain(CANARY);
    expect(stack.everyByte()).not.toContain(CANARY);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    stack.dispose();
  });

  test("the stored provider is a constant text of at most 80 bytes, without a path", () => {
    const resources = Object.values(ours);
    for (const { spec } of kinds) {
      const texts = resources
        .filter(({ type }) => type === `pulumi-nodejs:dynamic/platform:${spec.kind}`)
        .flatMap(({ inputs, outputs }) => [inputs?.["__provider"], outputs?.["__provider"]]);
      expect(texts.length).toBeGreaterThan(0);
      for (const text of texts) {
        expect(text).toBe(`exports.handler=()=>require("pulumi-platform/dynamic").${spec.kind}`);
        expect(Buffer.byteLength(String(text))).toBeLessThanOrEqual(80);
      }
    }
    // The engine itself keeps where the program's code lies (stackTrace); what is ours must not.
    const stored = JSON.stringify(resources.map(({ inputs, outputs }) => [inputs, outputs]));
    expect(stored).not.toContain(process.cwd());
    const grown = samples
      .filter(({ label, args }) => size(ours[label]) > (MOST_BYTES[label] ?? usualBytes(args)))
      .map(({ label }) => [label, size(ours[label])] as const);
    expect(Object.fromEntries(grown)).toEqual({});
    const binding = ours["binding"];
    expect(Object.keys(binding?.outputs ?? {}).sort()).toEqual([
      "__provider",
      "identityUid",
      "parentUid",
      "roleUid",
    ]);
  });
});
