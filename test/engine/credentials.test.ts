import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import type { Declarations, StateResource } from "../support/engine";
import { call } from "../support/wire";

/** Found nowhere in clear text: whoever shows one, leaked it. */
const FIRST = "canary-client-secret-1-8d2f6b";
const SECOND = "canary-client-secret-2-70ae91";

const SECRET_SIGNATURE = "4dabf18193072939515e22adb298388d";

/** The value of a secret in a state that was exported with its secrets; undefined for whatever is no secret. */
function secretIn(value: unknown): unknown {
  const members = (value ?? {}) as Record<string, unknown>;
  return SECRET_SIGNATURE in members && typeof members["plaintext"] === "string"
    ? (JSON.parse(members["plaintext"]) as unknown)
    : undefined;
}

const clientSecretOf = (properties: Record<string, unknown> | undefined): unknown =>
  secretIn(((properties?.["oidc"] ?? {}) as Record<string, unknown>)["clientSecret"]);

const login = (oidc: Record<string, unknown>, more: Record<string, unknown> = {}): Declarations => ({
  org: { kind: "Group", args: { name: "org" } },
  reader: {
    kind: "Role",
    args: {
      parentUid: "${org}",
      name: "reader",
      capabilities: ["CAP_REPO_LIST"],
    },
  },
  login: {
    kind: "IdentityProvider",
    args: {
      parentUid: "${org}",
      name: "login",
      defaultRole: "${reader}",
      oidc: {
        issuer: "https://login.example.com",
        clientId: "platform",
        ...oidc,
      },
      ...more,
    },
  },
});

const withToken = (args: Record<string, unknown> = {}): Declarations => ({
  ...login({ pkceEnabled: true }),
  scim: { kind: "ScimToken", args: { parentUid: "${login}", ...args } },
});

describe("credentials, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  /** All that any command of this stack printed. */
  let printed: string;

  const run = async (...args: string[]) => {
    const result = await stack.pulumi(args, {
      PLATFORM_LOG: "debug",
      PLATFORM_MAX_RETRIES: "0",
    });
    printed += result.output;
    return result;
  };
  const up = async (program: Declarations, ...more: string[]): Promise<void> => {
    stack.declare(program);
    const { code, output } = await run("up", "--yes", ...more);
    expect({ code, output: code === 0 ? "" : output }).toEqual({
      code: 0,
      output: "",
    });
  };
  const failsWith = async (program: Declarations, ...words: string[]): Promise<void> => {
    stack.declare(program);
    const { code, output } = await run("up", "--yes", "--skip-preview");
    expect(code).not.toBe(0);
    for (const word of words) expect(output).toContain(word);
  };
  const held = async (name: string): Promise<StateResource> => {
    const found = (await stack.ours())[name];
    if (!found) throw new Error(`no ${name} in the state`);
    return found;
  };
  const tokenInState = async (): Promise<string> => {
    const { outputs, inputs } = await held("scim");
    expect(inputs).not.toHaveProperty("token");
    const token = secretIn(outputs?.["token"]);
    expect(token).toMatch(/^cgscim_[0-9a-f]{64}$/);
    return String(token);
  };
  const scimAtServer = async () => {
    const provider = await call(emulator, "GET", `/iam/v2/identityProviders/${(await held("login")).id}`);
    return provider["scim"] as Record<string, unknown>;
  };
  const posts = (verb: string) =>
    emulator.requests.filter(({ method, path }) => method === "POST" && path.endsWith(`:${verb}`));

  beforeAll(async () => {
    emulator = await startEmulator();
  });
  beforeEach(async () => {
    printed = "";
    emulator.clearFaults();
    stack = await new Stack(emulator).init();
  });
  afterEach(async () => {
    emulator.clearFaults();
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
    stack.dispose();
  });
  afterAll(() => emulator.close());

  const nothingLeaked = (...canaries: string[]) => {
    expect(printed).toContain("platform: ");
    for (const canary of canaries) {
      expect(printed).not.toContain(canary);
      expect(stack.everyByte()).not.toContain(canary);
    }
  };

  test("a client secret is kept encrypted, sent when it changes, and wiped when it is taken away", async () => {
    await up(login({ clientSecret: FIRST }));
    const { id = "", inputs, outputs } = await held("login");
    expect([clientSecretOf(inputs), clientSecretOf(outputs)]).toEqual([FIRST, FIRST]);
    expect(emulator.clientSecret(id)).toBe(FIRST);

    await up(login({ clientSecret: FIRST }), "--expect-no-changes");
    const refreshed = await run("refresh", "--yes", "--expect-no-changes");
    expect(refreshed.code).toBe(0);
    const after = await held("login");
    expect([clientSecretOf(after.inputs), clientSecretOf(after.outputs)]).toEqual([FIRST, FIRST]);

    // Whatever else changes, the secret is left alone.
    emulator.clearRequests();
    await up(login({ clientSecret: FIRST, groupsClaim: "groups" }));
    const patches = () => emulator.requests.filter(({ method }) => method === "PATCH");
    expect(patches().map(({ updateMask, body }) => ({ updateMask, body }))).toEqual([
      {
        updateMask: ["oidc.groupsClaim"],
        body: { oidc: { groupsClaim: "groups" } },
      },
    ]);
    expect(emulator.clientSecret(id)).toBe(FIRST);

    emulator.clearRequests();
    await up(login({ clientSecret: SECOND, groupsClaim: "groups" }), "--diff");
    expect(patches().map(({ updateMask }) => updateMask)).toEqual([["oidc.clientSecret"]]);
    expect(emulator.clientSecret(id)).toBe(SECOND);
    expect(clientSecretOf((await held("login")).outputs)).toBe(SECOND);

    emulator.clearRequests();
    await up(login({ groupsClaim: "groups", pkceEnabled: true }));
    expect(patches().map(({ updateMask }) => [...(updateMask ?? [])].sort())).toEqual([
      ["oidc.clientSecret", "oidc.pkceEnabled"],
    ]);
    expect(emulator.clientSecret(id)).toBeUndefined();
    nothingLeaked(FIRST, SECOND);
  }, 180_000);

  test("a check that fails prints no secret, wherever it was put", async () => {
    const misplaced = login({ clientSceret: FIRST });
    misplaced["login"] = {
      kind: "IdentityProvider",
      args: { ...misplaced["login"]?.args, clientSecret: SECOND },
    };
    stack.declare(misplaced);
    const { code, output } = await run("preview");
    expect(code).not.toBe(0);
    expect(output).toContain("clientSecret is not an argument");
    expect(output).toContain('is not an argument; did you mean "clientSecret"?');
    expect(output).toContain("is missing: give clientSecret, pkceEnabled or both");
    for (const oidc of [[FIRST], FIRST]) {
      const wrong = login({});
      wrong["login"] = {
        kind: "IdentityProvider",
        args: { ...wrong["login"]?.args, oidc },
      };
      stack.declare(wrong);
      expect((await run("preview")).output).toContain("oidc is missing: give an object");
    }
    for (const canary of [FIRST, SECOND]) expect(printed).not.toContain(canary);
  }, 120_000);

  test("an error of the server prints no secret", async () => {
    emulator.addFault({
      method: "POST",
      path: "/iam/v2/identityProviders",
      status: 400,
      body: { code: 3, message: "no", details: [] },
    });
    await failsWith(login({ clientSecret: FIRST }), 'creating identity provider "login"', "INVALID_ARGUMENT");
    nothingLeaked(FIRST);
  }, 120_000);

  test("the default correlation rule may be restated, another one replaces", async () => {
    await up(login({ pkceEnabled: true }));
    const rule = (name: string) =>
      login({
        pkceEnabled: true,
        correlationRule: `CORRELATION_RULE_${name}_EQUALS_EXTERNAL_ID`,
      });
    await up(rule("SUB"), "--expect-no-changes");
    stack.declare(rule("OID"));
    const preview = await run("preview", "--diff");
    expect(preview.output).toMatch(/1 to replace/);
    await run("up", "--yes", "--skip-preview");
    expect((await run("preview", "--refresh", "--expect-no-changes")).code).toBe(0);
  }, 120_000);

  test("SCIM is switched with the etag read just before, once more where that is stale", async () => {
    const owners = (scimEnabled: boolean | undefined): Declarations => {
      const program = login({ pkceEnabled: true }, { scimEnabled });
      const { login: provider, ...rest } = program;
      const people = ["ada", "grace"].flatMap((name): [string, Declarations[string]][] => [
        [
          name,
          {
            kind: "Identity",
            args: {
              parentUid: "${org}",
              name,
              claimMatch: {
                issuer: "https://login.example.com",
                subject: name,
              },
            },
          },
        ],
        [
          `${name}-owns`,
          {
            kind: "RoleBinding",
            args: {
              parentUid: "${org}",
              identityUid: `\${${name}}`,
              roleUid: "OWNER",
            },
          },
        ],
      ]);
      return {
        ...rest,
        ...Object.fromEntries(people),
        ...(provider && { login: provider }),
      };
    };
    const roles = await call(emulator, "GET", "/iam/v2/roles?name=owner");
    const owner = (roles["roles"] as { uid: string }[]).find(({ uid }) => !uid.includes("/"))?.uid ?? "";
    const program = (scimEnabled: boolean | undefined, isFirst = false): Declarations =>
      JSON.parse(
        JSON.stringify(
          isFirst ? login({ pkceEnabled: true }, { scimEnabled }) : owners(scimEnabled),
        ).replaceAll("OWNER", owner),
      ) as Declarations;

    // Without two owners the provider is made, and SCIM stays off until the next run.
    await failsWith(
      program(true, true),
      "was created as",
      "writing scimEnabled failed",
      "FAILED_PRECONDITION",
    );
    expect((await scimAtServer())["enabled"]).toBe(false);
    await up(program(undefined));
    emulator.clearRequests();
    emulator.addFault({
      method: "POST",
      path: /:setScimEnabled$/,
      status: 409,
      body: { code: 10, message: "etag", details: [] },
      count: 1,
    });
    await up(program(true));
    expect(posts("setScimEnabled")).toHaveLength(2);
    expect((await scimAtServer())["enabled"]).toBe(true);
    await up(program(true), "--refresh", "--expect-no-changes");

    const { etag } = await scimAtServer();
    const { id = "" } = await held("login");
    await call(emulator, "POST", `/iam/v2/identityProviders/${id}:setScimEnabled`, { enabled: false, etag });
    expect((await run("preview", "--refresh", "--diff")).output).toContain("scimEnabled: true");
    await up(program(true), "--refresh");
    expect((await scimAtServer())["enabled"]).toBe(true);
    await up(program(undefined));
    expect((await scimAtServer())["enabled"]).toBe(false);
  }, 240_000);

  test("a SCIM token is a secret output, kept on refresh, rotated by each trigger", async () => {
    await up(withToken({ rotate: "one", overlap: "30m" }));
    const tokens = [await tokenInState()];
    const { id, outputs } = await held("scim");
    expect(id).toBe((await held("login")).id);
    expect(outputs).toMatchObject({
      endpointUrl: expect.stringContaining("/scim/") as unknown,
      tokenExpireTime: expect.stringMatching(/^\d{4}-/) as unknown,
    });
    await up(withToken({ rotate: "one", overlap: "1800s" }), "--expect-no-changes");
    expect((await run("refresh", "--yes", "--expect-no-changes")).code).toBe(0);
    expect(await tokenInState()).toBe(tokens[0]);

    emulator.clearRequests();
    await up(withToken({ rotate: "one", overlap: "0s" }));
    expect(posts("regenerateScimToken")).toHaveLength(0);
    expect(await tokenInState()).toBe(tokens[0]);

    const later = new Date(Date.now() + 100 * 86_400_000).toISOString();
    for (const [args, body] of [
      [{ rotate: "two", overlap: "30m" }, { overlap: "1800s" }],
      [{ rotate: "two", expireTime: later }, { expireTime: later }],
      [
        { rotate: "two", neverExpires: true, overlap: "0s" },
        { neverExpires: true, overlap: "0s" },
      ],
      [{}, {}],
    ] as const) {
      emulator.clearRequests();
      await up(withToken(args), "--diff");
      expect(posts("regenerateScimToken").map((one) => one.body)).toEqual([
        { ...body, etag: expect.any(String) as unknown },
      ]);
      const token = await tokenInState();
      expect(tokens).not.toContain(token);
      tokens.push(token);
      expect((await held("scim")).outputs?.["tokenExpireTime"] === undefined).toBe("neverExpires" in args);
      await up(withToken(args), "--refresh", "--expect-no-changes");
    }
    nothingLeaked(...tokens);
  }, 300_000);

  test("a rotation with a stale etag is tried once more, with a fresh one", async () => {
    await up(withToken());
    const before = await tokenInState();
    emulator.addFault({
      method: "POST",
      path: /:regenerateScimToken$/,
      status: 409,
      body: { code: 10, message: "etag", details: [] },
      count: 1,
    });
    await up(withToken({ rotate: "now" }));
    expect(await tokenInState()).not.toBe(before);
  }, 120_000);

  test("a token whose answer was lost is never made twice: the next run rotates it", async () => {
    await up(login({ pkceEnabled: true }));
    emulator.addFault({
      method: "POST",
      path: /:generateScimToken$/,
      close: "after",
      count: 1,
    });
    emulator.clearRequests();
    await failsWith(withToken(), "it was made, but the answer was lost", "run again to rotate it");
    expect(posts("generateScimToken")).toHaveLength(1);
    expect((await held("scim")).outputs).not.toHaveProperty("token");
    await up(withToken());
    expect([posts("generateScimToken").length, posts("regenerateScimToken").length]).toEqual([1, 1]);
    await tokenInState();
    await up(withToken(), "--refresh", "--expect-no-changes");
  }, 120_000);

  test("a token that was never made, its request being lost, is asked for again", async () => {
    emulator.addFault({
      method: "POST",
      path: /:generateScimToken$/,
      close: "before",
      count: 1,
    });
    await up(withToken());
    await tokenInState();
  }, 120_000);

  test("a rotation whose answer was lost says so, and the next run rotates once more", async () => {
    await up(withToken());
    const before = await tokenInState();
    emulator.addFault({
      method: "POST",
      path: /:regenerateScimToken$/,
      close: "after",
      count: 1,
    });
    emulator.clearRequests();
    await failsWith(withToken({ rotate: "now" }), "it was rotated, but the answer was lost");
    expect(posts("regenerateScimToken")).toHaveLength(1);
    expect(await tokenInState()).toBe(before);
    await up(withToken({ rotate: "now" }));
    expect(posts("regenerateScimToken")).toHaveLength(2);
    expect(await tokenInState()).not.toBe(before);
    nothingLeaked(before, await tokenInState());
  }, 120_000);

  test("a token made elsewhere is not taken over, a revoked one is made again", async () => {
    await up(login({ pkceEnabled: true }));
    const path = `/iam/v2/identityProviders/${(await held("login")).id}`;
    await call(emulator, "POST", `${path}:generateScimToken`, {});
    await failsWith(withToken(), "has a token already", `POST ${path}:revokeScimToken`);
    await call(emulator, "POST", `${path}:revokeScimToken`, {});
    await up(withToken());
    const before = await tokenInState();
    await call(emulator, "POST", `${path}:revokeScimToken`, {});
    expect((await run("preview", "--refresh", "--expect-no-changes")).code).not.toBe(0);
    await up(withToken(), "--refresh");
    expect(await tokenInState()).not.toBe(before);
    // Revoked already: the delete at the end is done.
    await call(emulator, "POST", `${path}:revokeScimToken`, {});
  }, 180_000);
});
