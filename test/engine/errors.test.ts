import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import type { Props } from "../../provider/fields/values";
import { HandlerStack } from "../provider/support/handlerStack";
import { errorOf } from "../provider/support/server";
import { Stack } from "../support/engine";
import { call } from "../support/wire";

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

  // The engine prints an error of the provider, and keeps the state, whatever the error is: one of each command will do.
  const failures = [
    {
      title: "a base URL with a wrong path",
      env: (): Settings => ({ PLATFORM_BASE_URL: `${emulator.url}/nowhere` }),
      says: /NOT_FOUND \(HTTP 404\).*no such API endpoint: \S+; check .*PLATFORM_BASE_URL/,
    },
    {
      title: "a token that is refused",
      command: "destroy",
      env: (): Settings => ({ PLATFORM_TOKEN: "wrong" }),
      says: /UNAUTHENTICATED \(HTTP 401\)/,
    },
    {
      title: "a missing permission",
      env: (): Settings => {
        emulator.addFault({ status: 403, body: { code: 7, message: "no", details: [] } });
        return {};
      },
      says: /PERMISSION_DENIED \(HTTP 403\): no/,
    },
    {
      title: "an HTML page of a load balancer",
      env: (): Settings => {
        emulator.addFault({
          status: 502,
          headers: { "Content-Type": "text/html" },
          body: "<html><b>Bad Gateway</b></html>",
        });
        return {};
      },
      says: /UNAVAILABLE \(HTTP 502\).*a proxy or load balancer responded/,
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

  test.each(failures.filter(({ command }) => command !== undefined))(
    "$title is an error of $command, and leaves the state untouched",
    async ({ command = "", env, says }) => {
      const before = await state();
      const run = await stack.pulumi([command, "--yes", "--skip-preview"], { ...quick, ...env() });
      expect(run.code).not.toBe(0);
      expect(message(run.output)).toMatch(says);
      expect(run.output).not.toMatch(/<html>|\n\s+at .*:\d+:\d+/);
      expect(await state()).toEqual(before);
      expect(before).toHaveLength(2);
    },
  );

  test.each(failures)("$title is an error of a read and of a delete", async ({ env, says }) => {
    const { PLATFORM_BASE_URL: url = emulator.url, PLATFORM_TOKEN: token = emulator.token } = env();
    const { id = "", outputs = {} } = stack.recorded()["org"] ?? {};
    const recorded = outputs as Props;
    const handlers = new HandlerStack({ url, token }, {}).handlersOf("Group");
    for (const failed of [handlers.read(id, recorded), handlers.delete(id, recorded)]) {
      const error = await errorOf(failed);
      expect(message(error.message)).toMatch(says);
      expect(error.message).not.toContain("<html>");
    }
  });

  test("a refresh removes a missing resource from the state", async () => {
    const org = stack.ids()["org"] ?? "";
    const role = stack.ids()["role"] ?? "";
    await call(emulator, "DELETE", `/iam/v2/roles/${role}`);
    await stack.succeed(["refresh", "--yes", "--skip-preview"]);
    expect(Object.keys(await stack.ours())).toEqual(["org"]);
    expect(stack.ids()["org"]).toBe(org);
    await stack.up();
  });

  test("a refused delete names what prevents it", async () => {
    const org = stack.ids()["org"] ?? "";
    await call(emulator, "POST", `/registry/v2/repos/${org}`, { name: "by-hand" });
    const run = await stack.pulumi(["destroy", "--yes", "--skip-preview"]);
    expect(run.code).not.toBe(0);
    expect(message(run.output)).toMatch(
      /deleting group "org" [0-9a-f]{40}: FAILED_PRECONDITION \(HTTP 400\).*RESOURCE_NOT_EMPTY.*repositories in it: "by-hand" [0-9a-f/]+.*delete what is below it first/,
    );
    expect(Object.keys(await stack.ours())).toContain("org");
    await stack.up();
  });

  test("the option import is an error of the program, which names what to use instead", async () => {
    const { org } = stack.ids();
    stack.declare({
      org: { kind: "Group", args: { name: "org", description: "here" } },
      role: { kind: "Role", args: { parentUid: "${org}", name: "role", capabilities: ["CAP_REPO_LIST"] } },
      other: { kind: "Group", args: { name: "org" }, options: { import: org } },
    });
    const run = await stack.pulumi(["preview"]);
    expect(run.code).not.toBe(0);
    expect(message(run.output)).toMatch(
      /Group "other": the option import does not work for dynamic resources: remove it; .*adopt\("<uid>", .*\(PP1105\)/,
    );
    expect(run.output).not.toMatch(/toJavaScript|\n\s+at .*:\d+:\d+/);
    stack.declare({
      org: { kind: "Group", args: { name: "org", description: "here" } },
      role: { kind: "Role", args: { parentUid: "${org}", name: "role", capabilities: ["CAP_REPO_LIST"] } },
    });
  });

  test("an error of the server names the property of the program", async () => {
    stack.declare({ org: { kind: "Group", args: { name: "Not Allowed", description: "here" } } });
    const run = await stack.pulumi(["up", "--yes", "--skip-preview"]);
    expect(run.code).not.toBe(0);
    expect(message(run.output)).toMatch(
      /updating group "Not Allowed" [0-9a-f]{40} \(name\): INVALID_ARGUMENT \(HTTP 400\) name: .*\^\[a-z0-9 \._-\]\{1,\}\$/,
    );
  });

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
