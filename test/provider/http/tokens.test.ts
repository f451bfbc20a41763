import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tokenSource } from "../../../provider/http/tokens";
import type { ExchangeCredentials, OidcSource, TokenSource } from "../../../provider/http/tokens";
import { temporaryFolder } from "../../support/folders";
import { errorOf, clientOf, failure, htmlPage, promised, ScriptedServer } from "../support/server";
import type { Recorded, Reply } from "../support/server";
import { jwt } from "../../support/oidc";

const CANARY = "canary-token-2718281828";
const folder = temporaryFolder();
const given = (token: string, setting = "PLATFORM_TOKEN") => tokenSource({ kind: "token", token, setting });
const inFile = (path: string, setting = "PLATFORM_TOKEN_FILE") =>
  tokenSource({ kind: "tokenFile", path, setting });

describe("a token that is set", () => {
  test("is used without the white space around it, and cannot be renewed", async () => {
    const source = given(` ${CANARY}\n`);
    await expect(source.token()).resolves.toBe(CANARY);
    await expect(source.renew(CANARY)).resolves.toBe(false);
  });

  test.each([
    ["  ", "platform:token is empty: it must hold the access token"],
    ...["/run/secrets/token", "./token", "../token", "~/token", "C:\\token", "d:/token"].map((path) => [
      path,
      "platform:token holds a path, not a token: name the file with PLATFORM_TOKEN_FILE or platform:tokenFile",
    ]),
    ...["Bearer abc", "bearer\tabc"].map((token) => [
      token,
      'platform:token begins with "Bearer", which is not part of the token: leave Bearer out',
    ]),
    ...["two words", "two\nlines", "tökén", "nul\u0000"].map((token) => [
      token,
      "platform:token holds spaces, line breaks or other characters that no token has",
    ]),
  ])("%j is refused at its first use, by the name of the setting", async (token, message) => {
    const error = await errorOf(given(token, "platform:token").token());
    expect(error).toMatchObject({ name: "ConfigError", errorCode: "PP2007", message });
  });
});

describe("a token in a file", () => {
  test("is read at each use, so that a new token is used at once", async () => {
    const path = join(folder, "rotating");
    writeFileSync(path, `${CANARY}\n`);
    const source = inFile(path);
    await expect(source.token()).resolves.toBe(CANARY);
    await expect(source.renew(CANARY)).resolves.toBe(false);
    writeFileSync(path, "another-token");
    await expect(source.token()).resolves.toBe("another-token");
    await expect(source.renew(CANARY)).resolves.toBe(true);
  });

  test("that is missing is an error with the setting, the path and the reason", async () => {
    const path = join(folder, "missing");
    expect(await errorOf(inFile(path, "platform:tokenFile").token())).toMatchObject({
      name: "ConfigError",
      message: `platform:tokenFile names a file that cannot be read (file or folder not found): ${path}`,
    });
    await expect(inFile(folder).token()).rejects.toThrow("(it is a folder; name a file)");
  });

  test.each([CANARY, "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"])(
    "whose name is a token is an error without that name: %#",
    async (path) => {
      expect((await errorOf(inFile(path).token())).message).toBe(
        "PLATFORM_TOKEN_FILE seems to hold a token: it must name a file; a token itself goes into PLATFORM_TOKEN",
      );
    },
  );
});

const OIDC = "canary-oidc-1414213562";
const REFRESH = "canary-refresh-1732050807";
const IDENTITY = `${"a".repeat(40)}/${"b".repeat(16)}`;
const AUDIENCE = "https://api.example.com";
const EXCHANGED = "POST /sts/exchange";
const REFRESHED = "POST /sts/exchange_refresh_token";

let issuer: ScriptedServer;
let now: number;
/** How far this machine's calendar clock has been set, in milliseconds. */
let setBy: number;
const lines: string[] = [];

beforeAll(async () => {
  issuer = await ScriptedServer.start();
});
beforeEach(() => {
  now = Date.parse("2026-03-01T12:00:00Z");
  setBy = 0;
  lines.length = 0;
  jest.spyOn(Date, "now").mockImplementation(() => now + setBy);
  jest.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => issuer.close());

function sourceOf(
  oidc: OidcSource = { kind: "token", token: OIDC, setting: "PLATFORM_OIDC_TOKEN" },
): Required<TokenSource> {
  const credentials: ExchangeCredentials = {
    kind: "exchange",
    issuerUrl: issuer.url,
    issuerSetting: "PLATFORM_ISSUER_URL",
    audience: AUDIENCE,
    identity: IDENTITY,
    oidc,
    setting: "PLATFORM_IDENTITY with PLATFORM_OIDC_TOKEN",
  };
  return tokenSource(credentials, {
    timeoutMs: 60_000,
    log: (line) => lines.push(line),
  }) as Required<TokenSource>;
}

/** A source that has its first token. */
async function begun(): Promise<Required<TokenSource>> {
  const source = sourceOf();
  await source.token();
  return source;
}

/** The nth access token, which lives an hour by the issuer's clock; that may be off by `skewMs`. */
const access = (
  count: number,
  { lifeMs = 3_600_000, skewMs = 0, refreshToken = "" }: Record<string, unknown> = {},
): Reply => {
  const there = now + Number(skewMs);
  const expiry = lifeMs === null ? null : new Date(there + Number(lifeMs)).toISOString();
  return {
    json: { token: `access-${count}`, refreshToken, expiry },
    headers: { Date: new Date(there).toUTCString() },
  };
};
const bearerOf = ({ headers }: Recorded) => headers.authorization;

describe("an exchange", () => {
  test("posts audience and identity as a form, with the OIDC token as bearer and nowhere else", async () => {
    issuer.script([access(1)]);
    const source = sourceOf();
    await expect(source.token()).resolves.toBe("access-1");
    const { method, path, rawQuery, headers, text } = issuer.last();
    expect([method, path, rawQuery]).toEqual(["POST", "/sts/exchange", ""]);
    expect(headers["content-type"]).toBe("application/x-www-form-urlencoded");
    expect(Object.fromEntries(new URLSearchParams(text))).toEqual({ aud: AUDIENCE, identity: IDENTITY });
    expect(headers.authorization).toBe(`Bearer ${OIDC}`);
    expect(source.expiry()).toEqual(new Date(now + 3_600_000));
    expect(lines).toEqual([expect.stringMatching(/^POST \/sts\/exchange -> 200 in \d+ ms \(attempt 1\)$/)]);
  });

  test("happens once for concurrent callers, and not again while its token is valid", async () => {
    issuer.script([access(1)]);
    const source = sourceOf();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => source.token()));
    expect(new Set(tokens)).toEqual(new Set(["access-1"]));
    now += 3_600_000 - 62_000;
    await source.token();
    expect(issuer.requests).toHaveLength(1);
  });

  test.each([
    [0, 0],
    [86_400_000, 0],
    [-600_000, 0],
    [0, 3_600_000],
    [0, -3_600_000],
  ])(
    "is repeated shortly before its token ends, with clocks %i ms apart, of which this machine's is set by %i ms meanwhile",
    async (skewMs, step) => {
      issuer.script((_request, count) => access(count + 1, { skewMs }));
      const source = await begun();
      setBy = step;
      now += 3_600_000 - 62_000;
      await expect(source.token()).resolves.toBe("access-1");
      now += 2000;
      await expect(source.token()).resolves.toBe("access-2");
      expect(issuer.requests).toHaveLength(2);
    },
  );

  test("of a token that lives three seconds leaves some of them for using it", async () => {
    issuer.script((_request, count) => access(count + 1, { lifeMs: 3000 }));
    const source = await begun();
    now += 1400;
    await expect(source.token()).resolves.toBe("access-1");
    now += 200;
    await expect(source.token()).resolves.toBe("access-2");
  });

  test("without an expiry, or with one in the past, gives a token that is used until it is refused", async () => {
    for (const lifeMs of [null, -5000]) {
      issuer.script((_request, count) => access(count + 1, { lifeMs }));
      const source = await begun();
      now += 86_400_000;
      await expect(source.token()).resolves.toBe("access-1");
      await expect(source.renew("access-1")).resolves.toBe(true);
      await expect(source.token()).resolves.toBe("access-2");
    }
  });

  test("is repeated once for a refused token, also where many requests were refused", async () => {
    issuer.script((_request, count) => access(count + 1));
    const source = await begun();
    await Promise.all(Array.from({ length: 10 }, () => source.renew("access-1")));
    await expect(source.token()).resolves.toBe("access-2");
    // One that was refused before the new token came.
    await expect(source.renew("access-1")).resolves.toBe(true);
    expect(issuer.requests).toHaveLength(2);
  });

  test("a renewed exchange begins after its request, and concurrent callers share it", async () => {
    const first = promised();
    issuer.script((_request, count) => ({
      ...access(count + 1),
      after: count === 0 ? first.promise : undefined,
    }));
    const source = sourceOf();
    const early = source.token();
    await issuer.arrived(1);
    const refreshed = [source.refresh(), source.refresh(), source.refresh()];
    first.keep();
    await expect(early).resolves.toBe("access-1");
    await Promise.all(refreshed);
    await expect(source.token()).resolves.toBe("access-2");
    expect(issuer.requests).toHaveLength(2);
  });

  test.each([
    ["got no response", { cut: "before" }],
    ["met another server", { status: 404, text: htmlPage }],
  ] as const)(
    "that %s while the old token still lives is tried again with the next request",
    async (_why, reply) => {
      issuer.script((_request, count) => (count === 0 ? access(1) : count === 1 ? reply : access(2)));
      const source = await begun();
      now += 3_600_000 - 30_000;
      lines.length = 0;
      await expect(source.token()).resolves.toBe("access-1");
      expect(issuer.requests).toHaveLength(2);
      expect(lines.at(-1)).toMatch(
        /^the token in use is kept, since it could not be renewed: .*\(PP\d{4}\)$/,
      );
      await expect(source.token()).resolves.toBe("access-2");
    },
  );

  test("that fails once the old token has ended fails the request", async () => {
    issuer.script((_request, count) => (count === 0 ? access(1) : { cut: "before" }));
    const source = await begun();
    now += 3_600_000;
    expect(await errorOf(source.token())).toMatchObject({
      name: "ConnectionError",
      outcome: "notSent",
      isTransient: true,
    });
  });
});

describe("a refresh token", () => {
  const refreshed = (count: number): Reply => ({
    json: {
      token: { token: `refreshed-${count}`, expiry: new Date(now + 3_600_000).toISOString() },
      // Left out, it stays the same.
      ...(count === 1 && { refreshToken: { token: `${REFRESH}-${count}`, expiry: null } }),
    },
    headers: { Date: new Date(now).toUTCString() },
  });

  test("is used in place of a new exchange when a token ends, and replaced by the next one", async () => {
    issuer.script((_request, count) =>
      count === 0 ? access(1, { refreshToken: REFRESH }) : refreshed(count),
    );
    const source = await begun();
    for (const expected of ["refreshed-1", "refreshed-2", "refreshed-3"]) {
      now += 3_600_000;
      await expect(source.token()).resolves.toBe(expected);
    }
    expect(issuer.calls).toEqual([EXCHANGED, REFRESHED, REFRESHED, REFRESHED]);
    expect(issuer.requests.map(bearerOf)).toEqual([
      `Bearer ${OIDC}`,
      `Bearer ${REFRESH}`,
      `Bearer ${REFRESH}-1`,
      `Bearer ${REFRESH}-1`,
    ]);
  });

  test("that is refused is replaced by a new exchange", async () => {
    issuer.script((_request, count) =>
      count === 1 ? failure(16, "revoked") : access(count + 1, { refreshToken: REFRESH }),
    );
    const source = await begun();
    now += 3_600_000;
    await expect(source.token()).resolves.toBe("access-3");
    expect(issuer.calls).toEqual([EXCHANGED, REFRESHED, EXCHANGED]);
  });

  test("is not used after a 401, nor for a renewed exchange", async () => {
    issuer.script((_request, count) => access(count + 1, { refreshToken: REFRESH }));
    const source = sourceOf();
    await source.renew(await source.token());
    await source.refresh();
    expect(new Set(issuer.calls)).toEqual(new Set([EXCHANGED]));
  });
});

describe("the OIDC token", () => {
  test("of a file is read at each exchange", async () => {
    const path = join(folder, "oidc");
    writeFileSync(path, "first\n");
    issuer.script((_request, count) => access(count + 1));
    const source = sourceOf({ kind: "file", path, setting: "PLATFORM_OIDC_TOKEN_FILE" });
    await source.token();
    writeFileSync(path, "second\n");
    await source.refresh();
    expect(issuer.requests.map(bearerOf)).toEqual(["Bearer first", "Bearer second"]);
  });

  test("of GitHub Actions is minted at each exchange, for the audience, with the runner's own token", async () => {
    const github = await ScriptedServer.start();
    try {
      github.script((_request, count) => ({ json: { count, value: `minted-${count}` } }));
      issuer.script((_request, count) => access(count + 1));
      const source = sourceOf({
        kind: "github",
        requestUrl: `${github.url}/idtoken/1?api-version=2.0`,
        requestToken: "runner-token",
        audience: "issuer.example.com",
        setting: "GitHub Actions",
      });
      await source.token();
      await source.refresh();
      expect(issuer.requests.map(bearerOf)).toEqual(["Bearer minted-0", "Bearer minted-1"]);
      expect(github.requests.map(bearerOf)).toEqual(["Bearer runner-token", "Bearer runner-token"]);
      expect(Object.fromEntries(github.last().query)).toEqual({
        "api-version": "2.0",
        audience: "issuer.example.com",
      });
      github.script(() => ({ status: 403, json: { message: "no" } }));
      expect(await errorOf(source.refresh())).toMatchObject({
        errorCode: "PP2008",
        message:
          'requesting an OIDC token from GitHub Actions: PERMISSION_DENIED (HTTP 403): no; give the job the permission "id-token: write"',
      });
      github.script(() => ({ status: 503, text: "" }));
      expect(await errorOf(source.refresh())).toMatchObject({ outcome: "notSent", isTransient: true });
      github.script(() => ({ json: {} }));
      expect((await errorOf(source.refresh())).message).toContain("its response has no token");
    } finally {
      await github.close();
    }
  });

  test.each<[OidcSource, string]>([
    [
      { kind: "token", token: "/run/oidc", setting: "PLATFORM_OIDC_TOKEN" },
      "PLATFORM_OIDC_TOKEN holds a path, not a token: name the file with PLATFORM_OIDC_TOKEN_FILE or platform:oidcTokenFile",
    ],
    [
      { kind: "token", token: " ", setting: "PLATFORM_OIDC_TOKEN" },
      "PLATFORM_OIDC_TOKEN is empty: it must hold the OIDC token",
    ],
    [
      { kind: "file", path: OIDC, setting: "PLATFORM_OIDC_TOKEN_FILE" },
      "PLATFORM_OIDC_TOKEN_FILE seems to hold a token: it must name a file; a token itself goes into PLATFORM_OIDC_TOKEN",
    ],
  ])("in the wrong form is an error before any request: %#", async (oidc, message) => {
    issuer.script([]);
    expect(await errorOf(sourceOf(oidc).token())).toMatchObject({ code: "CREDENTIAL", message });
    expect(issuer.requests).toHaveLength(0);
  });
});

describe("an exchange that fails", () => {
  test("for the number of requests is the issuer's refusal, which is repeated as it asks", async () => {
    issuer.script([{ ...failure(8, "slow down"), headers: { "Retry-After": "7" } }]);
    expect(await errorOf(sourceOf().token())).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      retryAfterMs: 7000,
    });
  });

  test.each<[string, Reply]>([
    ["502", { status: 502, text: htmlPage }],
    ["a cut connection", { cut: "before" }],
  ])("with %s is tried again with the request that needs the token", async (_name, reply) => {
    const api = await ScriptedServer.start();
    try {
      api.script(() => ({ json: { uid: "x" } }));
      issuer.script((_request, count) => (count < 2 ? reply : access(count)));
      const tokens = sourceOf();
      await expect(clientOf(api, { tokens, maxRetries: 2 }).create("/x", undefined, {})).resolves.toEqual({
        uid: "x",
      });
      expect([issuer.requests.length, api.requests.length]).toEqual([3, 1]);
      issuer.script(() => reply);
      expect(await errorOf(sourceOf().token())).toMatchObject({
        name: "ConnectionError",
        outcome: "notSent",
        isTransient: true,
      });
    } finally {
      await api.close();
    }
  });

  test("because the identity does not trust the token says what the token claims", async () => {
    const token = jwt({ iss: "https://ci.example.com", sub: "repo:a\u001b[2J", aud: ["x"], exp: 1772366400 });
    issuer.script([failure(7, "the token may not assume it")]);
    const error = await errorOf(sourceOf({ kind: "token", token, setting: "PLATFORM_OIDC_TOKEN" }).token());
    expect(error).toMatchObject({
      name: "AuthenticationError",
      code: "AUTHENTICATION",
      errorCode: "PP2009",
    });
    expect(error.message).toBe(
      `exchanging the OIDC token of PLATFORM_OIDC_TOKEN at ${issuer.url} for identity ${IDENTITY}: PERMISSION_DENIED (HTTP 403): the token may not assume it; compare what the identity trusts with what the token says: issuer "https://ci.example.com", subject "repo:a\\u001b[2J", audience ["x"], expires 2026-03-01T12:00:00.000Z`,
    );
    expect(issuer.requests).toHaveLength(1);
  });

  test("with a malformed token says so, without repeating it", async () => {
    issuer.script([failure(16, "the bearer must be an OIDC token")]);
    const error = await errorOf(sourceOf().token());
    expect(error.message).toContain("the token is not a JSON web token");
    expect(error.message).not.toContain(OIDC);
  });

  test.each<[string, Reply, string]>([
    ["a wrong address", { status: 404, json: { code: 5, message: "Not Found" } }, "NOT_FOUND (HTTP 404)"],
    ["a page", { text: htmlPage }, "this is not the token issuer: HTTP 200 with a web page"],
    ["an answer without a token", { json: {} }, "this is not the token issuer: its response has no token"],
    [
      "a redirect",
      { status: 302, text: "", headers: { Location: "https://login.example.com/?t=1" } },
      "this is not the token issuer: it redirects to login.example.com, which is not followed",
    ],
  ])("because of %s names the setting of the address", async (_name, reply, words) => {
    issuer.script(() => reply);
    const error = await errorOf(sourceOf().token());
    expect(error.message).toContain(words);
    expect(error).toMatchObject({ errorCode: words.startsWith("NOT_FOUND") ? "PP2010" : "PP2107" });
    expect(error.message).toContain("check PLATFORM_ISSUER_URL");
    expect(error.message).not.toContain(OIDC);
    expect(issuer.requests).toHaveLength(1);
  });
});
