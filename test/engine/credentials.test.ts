import { startEmulator } from "../../emulator";
import type { Emulator, LoggedRequest } from "../../emulator";
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

type Args = Record<string, unknown>;

/** An identity provider `name` in an organisation of its own. */
const login = (name: string, oidc: Args = { pkceEnabled: true }, more: Args = {}): Declarations => ({
  [`${name}-org`]: { kind: "Group", args: { name } },
  [`${name}-reader`]: {
    kind: "Role",
    args: { parentUid: `\${${name}-org}`, name: "reader", capabilities: ["CAP_REPO_LIST"] },
  },
  [name]: {
    kind: "IdentityProvider",
    args: {
      parentUid: `\${${name}-org}`,
      name,
      defaultRole: `\${${name}-reader}`,
      oidc: { issuer: "https://login.example.com", clientId: "platform", ...oidc },
      ...more,
    },
  },
});

/** The same with a SCIM token `<name>-scim`. */
const withToken = (name: string, args: Args = {}): Declarations => ({
  ...login(name),
  [`${name}-scim`]: { kind: "ScimToken", args: { parentUid: `\${${name}}`, ...args } },
});

const rule = (name: string): Declarations =>
  login("ruled", { pkceEnabled: true, correlationRule: `CORRELATION_RULE_${name}_EQUALS_EXTERNAL_ID` });

/** Two owners of the organisation of `switched`, as SCIM needs them. */
const owners = (owner: string): Declarations =>
  Object.fromEntries(
    ["ada", "grace"].flatMap((name): [string, Declarations[string]][] => [
      [
        name,
        {
          kind: "Identity",
          args: {
            parentUid: "${switched-org}",
            name,
            claimMatch: { issuer: "https://login.example.com", subject: name },
          },
        },
      ],
      [
        `${name}-owns`,
        {
          kind: "RoleBinding",
          args: { parentUid: "${switched-org}", identityUid: `\${${name}}`, roleUid: owner },
        },
      ],
    ]),
  );

const LATER = new Date(Date.now() + 100 * 86_400_000).toISOString();

/** One run of the CLI: what it printed and asked, and what state and server held after it. */
interface Step {
  readonly code: number;
  readonly output: string;
  readonly requests: readonly LoggedRequest[];
  readonly state: Readonly<Record<string, StateResource>>;
  readonly secrets: Readonly<Record<string, string | undefined>>;
  readonly scim: Readonly<Record<string, Record<string, unknown>>>;
}

/*
 * A run of the CLI takes seconds, so the scenarios share them: each has an organisation of its own, and each run
 * takes every scenario one step on. The tests then look at their scenario alone.
 */
describe("credentials, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  /** All that any command of this stack printed. */
  let printed = "";
  const previews: { code: number; output: string }[] = [];
  const steps: Record<string, Step> = {};

  const run = async (...args: string[]) => {
    const result = await stack.pulumi(args, { PLATFORM_LOG: "debug", PLATFORM_MAX_RETRIES: "0" });
    printed += result.output;
    return result;
  };
  const preview = async (program: Declarations, ...more: string[]): Promise<void> => {
    stack.declare(program);
    previews.push(await run("preview", ...more));
  };
  const ids: Record<string, string> = {};
  const pathOf = (name: string): string => `/iam/v2/identityProviders/${ids[name] ?? "?"}`;
  const step = async (label: string, programs: Declarations[], ...more: string[]): Promise<void> => {
    stack.declare(Object.assign({}, ...programs) as Declarations);
    emulator.clearRequests();
    const { code, output } = await run("up", "--yes", ...more);
    const requests = [...emulator.requests];
    emulator.clearFaults();
    const state = await stack.ours();
    for (const [name, { type, id }] of Object.entries(state)) {
      if (type.endsWith(":IdentityProvider") && id !== undefined) ids[name] = id;
    }
    const providers = Object.keys(ids).filter((name) => state[name]);
    const secrets = Object.fromEntries(
      providers.map((name) => [name, emulator.clientSecret(ids[name] ?? "")]),
    );
    const scim: Record<string, Record<string, unknown>> = {};
    for (const name of providers) {
      scim[name] = (await call(emulator, "GET", pathOf(name)))["scim"] as Record<string, unknown>;
    }
    steps[label] = { code, output, requests, state, secrets, scim };
  };
  const fault = (name: string, verb: string, failure: object): void => {
    const path = new RegExp(`${ids[name] ?? "identityProviders/.*"}:${verb}$`);
    emulator.addFault({ method: "POST", path, count: 1, ...failure });
  };
  const stale = { status: 409, body: { code: 10, message: "etag", details: [] } };

  const after = (label: string): Step => {
    const found = steps[label];
    if (!found) throw new Error(`no step ${label}`);
    return found;
  };
  /** The writes of a run that concern an identity provider itself. */
  const writesOf = (label: string, name: string): LoggedRequest[] =>
    after(label).requests.filter(({ method, path }) => method !== "GET" && path.startsWith(pathOf(name)));
  const posts = (label: string, name: string, verb: string): LoggedRequest[] =>
    writesOf(label, name).filter(({ path }) => path === `${pathOf(name)}:${verb}`);
  const tokenAfter = (label: string, name: string): string => {
    const { outputs, inputs } = after(label).state[`${name}-scim`] ?? {};
    expect(inputs).not.toHaveProperty("token");
    const token = secretIn(outputs?.["token"]);
    expect(token).toMatch(/^cgscim_[0-9a-f]{64}$/);
    return String(token);
  };
  const succeeded = (label: string): void => {
    const { code, output } = after(label);
    expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" });
  };

  beforeAll(async () => {
    emulator = await startEmulator();
    stack = await new Stack(emulator).init();
    const roles = await call(emulator, "GET", "/iam/v2/roles?name=owner");
    const owner = (roles["roles"] as { uid: string }[]).find(({ uid }) => !uid.includes("/"))?.uid ?? "";
    const switched = (scimEnabled: boolean | undefined): Declarations => ({
      ...login("switched", { pkceEnabled: true }, { scimEnabled }),
      ...owners(owner),
    });

    const misplaced = login("kept", { clientSceret: FIRST });
    Object.assign(misplaced["kept"]?.args ?? {}, { clientSecret: SECOND });
    await preview(misplaced);
    for (const oidc of [[FIRST], FIRST]) {
      const wrong = login("kept");
      Object.assign(wrong["kept"]?.args ?? {}, { oidc });
      await preview(wrong);
    }

    fault("any", "generateScimToken", { close: "before" });
    await step(
      "made",
      [
        login("kept", { clientSecret: FIRST }),
        login("ruled"),
        // Without two owners.
        login("switched", { pkceEnabled: true }, { scimEnabled: true }),
        withToken("rotated", { rotate: "one", overlap: "30m" }),
        withToken("refused"),
        withToken("turned"),
        login("lost"),
        login("foreign"),
      ],
      "--skip-preview",
      "--continue-on-error",
    );

    fault("refused", "regenerateScimToken", stale);
    fault("turned", "regenerateScimToken", { close: "after" });
    fault("lost", "generateScimToken", { close: "after" });
    emulator.addFault({
      method: "POST",
      path: /identityProviders\/[0-9a-f]{40}$/,
      status: 400,
      body: { code: 3, message: "no", details: [] },
      count: 1,
    });
    await call(emulator, "POST", `${pathOf("foreign")}:generateScimToken`, {});
    await step(
      "failed",
      [
        login("kept", { clientSecret: FIRST }),
        rule("SUB"),
        switched(undefined),
        withToken("rotated", { rotate: "one", overlap: "1800s" }),
        withToken("refused", { rotate: "now" }),
        withToken("turned", { rotate: "now" }),
        withToken("lost"),
        withToken("foreign"),
        login("unmade", { clientSecret: SECOND }),
      ],
      "--skip-preview",
      "--continue-on-error",
    );

    fault("switched", "setScimEnabled", stale);
    await call(emulator, "POST", `${pathOf("foreign")}:revokeScimToken`, {});
    const third = [
      login("kept", { clientSecret: FIRST, groupsClaim: "groups" }),
      rule("OID"),
      switched(true),
      withToken("rotated", { rotate: "one", overlap: "0s" }),
      withToken("refused", { rotate: "now" }),
      withToken("turned", { rotate: "now" }),
      withToken("lost"),
      withToken("foreign"),
    ];
    await step("mended", third, "--diff");
    await step("unchanged", third, "--skip-preview", "--refresh", "--expect-no-changes");

    const { etag } = after("unchanged").scim["switched"] ?? {};
    await call(emulator, "POST", `${pathOf("switched")}:setScimEnabled`, { enabled: false, etag });
    await call(emulator, "POST", `${pathOf("foreign")}:revokeScimToken`, {});
    await preview(Object.assign({}, ...third) as Declarations, "--refresh", "--diff", "--expect-no-changes");
    const fourth = [
      login("kept", { clientSecret: SECOND, groupsClaim: "groups" }),
      rule("OID"),
      switched(true),
      withToken("rotated", { rotate: "two", overlap: "30m" }),
      withToken("refused", { rotate: "now", expireTime: LATER }),
      withToken("turned", { rotate: "now", neverExpires: true, overlap: "0s" }),
      withToken("lost"),
      withToken("foreign"),
    ];
    await step("changed", fourth, "--skip-preview", "--refresh", "--diff");
    await step("changed, again", fourth, "--skip-preview", "--refresh", "--expect-no-changes");

    const fifth = [
      login("kept", { groupsClaim: "groups", pkceEnabled: true }),
      rule("OID"),
      switched(undefined),
      withToken("rotated", { rotate: "two", overlap: "30m" }),
      withToken("refused", { rotate: "now", expireTime: LATER }),
      withToken("turned"),
      withToken("lost"),
      withToken("foreign"),
    ];
    await step("cleared", fifth, "--skip-preview");
    await step("cleared, again", fifth, "--skip-preview", "--refresh", "--expect-no-changes");
    // Revoked already: the delete at the end is done.
    await call(emulator, "POST", `${pathOf("foreign")}:revokeScimToken`, {});
    printed += (await stack.succeed(["destroy", "--yes", "--skip-preview"])).output;
  });

  afterAll(async () => {
    stack.dispose();
    await emulator.close();
  });

  test("a client secret is stored encrypted, sent when it changes, and cleared when it is removed", () => {
    const secretsIn = (label: string) => {
      const { inputs, outputs } = after(label).state["kept"] ?? {};
      return [clientSecretOf(inputs), clientSecretOf(outputs)];
    };
    const patches = (label: string) => writesOf(label, "kept").filter(({ method }) => method === "PATCH");
    expect(secretsIn("made")).toEqual([FIRST, FIRST]);
    expect(after("made").secrets["kept"]).toBe(FIRST);
    expect(writesOf("failed", "kept")).toEqual([]);

    // Whatever else changes, the secret is left alone.
    expect(patches("mended").map(({ updateMask, body }) => ({ updateMask, body }))).toEqual([
      { updateMask: ["oidc.groupsClaim"], body: { oidc: { groupsClaim: "groups" } } },
    ]);
    expect(after("mended").secrets["kept"]).toBe(FIRST);
    // A refresh does not lose it either.
    expect(secretsIn("unchanged")).toEqual([FIRST, FIRST]);

    expect(patches("changed").map(({ updateMask }) => updateMask)).toEqual([["oidc.client_secret"]]);
    expect(after("changed").secrets["kept"]).toBe(SECOND);
    expect(secretsIn("changed")).toEqual([SECOND, SECOND]);

    expect(patches("cleared").map(({ updateMask }) => [...(updateMask ?? [])].sort())).toEqual([
      ["oidc.client_secret", "oidc.pkce_enabled"],
    ]);
    expect(after("cleared").secrets["kept"]).toBeUndefined();
  });

  test("a repeated run changes nothing, also after a refresh", () => {
    for (const label of ["unchanged", "changed, again", "cleared, again"]) {
      succeeded(label);
      expect(after(label).requests.filter(({ method }) => method !== "GET")).toEqual([]);
    }
  });

  test("a check that fails prints no secret, wherever it was put", () => {
    const [misplaced, ...wrong] = previews;
    expect(misplaced?.code).not.toBe(0);
    expect(misplaced?.output).toContain("clientSecret is not an argument");
    expect(misplaced?.output).toContain('is not an argument; did you mean "clientSecret"?');
    expect(misplaced?.output).toContain("is missing: give clientSecret, pkceEnabled or both");
    for (const { output } of wrong.slice(0, 2)) expect(output).toContain("oidc is missing: give an object");
  });

  test("an error of the server prints no secret", () => {
    const { code, output } = after("failed");
    expect(code).not.toBe(0);
    expect(output).toContain('creating identity provider "unmade"');
    expect(output).toContain("INVALID_ARGUMENT");
  });

  test("the default correlation rule can be written out, and another rule replaces the provider", () => {
    expect(writesOf("failed", "ruled")).toEqual([]);
    succeeded("mended");
    // And the token of a lost response.
    expect(after("mended").output).toMatch(/2 to replace/);
    expect(after("mended").state["ruled"]?.id).not.toBe(after("failed").state["ruled"]?.id);
  });

  test("SCIM is switched on with a fresh etag, and again if the etag is stale", () => {
    // Without two owners the provider is made, and SCIM stays off until a later run.
    for (const words of ["scimEnabled failed", "FAILED_PRECONDITION"]) {
      expect(after("made").output).toContain(words);
    }
    expect(after("made").scim["switched"]?.["enabled"]).toBe(false);
    expect(posts("mended", "switched", "setScimEnabled")).toHaveLength(2);
    expect(after("mended").scim["switched"]?.["enabled"]).toBe(true);
    // Switched off by hand.
    expect(previews.at(-1)?.output).toContain("scimEnabled: true");
    expect(after("changed").scim["switched"]?.["enabled"]).toBe(true);
    expect(after("cleared").scim["switched"]?.["enabled"]).toBe(false);
  });

  test("a SCIM token is a secret output, kept on refresh, rotated by each trigger", () => {
    const { id, outputs } = after("made").state["rotated-scim"] ?? {};
    expect(id).toBe(after("made").state["rotated"]?.id);
    expect(outputs).toMatchObject({
      endpointUrl: expect.stringContaining("/scim/") as unknown,
      tokenExpireTime: expect.stringMatching(/^\d{4}-/) as unknown,
    });
    // Another spelling is no change; another overlap alone rotates nothing.
    expect(posts("failed", "rotated", "regenerateScimToken")).toEqual([]);
    expect(posts("mended", "rotated", "regenerateScimToken")).toEqual([]);
    for (const label of ["failed", "mended", "unchanged"]) {
      expect(tokenAfter(label, "rotated")).toBe(tokenAfter("made", "rotated"));
    }
    for (const [label, before, name, body] of [
      ["changed", "unchanged", "rotated", { overlap: "1800s" }],
      ["changed", "unchanged", "refused", { expireTime: LATER }],
      ["changed", "unchanged", "turned", { neverExpires: true, overlap: "0s" }],
      ["cleared", "changed", "turned", {}],
    ] as const) {
      succeeded(label);
      expect(posts(label, name, "regenerateScimToken").map((one) => one.body)).toEqual([
        { ...body, etag: expect.any(String) as unknown },
      ]);
      expect(tokenAfter(label, name)).not.toBe(tokenAfter(before, name));
      expect(after(label).state[`${name}-scim`]?.outputs?.["tokenExpireTime"] === undefined).toBe(
        "neverExpires" in body,
      );
    }
  });

  test("a rotation with a stale etag is tried once more, with a fresh one", () => {
    expect(posts("failed", "refused", "regenerateScimToken")).toHaveLength(2);
    expect(tokenAfter("failed", "refused")).not.toBe(tokenAfter("made", "refused"));
  });

  test("a token whose response was lost is never created twice: the next run revokes it, and creates another", () => {
    expect(after("failed").output).toContain("but the response with its token was lost");
    expect(after("failed").output).toContain("run again to replace it");
    expect(posts("failed", "lost", "generateScimToken")).toHaveLength(1);
    expect(after("failed").state["lost-scim"]?.outputs).not.toHaveProperty("token");
    expect(posts("mended", "lost", "revokeScimToken")).toHaveLength(1);
    expect(posts("mended", "lost", "generateScimToken")).toHaveLength(1);
    expect(posts("mended", "lost", "regenerateScimToken")).toEqual([]);
    tokenAfter("mended", "lost");
  });

  test("a create of a token whose request was lost is sent again", () => {
    const asked = ["rotated", "refused", "turned"].flatMap((name) =>
      posts("made", name, "generateScimToken"),
    );
    expect(asked).toHaveLength(4);
    for (const name of ["rotated", "refused", "turned"]) tokenAfter("made", name);
  });

  test("a rotation whose response was lost says so, and the next run rotates once more", () => {
    expect(after("failed").output).toContain("it was rotated, but the response was lost");
    expect(posts("failed", "turned", "regenerateScimToken")).toHaveLength(1);
    expect(tokenAfter("failed", "turned")).toBe(tokenAfter("made", "turned"));
    expect(posts("mended", "turned", "regenerateScimToken")).toHaveLength(1);
    expect(tokenAfter("mended", "turned")).not.toBe(tokenAfter("made", "turned"));
  });

  test("does not adopt a token created elsewhere, and replaces a revoked one", () => {
    expect(after("failed").output).toContain("already has a token");
    expect(after("failed").output).toContain(`POST ${pathOf("foreign")}:revokeScimToken`);
    expect(previews.at(-1)?.code).not.toBe(0);
    expect(tokenAfter("changed", "foreign")).not.toBe(tokenAfter("mended", "foreign"));
  });

  test("no secret is in any output, state, history or file of the CLI, and destroy leaves nothing", () => {
    expect(printed).toContain("platform: ");
    const tokens = Object.values(steps).flatMap(({ state }) =>
      Object.values(state).flatMap(({ outputs }) => {
        const token = secretIn(outputs?.["token"]);
        return typeof token === "string" ? [token] : [];
      }),
    );
    expect(new Set(tokens).size).toBeGreaterThan(8);
    const bytes = stack.everyByte();
    for (const canary of [FIRST, SECOND, ...new Set(tokens)]) {
      expect(printed).not.toContain(canary);
      expect(bytes).not.toContain(canary);
    }
    expect(Object.values(emulator.state()).flat()).toEqual([]);
  });
});
