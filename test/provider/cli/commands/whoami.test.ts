import { describeToken, formatRelativeTime } from "../../../../provider/cli/input/token";
import { main as whoami } from "../../../../provider/cli/commands/whoami";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { exchanging, jwt, OIDC_ISSUER } from "../../../support/oidc";
import { call } from "../../../support/wire";
import { runCommand } from "../support";

const from = { source: "PLATFORM_TOKEN", settings: "the environment" };
let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator();
});
beforeEach(() => emulator.reset());
afterAll(() => emulator.close());

/** Runs the command, which must end with this code; returns what it printed. */
async function printed(code: number, env: Readonly<Record<string, string>>, ...argv: string[]) {
  const ended = await runCommand(whoami, argv, { PLATFORM_BASE_URL: emulator.url, ...env });
  expect(ended).toMatchObject({ code, stderr: "" });
  return ended.stdout.trimEnd();
}

describe("whoami", () => {
  test("shows the identity of an exchanged token, its source and its expiry, and no secret", async () => {
    const { identity, oidc, env } = await exchanging(emulator, { email: "ci@example.com" });
    const text = await printed(0, env);
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
    expect(text).toMatch(/^expires {6}in (59|60) minutes \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/m);
    expect(text).not.toContain(oidc);
    expect(text).not.toMatch(/eyJ/);
  });

  test("prints JSON with every member, for scripts", async () => {
    const { identity, env } = await exchanging(emulator);
    expect(JSON.parse(await printed(0, env, "-o", "json"))).toEqual({
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
      name: "ci",
      rootGroups: [{ uid: identity.split("/")[0], name: expect.any(String) as unknown }],
      problem: null,
      errorCode: null,
    });
  });

  test("shows the root groups of an opaque token, which names no identity", async () => {
    const { uid } = await call(emulator, "POST", "/iam/v2/groups", { name: "acme" });
    await call(emulator, "POST", `/iam/v2/groups/${String(uid)}`, { name: "below" });
    const text = await printed(0, { PLATFORM_TOKEN: emulator.token });
    expect(text).toMatch(/^identity {5}unknown: the token is opaque, and the API does not name its caller\n/);
    expect(text).toMatch(new RegExp(`\nexpires      unknown\ngroups       acme \\(${String(uid)}\\)$`));
  });

  const refused = { status: 403, body: { code: 7, message: "no" } };
  test.each([
    ["a refused token", { status: 401, body: { code: 16, message: "no" } }, "canary-1", 3],
    ["groups that may not be listed", refused, "canary-1", 4],
    ["the same with a token that names its identity", refused, jwt({ sub: "x" }), 0],
  ])("with %s says why the groups are unknown", async (_what, fault, token, code) => {
    emulator.addFault({ path: "/iam/v2/groups", ...fault });
    const text = await printed(code, { PLATFORM_TOKEN: token });
    expect(text).toMatch(/^groups {7}unknown: GET \/iam\/v2\/groups: /m);
    expect(text).not.toContain(token);
  });

  test("shows no name where the identity may not read itself, nor groups where it sees none", async () => {
    const { env } = await exchanging(emulator);
    emulator.addFault({ path: "/iam/v2/identities", status: 403, body: { code: 7, message: "no" } });
    emulator.addFault({ path: "/iam/v2/groups", body: { groups: [] } });
    const text = await printed(0, env);
    expect(text).toMatch(/\ngroups {7}none: the API returns no group$/);
    expect(text).not.toMatch(/^name /m);
  });

  test("ends with 3 where the token has ended, and says when that was", async () => {
    const ended = jwt({ sub: "x", exp: Math.floor(Date.now() / 1000) - 7300 });
    expect(await printed(3, { PLATFORM_TOKEN: ended })).toMatch(/^expires {6}expired 2 hours ago \(/m);
  });

  test("ignores claims of the wrong type, and prints no terminal control sequence", () => {
    const hostile = jwt({
      sub: "a\u001b[2Jb\nidentity root",
      iss: 5,
      aud: ["x", { y: 1 }],
      act: "me",
      exp: 1e300,
      email: ["e"],
    });
    expect(describeToken(hostile, from)).toMatchObject({
      subject: "ab identity root",
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
  ])("describes a time that is %i ms away as %j", (away, words) => {
    expect(formatRelativeTime(new Date(1e12 + away), 1e12)).toBe(words);
  });
});
