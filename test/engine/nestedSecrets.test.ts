import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack, WRITES_STATE_ONCE } from "../support/engine";
import { declared, samples, surroundings } from "../support/samples";

/** The package, whose classes make each text, each entry, or each argument of some resources a secret, by their names. */
const HIDING = `
const pulumi = require("@pulumi/pulumi");
const platform = require("pulumi-platform");
const mapped = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
const isPlain = (value) => value && typeof value === "object" && !pulumi.Output.isInstance(value);
const texts = (value) => {
  if (Array.isArray(value)) return value.map(texts);
  return isPlain(value) ? mapped(value, texts) : pulumi.secret(value);
};
const entries = (value) => (isPlain(value) && !Array.isArray(value) ? mapped(value, pulumi.secret) : value);
const hidings = { texts, entries, arguments: pulumi.secret };
const hidingClass = (kind) =>
  function (name, args) {
    const hide = hidings[name.split(":")[1]];
    return new kind(name, hide ? mapped(args, hide) : args);
  };
module.exports = mapped(platform, (kind) => (typeof kind === "function" ? hidingClass(kind) : kind));
`;

/** Keys that look like a path. */
const dotted = {
  kind: "Identity",
  args: {
    parentUid: "${org}",
    name: "dotted",
    claimMatch: {
      issuer: "https://issuer.example.com",
      subject: "dotted",
      claims: { "https://example.com/team[0].name": "pay", "a.b": "c" },
    },
  },
};

describe("secrets inside of arguments, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;

  beforeAll(async () => {
    emulator = await startEmulator();
    const env = { ...WRITES_STATE_ONCE, PLATFORM_OF_TEST: "./hiding.js" };
    stack = await new Stack({ url: emulator.url, token: emulator.token, env }).init();
    stack.files({ "hiding.js": HIDING });
    const copies = ["texts", "entries", "arguments"].flatMap((hiding) =>
      samples.flatMap((sample) =>
        Object.entries(
          declared(`${sample.label}:${hiding}`, sample, sample.args, `${sample.label}-${hiding}`),
        ),
      ),
    );
    stack.declare({
      ...surroundings,
      ...Object.fromEntries(copies),
      "dotted:texts": dotted,
      "dotted:entries": dotted,
    });
    await stack.up();
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  test("show no change in the next run, and in a preview after a refresh", async () => {
    expect(JSON.stringify(stack.recorded()).match(/"ciphertext"/g)?.length).toBeGreaterThan(100);
    emulator.clearRequests();
    await stack.up("--expect-no-changes");
    expect(emulator.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  });
});
