import { describeToken, inWords, main as whoami } from "../../../provider/cli/whoami";
import { jwt, OIDC_ISSUER } from "../../support/oidc";
import { commandBench } from "../support/commands";
import { runCommand } from "./support";

const from = { source: "PLATFORM_TOKEN", settings: "the environment" };
const bench = commandBench();

describe("whoami", () => {
  test("shows whom an exchanged token stands for, its source and its end, and no secret", async () => {
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
    expect(text).toMatch(/^ends {9}in (59|60) minutes \(\d{4}-\d\d-\d\dT[\d:.]+Z\)$/m);
    expect(text).not.toContain(oidc);
    expect(text).not.toMatch(/eyJ/);
  });

  test("answers JSON with every member, for scripts", async () => {
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
    });
  });

  test("says of an opaque token that it tells nothing, and asks no server", async () => {
    process.env["PLATFORM_TOKEN"] = bench.emulator.token;
    bench.emulator.clearRequests();
    await expect(whoami([])).resolves.toBe(0);
    expect(bench.printed.join("\n")).toBe(
      [
        "identity     unknown: the token is opaque, only the API can tell",
        "source       PLATFORM_TOKEN",
        "settings     the environment",
        "ends         unknown",
      ].join("\n"),
    );
    expect(bench.emulator.requests).toHaveLength(0);
  });

  test("ends with 3 where the token has ended, and says when that was", async () => {
    process.env["PLATFORM_TOKEN"] = jwt({ sub: "x", exp: Math.floor(Date.now() / 1000) - 7300 });
    await expect(whoami([])).resolves.toBe(3);
    expect(bench.printed.join("\n")).toMatch(/^ends {9}ended 2 hours ago \(/m);
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

  test.each([
    [{ PLATFORM_BASE_URL: "" }, 2, "the address of the API is missing"],
    [{ PLATFORM_BASE_URL: "acme" }, 2, "PLATFORM_BASE_URL must be"],
    [{ PLATFORM_TOKEN: "" }, 3, "the access token is missing"],
  ])("with %j ends with %i", async (env, code, message) => {
    const set = { PLATFORM_BASE_URL: bench.emulator.url, PLATFORM_TOKEN: "t", ...env };
    const ended = await runCommand(whoami, [], set);
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  test("refuses arguments that it does not know, in one line", async () => {
    await expect(whoami(["--nope"])).rejects.toMatchObject({ code: "USAGE" });
    await expect(whoami(["-o", "yaml"])).rejects.toThrow('--output must be one of text, json, not "yaml"');
  });
});
