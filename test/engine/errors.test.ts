import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";

type Settings = Readonly<Record<string, string | undefined>>;

const quick: Settings = { PLATFORM_MAX_RETRIES: "0" };

describe("errors, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;

  const state = async () =>
    Object.values(await stack.ours()).map(({ urn, id, inputs, outputs }) => ({ urn, id, inputs, outputs }));
  const message = (output: string) => output.replace(/\s+/g, " ");

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack(emulator).init();
    stack.declare({
      org: { kind: "Group", args: { name: "org", description: "here" } },
      role: { kind: "Role", args: { parentUid: "${org}", name: "role", capabilities: ["CAP_REPO_LIST"] } },
    });
    await stack.up();
  });

  afterAll(async () => {
    await emulator.close();
    stack.dispose();
  });

  afterEach(() => emulator.clearFaults());

  // The engine prints an error of the provider, and keeps the state, whatever the error is: one of two commands will do.
  const failures = [
    {
      title: "a token that is refused",
      command: "destroy",
      env: (): Settings => ({ PLATFORM_TOKEN: "wrong" }),
      says: /UNAUTHENTICATED \(HTTP 401\)/,
    },
    {
      title: "a log-in page with status 200",
      command: "refresh",
      env: (): Settings => {
        emulator.addFault({
          status: 200,
          headers: { "Content-Type": "text/html" },
          body: "<html>log in</html>",
        });
        return {};
      },
      says: /this is not the Platform API: HTTP 200 with a web page, such as the login page of a proxy; check .*PLATFORM_BASE_URL/,
    },
  ];

  test.each(failures)(
    "$title is an error of $command, and leaves the state untouched",
    async ({ command, env, says }) => {
      const before = await state();
      const run = await stack.pulumi([command, "--yes", "--skip-preview"], { ...quick, ...env() });
      expect(run.code).not.toBe(0);
      expect(message(run.output)).toMatch(says);
      expect(run.output).not.toMatch(/<html>|\n\s+at .*:\d+:\d+/);
      expect(await state()).toEqual(before);
      expect(before).toHaveLength(2);
    },
  );

  test("a name that the server silently drops is an error, and the next run tries again", async () => {
    stack.declare({
      org: { kind: "Group", args: { name: "org", description: "here" } },
      role: {
        kind: "Role",
        args: { parentUid: "${org}", name: "role", capabilities: ["CAP_REPO_LIST", "CAP_NOT_KNOWN"] },
      },
    });
    const run = await stack.pulumi(["up", "--yes", "--skip-preview"]);
    expect(run.code).not.toBe(0);
    expect(message(run.output)).toMatch(
      /the server ignored capabilities \(the server has \["CAP_REPO_LIST"\]\); CAP_NOT_KNOWN is not a name that this version knows: a server drops names that it does not know, without an error/,
    );
    // The program has warned of it in the same words.
    expect(run.output).toContain(
      'Role "role": capabilities: CAP_NOT_KNOWN is not a name that this version knows: a server drops',
    );
    expect(run.output).not.toContain("neither an error nor drift");
    const again = await stack.pulumi(["up", "--yes", "--skip-preview"]);
    expect(again.code).not.toBe(0);
    stack.declare({
      org: { kind: "Group", args: { name: "org", description: "here" } },
      role: { kind: "Role", args: { parentUid: "${org}", name: "role", capabilities: ["CAP_REPO_LIST"] } },
    });
    await stack.up();
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  });
});
