import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tokenSource } from "../../../provider/http/tokens";
import { errorOf } from "../support/server";

const CANARY = "canary-token-2718281828";
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pulumi-platform-auth-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

describe("a token that is set", () => {
  test("is used without the white space around it", async () => {
    const source = tokenSource({ kind: "token", token: ` ${CANARY}\n`, setting: "PLATFORM_TOKEN" });
    await expect(source.token()).resolves.toBe(CANARY);
  });

  test("cannot be renewed", async () => {
    const source = tokenSource({ kind: "token", token: CANARY, setting: "PLATFORM_TOKEN" });
    await expect(source.renew(CANARY)).resolves.toBe(false);
  });

  test.each([
    ["  ", "platform:token is empty: it must hold the access token"],
    ...["/run/secrets/token", "./token", "../token", "~/token", "C:\\token", "d:/token"].map((path) => [
      path,
      "platform:token holds a path, not a token: name the file with PLATFORM_TOKEN_FILE or platform:tokenFile",
    ]),
    ...["two words", "two\nlines", "tökén", "nul\u0000"].map((token) => [
      token,
      "platform:token holds spaces, line breaks or other characters that no token has",
    ]),
  ])("%j is refused at its first use, by the name of the setting", async (token, message) => {
    const source = tokenSource({ kind: "token", token, setting: "platform:token" });
    const error = await errorOf(source.token());
    expect(error).toMatchObject({ name: "ConfigError", errorCode: "PP2007", message });
  });
});

describe("a token in a file", () => {
  test("is read at each use, so that a new token is used at once", async () => {
    const path = file("rotating", `${CANARY}\n`);
    const source = tokenSource({ kind: "tokenFile", path, setting: "PLATFORM_TOKEN_FILE" });
    await expect(source.token()).resolves.toBe(CANARY);
    await expect(source.renew(CANARY)).resolves.toBe(false);
    writeFileSync(path, "another-token");
    await expect(source.token()).resolves.toBe("another-token");
    await expect(source.renew(CANARY)).resolves.toBe(true);
  });

  test("that is missing is an error with the setting, the path and the reason", async () => {
    const path = join(folder, "missing");
    const error = await errorOf(
      tokenSource({ kind: "tokenFile", path, setting: "platform:tokenFile" }).token(),
    );
    expect(error).toMatchObject({
      name: "ConfigError",
      message: `platform:tokenFile names a file that cannot be read (ENOENT): ${path}`,
    });
    const directory = tokenSource({ kind: "tokenFile", path: folder, setting: "PLATFORM_TOKEN_FILE" });
    expect((await errorOf(directory.token())).message).toContain("(EISDIR)");
  });

  test.each([CANARY, "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl"])(
    "whose name is a token is an error without that name: %#",
    async (path) => {
      const source = tokenSource({ kind: "tokenFile", path, setting: "PLATFORM_TOKEN_FILE" });
      const error = await errorOf(source.token());
      expect(error.message).toBe(
        "PLATFORM_TOKEN_FILE seems to hold a token: it must name a file; a token itself goes into PLATFORM_TOKEN",
      );
    },
  );
});
