import { ping } from "../../../provider/index";
import { ProgramContext } from "../support/program";
import { errorOf, htmlPage, TOKEN, wrongAddress } from "../support/server";

const context = new ProgramContext().install();

test("ping fails where the address is wrong", async () => {
  context.server.script([{ text: htmlPage }, wrongAddress]);
  expect((await errorOf(ping())).message).toMatch(/^ping: .*this is not the Platform API/);
  expect((await errorOf(ping())).message).toMatch(
    /^ping: GET \/ping\/v2\/ping: NOT_FOUND \(HTTP 404\): Not Found; no such API endpoint: http:\S+\/ping\/v2\/ping; check platform:baseUrl /,
  );
});

test("ping prints a line for each request if the log is on, without the token", async () => {
  process.env["PLATFORM_LOG"] = "debug";
  context.server.script([{ json: { response: "pong" } }]);
  const lines: string[] = [];
  const write = jest
    .spyOn(process.stderr, "write")
    .mockImplementation((line) => lines.push(String(line)) > 0);
  await ping();
  write.mockRestore();
  expect(lines).toEqual([
    expect.stringMatching(/^platform: GET \/ping\/v2\/ping -> 200 in \d+ ms \(attempt 1\)\n$/),
  ]);
  expect(lines.join("")).not.toContain(TOKEN);
});
