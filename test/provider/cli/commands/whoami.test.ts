import { describeToken, formatRelativeTime } from "../../../../provider/cli/input/token";
import { main as whoami } from "../../../../provider/cli/commands/whoami";
import { jwt, OIDC_ISSUER } from "../../../support/oidc";
import { call } from "../../../support/wire";
import { commandBench } from "../../support/commands";

const from = { source: "PLATFORM_TOKEN", settings: "the environment" };
const bench = commandBench();

describe("whoami", () => {
  test("shows the identity of an exchanged token, its source and its expiry, and no secret", async () => {
    const { identity, oidc } = await bench.exchanging({ email: "ci@example.com" });
    await expect(whoami([])).resolves.toBe(0);
    const text = bench.printed.join("\n");
    for (const line of [
      `identity     ${identity}`,
      "e-mail       ci@example.com",
      `issuer       ${bench.emulator.url}`,
      `audience     ${bench.emulator.url}`,
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
    const { identity } = await bench.exchanging();
    await expect(whoami(["-o", "json"])).resolves.toBe(0);
    expect(JSON.parse(bench.printed.join("\n"))).toEqual({
      schemaVersion: 1,
      source: "PLATFORM_IDENTITY with PLATFORM_OIDC_TOKEN",
      settings: "the environment",
      opaque: false,
      subject: identity,
      issuer: bench.emulator.url,
      audience: [bench.emulator.url],
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
    process.env["PLATFORM_TOKEN"] = bench.emulator.token;
    const { uid } = await call(bench.emulator, "POST", "/iam/v2/groups", { name: "acme" });
    await call(bench.emulator, "POST", `/iam/v2/groups/${String(uid)}`, { name: "below" });
    await expect(whoami([])).resolves.toBe(0);
    const text = bench.printed.join("\n");
    expect(text).toMatch(/^identity {5}unknown: the token is opaque, and the API does not name its caller\n/);
    expect(text).toMatch(new RegExp(`\nexpires      unknown\ngroups       acme \\(${String(uid)}\\)$`));
  });

  const refused = { status: 403, body: { code: 7, message: "no" } };
  test.each([
    ["a refused token", { status: 401, body: { code: 16, message: "no" } }, "canary-1", 3],
    ["groups that may not be listed", refused, "canary-1", 4],
    ["the same with a token that names its identity", refused, jwt({ sub: "x" }), 0],
  ])("with %s says why the groups are unknown", async (_what, fault, token, code) => {
    process.env["PLATFORM_TOKEN"] = token;
    bench.emulator.addFault({ path: "/iam/v2/groups", ...fault });
    await expect(whoami([])).resolves.toBe(code);
    expect(bench.printed.join("\n")).toMatch(/^groups {7}unknown: GET \/iam\/v2\/groups: /m);
    expect(bench.printed.join("\n")).not.toContain(token);
  });

  test("shows no name where the identity may not read itself, nor groups where it sees none", async () => {
    await bench.exchanging();
    bench.emulator.addFault({ path: "/iam/v2/identities", status: 403, body: { code: 7, message: "no" } });
    bench.emulator.addFault({ path: "/iam/v2/groups", body: { groups: [] } });
    await expect(whoami([])).resolves.toBe(0);
    expect(bench.printed.join("\n")).toMatch(/\ngroups {7}none: the API returns no group$/);
    expect(bench.printed.join("\n")).not.toMatch(/^name /m);
  });

  test("ends with 3 where the token has ended, and says when that was", async () => {
    process.env["PLATFORM_TOKEN"] = jwt({ sub: "x", exp: Math.floor(Date.now() / 1000) - 7300 });
    await expect(whoami([])).resolves.toBe(3);
    expect(bench.printed.join("\n")).toMatch(/^expires {6}expired 2 hours ago \(/m);
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
