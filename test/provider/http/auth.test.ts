import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tokenSource } from "../../../provider/http/tokens";
import { temporaryFolder } from "../../support/folders";
import { errorOf } from "../support/server";

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
      message: `platform:tokenFile names a file that cannot be read (ENOENT): ${path}`,
    });
    await expect(inFile(folder).token()).rejects.toThrow("(EISDIR)");
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
