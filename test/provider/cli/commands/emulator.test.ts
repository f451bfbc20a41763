import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { join } from "node:path";
import { main } from "../../../../provider/cli/commands/emulator";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

describe("emulator", () => {
  const folder = temporaryFolder();
  let busy: Server;
  const GARBAGE = "\0\x1b[31mnot json";

  beforeAll(async () => {
    busy = createServer();
    await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
    writeFileSync(join(folder, "garbage"), GARBAGE);
    writeFileSync(join(folder, "other.json"), '{"version":9}');
    writeFileSync(join(folder, "deep.json"), `{"version":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);
    symlinkSync(join(folder, "other.json"), join(folder, "link"));
  });

  afterAll(async () => {
    await new Promise((resolve) => busy.close(resolve));
  });

  const data = (name: string) => () => ["--data", join(folder, name)];

  const taken = () => ["--port", String((busy.address() as AddressInfo).port)];
  const elsewhere = () => ["--host", "192.0.2.1"];
  test.each<[RegExp, () => string[]]>([
    [/--port must be .+ \(PP8101\)/, () => ["--port", "x"]],
    [/--port must be a number from 0 to 65535/, () => ["--port", "70000"]],
    [/--deliver-to must be/, () => ["--deliver-to", "https://example.com"]],
    [/--latency must be a time/, () => ["--latency=-5ms"]],
    [
      /cannot listen on 127\.0\.0\.1:\d+: another process listens there; give another --port.+ \(PP8102\)/,
      taken,
    ],
    [/cannot listen on 192\.0\.2\.1:0: it is not an address of this machine.+ \(PP8102\)/, elsewhere],
    [/data file .+ is broken, and left as it is: .+ \(PP8102\)/, data("garbage")],
    [/data file .+ is broken.+: "version" must be 1 \(PP8102\)/, data("other.json")],
    [/data file .+ is broken.+ \(PP8102\)/, data("deep.json")],
    [/cannot read data file .+ \(PP8102\)/, data(".")],
    [/cannot read data file .+ symbolic link.+ \(PP8102\)/, data("link")],
    [/cannot write data file .+ \(PP8102\)/, data("no/state.json")],
  ])("ends with 2, and says in one line %s", async (message, argv) => {
    const ended = await runCommand(main, argv(), {});
    expect(ended).toMatchObject({ ...ending(2, message), stdout: "" });
    expect(ended.stderr).toMatch(/^pulumi-platform: [^\p{Cc}]+\n$/u);
    expect(readFileSync(join(folder, "garbage"), "utf8")).toBe(GARBAGE);
  });
});
