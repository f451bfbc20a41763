import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { main as doctor } from "../../../provider/cli/doctor";
import { describeToken, inWords, main as whoami } from "../../../provider/cli/whoami";
import { call } from "../../support/wire";
import { jwt, OIDC_ISSUER, trustingIdentity } from "../../support/oidc";

const from = { source: "PLATFORM_TOKEN", settings: "the environment" };
const environment = { ...process.env };
let emulator: Emulator;
let printed: string[];

beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(() => {
  emulator.reset();
  printed = [];
  jest.spyOn(console, "log").mockImplementation((line) => void printed.push(String(line)));
  for (const key of Object.keys(process.env)) {
    if (/^(PLATFORM_|ACTIONS_ID_TOKEN)/.test(key)) Reflect.deleteProperty(process.env, key);
  }
  process.env["PLATFORM_BASE_URL"] = emulator.url;
});
afterEach(() => {
  process.env = { ...environment };
  jest.restoreAllMocks();
});
afterAll(() => emulator.close());

/** An environment with an identity that trusts the OIDC token. */
async function exchanging(claims: object = {}): Promise<{ identity: string; oidc: string }> {
  const identity = await trustingIdentity(emulator, "repo:acme/pay");
  const oidc = jwt({ iss: OIDC_ISSUER, sub: "repo:acme/pay", aud: emulator.url, ...claims });
  Object.assign(process.env, {
    PLATFORM_ISSUER_URL: emulator.url,
    PLATFORM_IDENTITY: identity,
    PLATFORM_OIDC_TOKEN: oidc,
  });
  return { identity, oidc };
}

describe("whoami", () => {
  test("shows whom an exchanged token stands for, its source and its end, and no secret", async () => {
    const { identity, oidc } = await exchanging({ email: "ci@example.com" });
    await expect(whoami([])).resolves.toBe(0);
    const text = printed.join("\n");
    for (const line of [
      `identity     ${identity}`,
      "e-mail       ci@example.com",
      `issuer       ${emulator.url}`,
      `audience     ${emulator.url}`,
      "acting for   repo:acme/pay",
      `  of issuer  ${OIDC_ISSUER}`,
      "source       PLATFORM_IDENTITY with PLATFORM_OIDC_TOKEN",
      "settings     the environment",
    ]) {
      expect(text).toContain(line);
    }
    expect(text).toMatch(/^ends {9}in (59|60) minutes \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/m);
    expect(text).not.toContain(oidc);
    expect(text).not.toMatch(/eyJ/);
  });

  test("answers JSON with every member, for scripts", async () => {
    const { identity } = await exchanging();
    await expect(whoami(["-o", "json"])).resolves.toBe(0);
    expect(JSON.parse(printed.join("\n"))).toEqual({
      schemaVersion: 1,
      source: "PLATFORM_IDENTITY with PLATFORM_OIDC_TOKEN",
      settings: "the environment",
      opaque: false,
      subject: identity,
      issuer: emulator.url,
      audience: [emulator.url],
      email: null,
      actor: { issuer: OIDC_ISSUER, subject: "repo:acme/pay" },
      expiry: expect.stringMatching(/Z$/) as unknown,
    });
  });

  test("says of an opaque token that it tells nothing, and asks no server", async () => {
    process.env["PLATFORM_TOKEN"] = emulator.token;
    emulator.clearRequests();
    await expect(whoami([])).resolves.toBe(0);
    expect(printed.join("\n")).toBe(
      [
        "identity     unknown: the token is opaque, only the API can tell",
        "source       PLATFORM_TOKEN",
        "settings     the environment",
        "ends         unknown",
      ].join("\n"),
    );
    expect(emulator.requests).toHaveLength(0);
  });

  test("ends with 3 where the token has ended, and says when that was", async () => {
    process.env["PLATFORM_TOKEN"] = jwt({ sub: "x", exp: Math.floor(Date.now() / 1000) - 7300 });
    await expect(whoami([])).resolves.toBe(3);
    expect(printed.join("\n")).toMatch(/^ends {9}ended 2 hours ago \(/m);
  });

  test("takes no claim for what it is not, and nothing that a terminal would obey", () => {
    const hostile = jwt({
      sub: "a\u001b[2Jb\nidentity root",
      iss: 5,
      aud: ["x", { y: 1 }],
      act: "me",
      exp: 1e300,
      email: ["e"],
    });
    expect(describeToken(hostile, from)).toMatchObject({
      subject: "a [2Jb identity root",
      issuer: null,
      audience: ["x"],
      actor: null,
      expiry: null,
      email: null,
    });
    for (const token of ["a.b.c", "a.W10.c", "opaque", `${jwt({})}.d`]) {
      expect(describeToken(token, from).opaque).toBe(true);
    }
  });

  test.each([
    [89_000, "in 89 seconds"],
    [-3_600_000, "60 minutes ago"],
    [3 * 86_400_000, "in 3 days"],
    [0, "in 0 seconds"],
  ])("says a time that is %i ms away as %j", (away, words) => {
    expect(inWords(new Date(1e12 + away), 1e12)).toBe(words);
  });

  test("refuses arguments that it does not know, in one line", async () => {
    await expect(whoami(["--nope"])).rejects.toMatchObject({ code: "USAGE" });
    await expect(whoami(["-o", "yaml"])).rejects.toThrow('whoami: -o must be text or json, not "yaml"');
  });
});

describe("doctor", () => {
  const report = (): Record<string, string> =>
    Object.fromEntries(
      printed.map((line) => {
        const [state = "", check = "", ...text] = line.split(/ {2,}/);
        return [check.trim(), `${state}: ${text.join(" ")}`];
      }),
    );

  test("finds nothing wrong where all is right, in one line each", async () => {
    await exchanging();
    await call(emulator, "POST", "/iam/v2/groups", { name: "other" });
    emulator.clearRequests();
    await doctor([]);
    expect(report()).toMatchObject({
      package: expect.stringMatching(/^ok: pulumi-platform \d/) as unknown,
      node: `ok: ${process.version}`,
      sdk: expect.stringMatching(/^ok: @pulumi\/pulumi 3\./) as unknown,
      configuration: `ok: from the environment: the API at ${emulator.url}`,
      address: `ok: ${emulator.url} answers a ping`,
      tls: "warning: not used: the address is plain http",
      clock: "ok: agrees with the server's",
      token: expect.stringMatching(
        /^ok: of PLATFORM_IDENTITY with PLATFORM_OIDC_TOKEN; ends: in (59|60) minutes/,
      ) as unknown,
    });
    const [ping, exchange, list] = emulator.requests;
    expect([ping?.path, exchange?.path, list?.path]).toEqual([
      "/ping/v2/ping",
      "/sts/exchange",
      "/iam/v2/groups",
    ]);
  });

  test("tells a refused token from all else by its exit code, and shows it nowhere", async () => {
    process.env["PLATFORM_TOKEN"] = "canary-token-2236067977";
    const code = await doctor([]);
    const { access, cli } = report();
    expect(access).toMatch(/^wrong: GET \/iam\/v2\/groups: UNAUTHENTICATED \(HTTP 401\)/);
    // Where no CLI is installed that is wrong, too.
    expect(code).toBe(cli?.startsWith("ok") ? 3 : 1);
    expect(printed.join("\n")).not.toContain("canary");
  });

  test("names the setting that is missing, and skips what depends on it", async () => {
    await expect(doctor([])).resolves.not.toBe(0);
    expect(report()).toMatchObject({
      configuration: expect.stringMatching(
        /^wrong: the access token is missing: set PLATFORM_TOKEN/,
      ) as unknown,
      address: "skipped: not checked before configuration is right",
      access: "skipped: not checked before configuration is right",
    });
  });

  test("says where nothing listens, and that the clock is off", async () => {
    process.env["PLATFORM_TOKEN"] = emulator.token;
    process.env["PLATFORM_BASE_URL"] = "http://127.0.0.1:1";
    await expect(doctor([])).resolves.toBe(1);
    expect(report()["address"]).toMatch(
      /^wrong: GET .*nothing listens there \(ECONNREFUSED\); is platform:baseUrl/,
    );
    process.env["PLATFORM_BASE_URL"] = emulator.url;
    printed.length = 0;
    emulator.addFault({
      path: "/ping/v2/ping",
      headers: { Date: new Date(Date.now() - 3_600_000).toUTCString() },
    });
    await doctor([]);
    expect(report()["clock"]).toMatch(
      /^warning: this machine is 36\d\d s ahead of the server: set its clock by NTP/,
    );
  });
});
