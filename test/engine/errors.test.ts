import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import type * as dynamic from "../../provider/dynamic";
import type { Props } from "../../provider/fields/values";
import { HandlerStack } from "../provider/support/handlerStack";
import { errorOf } from "../provider/support/server";
import { Stack } from "../support/engine";
import { call } from "../support/wire";

/** A port where nothing listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

type Settings = Readonly<Record<string, string | undefined>>;

const quick: Settings = { PLATFORM_MAX_RETRIES: "0" };

/** The error of a create where the provider's process has these settings; its code is loaded as by a new process. */
async function errorOfCreate(settings: Settings): Promise<Error> {
  const before = process.env;
  const others = Object.entries(before).filter(([name]) => !name.startsWith("PLATFORM_"));
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  process.env = Object.fromEntries([...others, ...given]);
  try {
    let error: Promise<Error> | undefined;
    jest.isolateModules(() => {
      // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded anew each time
      const { Group } = require("../../provider/dynamic") as typeof dynamic;
      if (Group !== undefined) error = errorOf(Group.create({ name: "org" }));
    });
    if (error === undefined) throw new Error("the provider was not loaded");
    return await error;
  } finally {
    process.env = before;
  }
}

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
      says: /UNAUTHENTICATED \(HTTP 401\).*set a new one with PLATFORM_TOKEN/,
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

  test("a create whose response was lost looks for its object: no second copy", async () => {
    emulator.addFault({ method: "POST", path: "/iam/v2/roles", close: "after", count: 1 });
    const role = stack.ids()["role"] ?? "";
    await call(emulator, "DELETE", `/iam/v2/roles/${role}`);
    emulator.clearRequests();
    await stack.up("--refresh");
    expect(emulator.requests.filter(({ method }) => method === "POST")).toHaveLength(1);
    const roles = emulator.state()["roles"] ?? [];
    expect(roles.map(({ uid }) => uid)).toEqual([stack.ids()["role"]]);
  });

  test("a create that never arrived is sent again", async () => {
    emulator.addFault({ method: "POST", path: "/iam/v2/roles", close: "before", count: 1 });
    await call(emulator, "DELETE", `/iam/v2/roles/${stack.ids()["role"] ?? ""}`);
    await stack.up("--refresh");
    expect(emulator.state()["roles"]?.map(({ uid }) => uid)).toEqual([stack.ids()["role"]]);
  });

  test("a create below a new group waits until the group accepts it", async () => {
    emulator.settings({ newGroupRefusalMs: 1500 });
    const fresh = await new Stack(emulator).init();
    fresh.declare({
      org: { kind: "Group", args: { name: "fresh" } },
      team: { kind: "Group", args: { parentUid: "${org}", name: "team" } },
    });
    await fresh.up();
    expect(emulator.requests.some(({ status }) => status === 403)).toBe(true);
    emulator.settings({ newGroupRefusalMs: 0 });
    fresh.dispose();
  });
});

describe("settings, through the real engine", () => {
  let stack: Stack;
  const token = "not-a-real-token";

  beforeAll(async () => {
    stack = await new Stack({ url: "http://127.0.0.1:1", token }).init();
    stack.declare({ org: { kind: "Group", args: { name: "org" } } });
  });

  afterAll(() => stack.dispose());

  const mistakes: readonly (readonly [
    title: string,
    env: () => Settings | Promise<Settings>,
    says: string,
  ])[] = [
    [
      "nothing listens at the address",
      async () => ({ PLATFORM_BASE_URL: `http://127.0.0.1:${await freePort()}` }),
      "connection refused (ECONNREFUSED); check PLATFORM_BASE_URL",
    ],
    [
      "the token is missing",
      () => ({ PLATFORM_TOKEN: undefined }),
      "the access token is missing: set PLATFORM_TOKEN (or PLATFORM_TOKEN_FILE), or PLATFORM_IDENTITY to exchange an OIDC token, or run `pulumi config set --secret platform:token …`",
    ],
    [
      "the address is missing",
      () => ({ PLATFORM_BASE_URL: undefined }),
      "the address of the API is missing: set PLATFORM_BASE_URL, or run `pulumi config set platform:baseUrl https://…`",
    ],
    [
      "the address is no URL",
      () => ({ PLATFORM_BASE_URL: "api.example.com" }),
      'PLATFORM_BASE_URL must be an address as in "https://api.example.com", not "api.example.com": it is not an absolute URL',
    ],
    [
      "the address is plain http",
      () => ({ PLATFORM_BASE_URL: "http://api.example.com" }),
      "plain http would show the token to the network; write https, or run `pulumi config set platform:allowInsecure true` if you mean it (no variable allows it, and commands read it with --stack)",
    ],
    [
      "two tokens are given",
      () => ({ PLATFORM_TOKEN_FILE: "/tmp/token" }),
      "PLATFORM_TOKEN conflicts with PLATFORM_TOKEN_FILE; set only one of them",
    ],
    [
      "the token's file is missing",
      () => ({ PLATFORM_TOKEN: undefined, PLATFORM_TOKEN_FILE: "/does/not/exist" }),
      "PLATFORM_TOKEN_FILE names a file that cannot be read (ENOENT): /does/not/exist",
    ],
    [
      "a number is none",
      () => ({ PLATFORM_MAX_RETRIES: "many" }),
      'PLATFORM_MAX_RETRIES must be a whole number from 0 to 20, not "many"',
    ],
  ];
  const ofTheEngine = ["nothing listens at the address", "the token is missing"];

  test.each(mistakes.filter(([title]) => ofTheEngine.includes(title)))(
    "one clear error of a run where %s",
    async (_title, env, says) => {
      const run = await stack.pulumi(["up", "--yes", "--skip-preview"], { ...quick, ...(await env()) });
      expect(run.code).not.toBe(0);
      expect(run.output).toContain(says);
      expect(run.output).not.toMatch(/\n\s+at .*:\d+:\d+/);
      expect(run.output).not.toContain(token);
    },
  );

  test.each(mistakes)("one clear error of the provider's process where %s", async (_title, env, says) => {
    const given = { PLATFORM_BASE_URL: "http://127.0.0.1:1", PLATFORM_TOKEN: token, ...quick };
    const error = await errorOfCreate({ ...given, ...(await env()) });
    expect(error.message).toContain(says);
    expect(error.message).not.toContain(token);
    expect(error.stack).toBe("");
  });

  test("one clear error where stack configuration is wrong", async () => {
    const configured = await new Stack({
      url: "http://127.0.0.1:1",
      token,
      env: { PLATFORM_BASE_URL: undefined },
    }).init({
      "platform:baseUrl": "ftp://example.com",
      "platform:timeout": "soon",
    });
    configured.declare({ org: { kind: "Group", args: { name: "org" } } });
    const run = await configured.pulumi(["up", "--yes", "--skip-preview"]);
    expect(run.output).toContain('platform:baseUrl must be an address as in "https://api.example.com"');
    expect(run.output).toContain("it is neither https nor http");
    configured.dispose();
  });

  test("every failure of a check shows at once, each with its line and its property", async () => {
    stack.declare({
      who: {
        kind: "Identity",
        args: {
          parentUid: "not a uid",
          name: "UPPER",
          claimMatch: { issuerPattern: "(?=x)", subject: "a", subjectPattern: "a" },
        },
      },
    });
    const run = await stack.pulumi(["preview"]);
    expect(run.code).not.toBe(0);
    const problems = [
      "parentUid must",
      "name must",
      "claimMatch.issuerPattern must",
      "claimMatch.subjectPattern conflicts",
    ];
    for (const problem of problems) expect(run.output).toMatch(new RegExp(`index\\.js:\\d+: .*${problem}`));
    expect(run.output).not.toContain("<nil>");
    expect(run.output).not.toMatch(/\n\s+at .*:\d+:\d+/);
  });
});
