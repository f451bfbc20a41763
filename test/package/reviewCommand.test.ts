import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { main as reviewMain } from "../../provider/cli/commands/review";
import { runCommand } from "../provider/cli/support";
import type { Ended } from "../provider/cli/support";
import { QUICK_PROCESSES } from "../../scripts/lib/quickProcesses.cjs";
import { ROOT } from "../support/engine";
import { temporaryFolder } from "../support/folders";

const MAIN = join(ROOT, "dist/provider/cli/main.js");
const FIXTURES = join(ROOT, "test/fixtures/previews");
const fixture = (name: string): string => join(FIXTURES, name);

interface Surroundings {
  /** What comes from standard input; it stays open where a signal ends the command. */
  readonly stdin?: string | Buffer;
  readonly env?: Record<string, string>;
  /** Closes stdout before anything can be written. */
  readonly closed?: boolean;
  /** Where stdout goes in place of a pipe. */
  readonly stdoutFile?: string;
  readonly kill?: NodeJS.Signals;
}

function pulumiPlatform(args: readonly string[], { stdin = "", ...given }: Surroundings = {}) {
  const { env, closed, stdoutFile, kill } = given;
  const target = stdoutFile === undefined ? undefined : openSync(stdoutFile, "w");
  return new Promise<Omit<Ended, "code"> & { code: number | null; signal: string | null }>((done, failed) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: ROOT,
      env: { PATH: process.env["PATH"], NO_COLOR: "1", ...QUICK_PROCESSES, ...env },
      stdio: ["pipe", target ?? "pipe", "pipe"],
    }) as ChildProcessByStdio<Writable, Readable | null, Readable>;
    let [stdout, stderr] = ["", ""];
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    if (closed) child.stdout?.destroy();
    // A command that ends before it reads all of its input is not this test's failure.
    child.stdin.on("error", () => undefined);
    if (kill === undefined) child.stdin.end(stdin);
    else child.once("spawn", () => child.kill(kill));
    child.once("error", failed);
    child.once("close", (code, signal) => done({ code, signal, stdout, stderr }));
  }).finally(() => {
    if (target !== undefined) closeSync(target);
  });
}

/** Runs a command where a process of its own proves nothing more: others of the same kind have one. */
const inProcess = ([, ...args]: readonly string[]) => runCommand(reviewMain, args, { NO_COLOR: "1" });

const folder = temporaryFolder();

describe("the exit code of pulumi-platform review", () => {
  // A process of its own for one run of each code; for the others it proves nothing more.
  test.each([
    ["0 where nothing changes", 0, pulumiPlatform, ["same-shown.json"]],
    ["5 where a finding is bad enough", 5, pulumiPlatform, ["update-shown.json"]],
    ["4 where the preview failed", 4, pulumiPlatform, ["program-fails.json"]],
    ["5 where it does not show enough, but enough to find something", 5, inProcess, ["update.json"]],
    ["0 where findings do not count", 0, inProcess, ["update-shown.json", "--fail-on", "never"]],
    ["0 where findings are only shown", 0, inProcess, ["update-shown.json", "--exit-zero"]],
    ["4 where it failed and findings are only shown", 4, inProcess, ["program-fails.json", "--exit-zero"]],
    ["4 where it does not show enough", 4, inProcess, ["update.json", "--fail-on", "never"]],
  ])("is %s", async (_what, code, run, [name = "", ...flags]) => {
    const ended = await run(["review", fixture(name), ...flags]);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code, stderr: "" });
    expect(ended.stdout).not.toBe("");
  });

  const none = fixture("none.json");
  const noFlag = /unknown option --colour; see npx --no pulumi-platform review --help \(PP5001\)/;
  test.each([
    [/review takes one preview: write it with .*/, pulumiPlatform, []],
    [/the preview: .*none\.json cannot be read: file or folder not found \(PP5005\)/, pulumiPlatform, [none]],
    [/standard input is empty: did the command .* fail\? \(PP6001\)/, pulumiPlatform, ["-"]],
    [/review takes one preview: .*/, inProcess, ["a", "b"]],
    [noFlag, inProcess, ["-", "--colour"]],
    [/only one document can come from standard input \(PP5003\)/, inProcess, ["-", "--before", "-"]],
  ])("is 2, with the one line %s", async (message, run, args) => {
    const ended = await run(["review", ...args]);
    expect(ended).toMatchObject({
      ...{ code: 2, stdout: "" },
      stderr: expect.stringMatching(new RegExp(`^pulumi-platform: ${message.source}\n$`)) as string,
    });
  });

  test.each(["SIGINT", "SIGTERM"] as const)("is that of the shell for %s, without output", async (kill) => {
    const ended = await pulumiPlatform(["review", "-"], { kill });
    expect(ended).toEqual({ code: null, signal: kill, stdout: "", stderr: "" });
  });
});

describe("output that cannot be written", () => {
  const calls: [string[], number][] = [
    [["--version"], 1],
    [["review", fixture("same-shown.json")], 1],
    [["review", fixture("same-shown.json"), "-o", "text=/dev/stdout"], 1],
    [["review", fixture("update-shown.json")], 5],
  ];

  test.each(calls)(
    "ends %j with %i where the reader has closed the pipe, or the disk is full",
    async (args, code) => {
      for (const [where, why] of [
        [{ closed: true }, "was closed before everything was written"],
        [{ stdoutFile: "/dev/full" }, "cannot be written: no space left on the disk"],
      ] as const) {
        const ended = await pulumiPlatform(args, where);
        const stderr = `pulumi-platform: standard output ${why} (PP5006)\n`;
        expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code, stderr });
      }
    },
  );

  test("ends with 2 where it is a file that a flag names", async () => {
    const ended = await pulumiPlatform(["review", fixture("same-shown.json"), "-o", "text=/dev/full"]);
    expect(ended).toMatchObject({
      code: 2,
      stderr:
        "pulumi-platform: --output names /dev/full, which cannot be written: no space left on the disk (PP5006)\n",
    });
  });
});

describe("the output of pulumi-platform review", () => {
  test("comes from standard input, with Windows' newlines too, and goes to files", async () => {
    const json = join(folder, "review.json");
    const stdin = readFileSync(fixture("update-shown.json"), "utf8").replaceAll("\n", "\r\n");
    const ended = await pulumiPlatform(["review", "-", "-o", `json=${json}`, "--fail-on", "never"], {
      stdin,
    });
    expect(ended).toMatchObject({ code: 0, stdout: "" });
    expect(ended.stderr).toMatch(
      /^pulumi-platform review: 0 gained, 1 lost, 3 widened, 0 narrowed; 0 findings meet --fail-on\n$/,
    );
    expect(JSON.parse(readFileSync(json, "utf8"))).toMatchObject({
      schemaVersion: 2,
      command: "review",
      stacks: ["acme/production"],
      complete: true,
      summary: { lost: 1, widened: 3 },
    });
  });

  test("is Markdown in the step summary", async () => {
    const summary = join(folder, "summary.md");
    writeFileSync(summary, "before\n");
    await pulumiPlatform(["review", fixture("delete.json"), "--summary"], {
      env: { GITHUB_STEP_SUMMARY: summary },
    });
    const text = readFileSync(summary, "utf8");
    expect(text).toMatch(/^before\n/);
    expect(text).toContain("acme / payments");
  });
});
