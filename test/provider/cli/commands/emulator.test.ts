import { main } from "../../../../provider/cli/commands/emulator";
import { runCommand } from "../support";

describe("emulator", () => {
  test.each([
    [["--port", "x"], 2, /^pulumi-platform: --port must be [^\n]+ \(PP8101\)\n$/],
    [
      ["--port", "0", "--data", "/nowhere/state.json"],
      1,
      /^pulumi-platform: cannot write data file [^\n]+ \(PP8102\)\n$/,
    ],
  ])("%j ends with %i, and says why", async (argv, expected, message) => {
    const { code, stderr } = await runCommand(main, argv, {});
    expect({ code, stderr }).toEqual({ code: expected, stderr: expect.stringMatching(message) });
  });
});
