import { settingDefinitions } from "../../../provider/settings/definitions";
import type { SettingDefinition } from "../../../provider/settings/definitions";
import { listMisspeltSettings } from "../../../provider/settings/environment";
import { findWrongSetting, readSettings } from "../../../provider/settings/settings";
import type { ErrorCode } from "../../../provider/errors/registry";
import type { Settings } from "../../../provider/settings/settings";

const CANARY = "canary-token-1618033988";

function read(stack: Record<string, string> = {}, env: Record<string, string | undefined> = {}): Settings {
  return readSettings({ stack: (key) => stack[key], env });
}

const stackOf = (more: Record<string, string> = {}): Record<string, string> => ({
  baseUrl: "https://api.example.com",
  token: "t",
  ...more,
});

function messageOf(action: () => unknown, errorCode?: ErrorCode): string {
  try {
    action();
  } catch (error) {
    expect(error).toMatchObject({ name: "ConfigError", ...(errorCode && { errorCode }) });
    return error instanceof Error ? error.message : "";
  }
  throw new Error("expected an error");
}

describe("settings", () => {
  test("have defaults for all but the address and the token", () => {
    expect(read(stackOf())).toEqual({
      baseUrl: "https://api.example.com",
      baseUrlSetting: "platform:baseUrl",
      timeoutMs: 60_000,
      maxRetries: 5,
      maxConcurrency: 8,
      batching: true,
      credentials: { kind: "token", token: "t", setting: "platform:token" },
      debug: false,
    });
  });

  test.each([
    [
      "baseUrl",
      "PLATFORM_BASE_URL",
      "https://a.example.com",
      "https://b.example.com",
      "baseUrl",
      "https://a.example.com",
    ],
    ["timeout", "PLATFORM_TIMEOUT", "1s", "2s", "timeoutMs", 1000],
    ["maxRetries", "PLATFORM_MAX_RETRIES", " 1 ", "2", "maxRetries", 1],
    ["maxConcurrency", "PLATFORM_MAX_CONCURRENCY", "1", "2", "maxConcurrency", 1],
    ["batching", "PLATFORM_BATCHING", "false", "true", "batching", false],
  ])(
    "%s of the stack has priority over %s; an empty one counts as absent",
    (key, variable, inStack, inEnv, name, value) => {
      expect(read(stackOf({ [key]: inStack }), { [variable]: inEnv })).toHaveProperty(name, value);
      const fromEnv = read(stackOf({ [key]: "" }), { [variable]: inStack });
      expect(fromEnv).toHaveProperty(name, value);
      const { baseUrlSetting } = fromEnv;
      expect(baseUrlSetting).toBe(key === "baseUrl" ? variable : "platform:baseUrl");
    },
  );
});

describe("the address", () => {
  test.each([
    ["https://api.example.com/", "https://api.example.com"],
    ["https://API.example.com:443/a/b//", "https://api.example.com/a/b"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["http://127.9.9.9", "http://127.9.9.9"],
    ["http://[::1]:8080/", "http://[::1]:8080"],
    ["http://localhost", "http://localhost"],
  ])("%s is taken as %s", (given, taken) => {
    expect(read(stackOf({ baseUrl: given })).baseUrl).toBe(taken);
  });

  test("that is missing is an error with both names", () => {
    expect(messageOf(() => read({ token: "t" }))).toBe(
      "the address of the API is missing: set PLATFORM_BASE_URL, or run `pulumi config set platform:baseUrl https://…`",
    );
  });

  const wrong = (shown: string, why: string): string =>
    `platform:baseUrl must be an address as in "https://api.example.com", not ${JSON.stringify(shown)}: ${why}`;
  const INSECURE =
    "plain http would show the token to the network; write https, or run `pulumi config set platform:allowInsecure true` if you mean it, and give commands of this package --stack";

  test.each([
    ["api.example.com", "it is not an absolute URL"],
    ["/iam", "it is not an absolute URL"],
    ["ftp://example.com", "it is neither https nor http"],
    ["https://example.com?x=1", "it has a query or a fragment", "https://example.com?…"],
    ["https://example.com/#x", "it has a query or a fragment", "https://example.com/#…"],
    ["http://example.com", INSECURE],
    ["http://127.0.0.1.example.com", INSECURE],
    ["http://localhost.example.com", INSECURE],
    ["http://10.0.0.1", INSECURE],
  ])("%s is refused, with the reason", (value, why, shown = value) => {
    expect(messageOf(() => read(stackOf({ baseUrl: value })))).toBe(wrong(shown, why));
  });

  test("may be plain http elsewhere only where the stack says so", () => {
    const baseUrl = "http://emulator.internal:8080";
    expect(read(stackOf({ baseUrl, allowInsecure: "true" })).baseUrl).toBe(baseUrl);
    for (const allowInsecure of ["", "false", "yes", "1"]) {
      expect(messageOf(() => read(stackOf({ baseUrl, allowInsecure })))).toContain(INSECURE);
    }
  });

  test.each([
    `user:${CANARY}@example.com`,
    `https://user:${CANARY}@example.com`,
    `https://user:${CANARY}@exa mple.com`,
    `https://user:${CANARY}@example.com:port/x`,
    `https://user:12/${CANARY}@example.com`,
    `https://user:12#${CANARY}@example.com`,
    `https://user:${CANARY}%40example.com`,
    `https://user:${CANARY}`,
    `https:///user:${CANARY}@`,
    `ftp://example.com/x@user:${CANARY}@y`,
    `https://example.com?token=${CANARY}`,
    `https://example.com#${CANARY}`,
    `://${CANARY}@x`,
    `https://us\ner:${CANARY}@example.com:port`,
  ])("that does not parse, or is no base, is refused without its password: %#", (value) => {
    const settings = {
      baseUrl: () => read(stackOf({ baseUrl: value })),
      issuerUrl: () =>
        read(
          { baseUrl: "https://api.example.com", issuerUrl: value },
          { PLATFORM_IDENTITY: "a".repeat(40), PLATFORM_OIDC_TOKEN: "t" },
        ),
    };
    for (const [key, action] of Object.entries(settings)) {
      const message = messageOf(action);
      expect(message).toMatch(new RegExp(`^platform:${key} must`));
      expect(message).not.toContain(CANARY);
    }
  });
});

describe("numbers", () => {
  test.each([
    ["maxRetries", "PLATFORM_MAX_RETRIES", 0, 20],
    ["maxConcurrency", "PLATFORM_MAX_CONCURRENCY", 1, 256],
  ])("%s (%s) is a whole number from %i to %i", (key, variable, min, max) => {
    const beyond = [String(min - 1), String(max + 1)];
    for (const value of [...beyond, "1.5", "x", "1e2", "0x10", "-1", "1 2", "٣", " "]) {
      const range = `must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}`;
      expect(messageOf(() => read(stackOf({ [key]: value })))).toBe(`platform:${key} ${range}`);
      expect(messageOf(() => read(stackOf(), { [variable]: value }))).toBe(`${variable} ${range}`);
    }
    expect(read(stackOf({ [key]: String(min) }))).toHaveProperty(key, min);
    expect(read(stackOf({ [key]: String(max) }))).toHaveProperty(key, max);
  });

  test.each([
    ["1ms", 1],
    ["0.5s", 500],
    ["90s", 90_000],
    [" 60m ", 3_600_000],
  ])("the timeout %s is %i ms", (timeout, ms) => {
    expect(read(stackOf({ timeout })).timeoutMs).toBe(ms);
  });

  test.each(["30", "0s", "0ms", "0.1ms", "-1s", "61m", "1h", "s", "1 s", "1s1s", "Infinitys"])(
    "the timeout %j is refused by the name of its setting",
    (timeout) => {
      const must = `must be a duration with a unit, as in "30s" or "2m" (at most 60m), not ${JSON.stringify(timeout)}`;
      expect(messageOf(() => read(stackOf({ timeout })))).toBe(`platform:timeout ${must}`);
      expect(messageOf(() => read(stackOf(), { PLATFORM_TIMEOUT: timeout }))).toBe(
        `PLATFORM_TIMEOUT ${must}`,
      );
    },
  );
});

describe("credentials", () => {
  const base = { baseUrl: "https://api.example.com" };
  const confirmed = { PLATFORM_BASE_URL: "https://api.example.com/" };

  test("of the environment go before the stack's, which may be stale", () => {
    const credentials = (env: Record<string, string>) =>
      read({ ...base, token: "old", tokenFile: "old" }, { ...confirmed, ...env }).credentials;
    const token = { kind: "token", token: "new", setting: "PLATFORM_TOKEN" };
    expect(credentials({ PLATFORM_TOKEN: "new" })).toEqual(token);
    const file = { kind: "tokenFile", path: "f", setting: "PLATFORM_TOKEN_FILE" };
    expect(credentials({ PLATFORM_TOKEN_FILE: "f" })).toEqual(file);
  });

  test.each([
    ["PLATFORM_TOKEN", "PLATFORM_TOKEN_FILE"],
    ["PLATFORM_TOKEN", "PLATFORM_IDENTITY"],
    ["PLATFORM_TOKEN", "PLATFORM_OIDC_TOKEN"],
    ["PLATFORM_TOKEN_FILE", "PLATFORM_OIDC_TOKEN_FILE"],
    ["platform:token", "platform:tokenFile"],
  ])(
    "of the same rank must not be given twice, and the message names both but no value: %s, %s",
    (...names) => {
      const given = Object.fromEntries(names.map((name) => [name.replace("platform:", ""), CANARY]));
      const isOfStack = names[0].startsWith("platform:");
      expect(messageOf(() => read({ ...base, ...(isOfStack && given) }, given), "PP2003")).toBe(
        `${names[0]} conflicts with ${names[1]}; set only one of them`,
      );
    },
  );

  test("that are missing are an error with every name", () => {
    expect(messageOf(() => read(base), "PP2006")).toBe(
      "the access token is missing: set PLATFORM_TOKEN (or PLATFORM_TOKEN_FILE), or PLATFORM_IDENTITY to exchange an OIDC token, or run `pulumi config set --secret platform:token …` (a refresh and a destroy read what the last update had)",
    );
  });
});

describe("an exchange", () => {
  const ISSUER = "https://issuer.example.com";
  const IDENTITY = `${"a".repeat(40)}/${"b".repeat(16)}`;
  const base = { baseUrl: "https://api.example.com", issuerUrl: ISSUER };
  const confirmed = { PLATFORM_BASE_URL: "https://api.example.com/", PLATFORM_ISSUER_URL: `${ISSUER}/` };
  const github = {
    ACTIONS_ID_TOKEN_REQUEST_URL: "https://pipelines.example.com/token?api-version=2.0",
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: CANARY,
  };
  const exchanged = {
    kind: "exchange",
    issuerUrl: ISSUER,
    issuerSetting: "platform:issuerUrl",
    audience: "https://api.example.com",
    identity: IDENTITY,
  };

  test("takes identity and OIDC token from the environment, for the API's address", () => {
    const env = { ...confirmed, PLATFORM_IDENTITY: IDENTITY, PLATFORM_OIDC_TOKEN: CANARY };
    expect(read(base, env).credentials).toEqual({
      ...exchanged,
      oidc: { kind: "token", token: CANARY, setting: "PLATFORM_OIDC_TOKEN" },
      setting: "PLATFORM_IDENTITY with PLATFORM_OIDC_TOKEN",
    });
    const file = { ...confirmed, PLATFORM_IDENTITY: IDENTITY, PLATFORM_OIDC_TOKEN_FILE: "/run/oidc" };
    expect(read(base, file).credentials).toEqual({
      ...exchanged,
      oidc: { kind: "file", path: "/run/oidc", setting: "PLATFORM_OIDC_TOKEN_FILE" },
      setting: "PLATFORM_IDENTITY with PLATFORM_OIDC_TOKEN_FILE",
    });
  });

  test("uses GitHub's own token where an identity is named and no other is there", () => {
    const found = read(base, { ...confirmed, ...github, PLATFORM_IDENTITY: IDENTITY }).credentials;
    expect(found).toMatchObject({
      oidc: {
        kind: "github",
        requestUrl: github.ACTIONS_ID_TOKEN_REQUEST_URL,
        requestToken: CANARY,
        audience: "issuer.example.com",
      },
      setting: "PLATFORM_IDENTITY with GitHub Actions",
    });
    const env = { ...confirmed, ...github, PLATFORM_IDENTITY: IDENTITY, PLATFORM_OIDC_AUDIENCE: "ours" };
    expect(read(base, env).credentials).toMatchObject({ oidc: { audience: "ours" } });
    const withFile = { ...confirmed, ...github, PLATFORM_IDENTITY: IDENTITY, PLATFORM_OIDC_TOKEN_FILE: "f" };
    expect(read(base, withFile).credentials).toMatchObject({ oidc: { kind: "file" } });
    // What a runner happens to offer is no choice of the user's.
    expect(messageOf(() => read(base, github))).toMatch(/^the access token is missing/);
    expect(read({ ...base, token: "t" }, github).credentials).toMatchObject({ kind: "token" });
  });

  test.each<[string, Record<string, string>, Record<string, string>, string]>([
    [
      "the identity",
      base,
      { PLATFORM_OIDC_TOKEN: CANARY },
      "PLATFORM_OIDC_TOKEN needs the identity to assume: set PLATFORM_IDENTITY (or platform:identity) to its uid",
    ],
    [
      "the OIDC token",
      { ...base, identity: IDENTITY },
      {},
      'platform:identity needs an OIDC token to exchange: set PLATFORM_OIDC_TOKEN_FILE, PLATFORM_OIDC_TOKEN or platform:oidcTokenFile; in GitHub Actions, give the job the permission "id-token: write"',
    ],
    [
      "the issuer",
      { baseUrl: base.baseUrl },
      { PLATFORM_IDENTITY: IDENTITY, PLATFORM_OIDC_TOKEN: CANARY },
      "the address of the token issuer is missing, which PLATFORM_IDENTITY needs: set PLATFORM_ISSUER_URL, or run `pulumi config set platform:issuerUrl https://…`",
    ],
  ])("names the missing %s", (_what, stack, env, message) => {
    expect(messageOf(() => read(stack, env))).toBe(message);
  });

  test("refuses an identity that is no uid, and addresses that would show a token to the network", () => {
    const env = { PLATFORM_IDENTITY: "ci", PLATFORM_OIDC_TOKEN: CANARY };
    expect(messageOf(() => read(base, env))).toMatch(/^PLATFORM_IDENTITY must be the uid of an identity/);
    const plain = { ...base, issuerUrl: "http://issuer.example.com", identity: IDENTITY };
    expect(messageOf(() => read(plain, { PLATFORM_OIDC_TOKEN: CANARY }))).toMatch(
      /^platform:issuerUrl must be an address .* plain http would show the token to the network/,
    );
    for (const url of ["http://pipelines.example.com/", "file:///etc/passwd", "nowhere"]) {
      const actions = { ...github, ACTIONS_ID_TOKEN_REQUEST_URL: url, PLATFORM_IDENTITY: IDENTITY };
      expect(messageOf(() => read(base, actions))).toBe(
        "ACTIONS_ID_TOKEN_REQUEST_URL must be an https address, as GitHub Actions sets it",
      );
    }
  });
});

describe("the log level", () => {
  test("is debug or none", () => {
    expect(read(stackOf(), { PLATFORM_LOG: "debug" }).debug).toBe(true);
    expect(read(stackOf(), { PLATFORM_LOG: "" }).debug).toBe(false);
    for (const level of ["info", "DEBUG", "1", "true"]) {
      expect(messageOf(() => read(stackOf(), { PLATFORM_LOG: level }))).toBe(
        `PLATFORM_LOG must be "debug" or unset, not ${JSON.stringify(level)}`,
      );
    }
  });
});

describe("names of settings", () => {
  const definitions: readonly SettingDefinition[] = Object.values(settingDefinitions);
  const names = definitions.flatMap(({ key, variable = [] }) => [
    ...(key === undefined ? [] : [`platform:${key}`]),
    ...[variable].flat(),
  ]);
  const misspelt = (name: string): string[] =>
    name.startsWith("platform:")
      ? listMisspeltSettings([name], {})
      : listMisspeltSettings([], { [name]: "x" });

  test.each(names)("%s is found where a letter is missing, and not where it is right", (name) => {
    expect(misspelt(name)).toEqual([]);
    // Of a short word each letter counts.
    expect(misspelt(name.slice(0, -1))).toEqual(
      name === "PLATFORM_LOG"
        ? []
        : [`${name.slice(0, -1)} is no setting and has no effect; did you mean ${name}?`],
    );
  });

  test.each([
    ["platform:baseURL", "platform:baseUrl"],
    ["platform:base_url", "platform:baseUrl"],
    ["platform:allowInsecur", "platform:allowInsecure"],
    ["PLATFORM_BASEURL", "PLATFORM_BASE_URL"],
    ["PLATFORM_APPROVED_REPROT", "PLATFORM_APPROVED_REPORT"],
  ])("%s was meant to be %s", (name, meant) => {
    expect(misspelt(name)).toEqual([expect.stringContaining(`did you mean ${meant}?`)]);
  });

  test.each(["DEPLOY_IDENTITY", "CACHE", "URL", "API", "ORG", "HOST", "USER", "NAME", "VERSION"])(
    "PLATFORM_%s is somebody else's",
    (name) => expect(misspelt(`PLATFORM_${name}`)).toEqual([]),
  );
});

describe("settings that a preview refuses", () => {
  const judge = (stack: Record<string, string>, env: Record<string, string> = {}): string | undefined => {
    const sources = { stack: (key: string) => stack[key], env };
    return findWrongSetting(sources)?.message;
  };
  const accepts = (...given: Parameters<typeof judge>): void => {
    expect(judge(...given)).toBeUndefined();
  };

  test.each([
    ["baseUrl", "api.example.com", /it is not an absolute URL/],
    ["timeout", "soon", /^platform:timeout must be a duration/],
    ["batching", "no", /^platform:batching must be "true" or "false", not "no"$/],
    ["token", `${CANARY}\n${CANARY}`, /^platform:token holds spaces, line breaks/],
    ["identity", "ada", /^platform:identity must be the uid/],
  ])("%s: %j", (key, value, says) => {
    const message = judge(stackOf({ ...(key === "identity" && { token: "" }), [key]: value }));
    expect(message).toMatch(says);
    expect(message).not.toContain("1618033988");
  });

  test("an OIDC token that is none", () => {
    const env = { PLATFORM_IDENTITY: "0".repeat(40), PLATFORM_OIDC_TOKEN: "/run/oidc" };
    const addresses = { baseUrl: "https://api.example.com", issuerUrl: "https://issuer.example.com" };
    const confirmed = { PLATFORM_BASE_URL: addresses.baseUrl, PLATFORM_ISSUER_URL: addresses.issuerUrl };
    expect(judge(addresses, { ...env, ...confirmed })).toMatch(
      /^PLATFORM_OIDC_TOKEN holds a path, not a tok/,
    );
  });

  test("are none that are missing, and no file, which is there when the update needs it", () => {
    accepts({});
    accepts({ baseUrl: "https://api.example.com" });
    accepts({ baseUrl: "https://api.example.com" }, { PLATFORM_TOKEN: "" });
    const env = { PLATFORM_BASE_URL: "https://api.example.com" };
    accepts({ tokenFile: "/nowhere" }, env);
    accepts({ identity: "0".repeat(40) }, env);
  });
});
