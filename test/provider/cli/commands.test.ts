import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { allExitCodes, exitCodeRows, exitCodes } from "../../../provider/cli/framework/exitCodes";
import { commands } from "../../../provider/cli/commands/list";
import { main as completion } from "../../../provider/cli/commands/completion";
import { ending, runCommand } from "./support";
import { temporaryFolder } from "../../support/folders";

const names = commands.map(({ name }) => name);

describe.each(commands)("the command $name", ({ name, load }) => {
  test("prints a help with each flag, its choices and default, and its exit codes", async () => {
    const { main, description } = load();
    const { code, stdout, stderr } = await runCommand(main, ["--help"], {});
    expect({ code, stderr, name: description.name }).toEqual({ code: 0, stderr: "", name });
    const oneLine = stdout.replace(/\s+/g, " ");
    for (const [flag, { value, choices, default: usual }] of Object.entries(description.flags)) {
      expect(oneLine).toContain(`--${flag}${value === undefined ? "" : ` ${value}`} `);
      if (choices) expect(oneLine).toContain(choices.join(", "));
      if (usual) expect(oneLine).toContain(`default ${usual}`);
    }
    for (const [number, meaning] of exitCodeRows(description.exitCodes)) {
      expect(stdout).toContain(`\n  ${number}  ${meaning}\n`);
    }
    const hasFindings = description.exitCodes.some((one) => ["reviewFindings", "drift"].includes(one));
    expect(/If both apply, the exit code is [57], not 4\./.test(stdout)).toBe(hasFindings);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  test("refuses an unknown argument and flag in one line, and suggests the closest one", async () => {
    const { main, description } = load();
    if (description.arguments === undefined)
      expect(await runCommand(main, ["extra"], {})).toMatchObject(ending(2, 'unknown argument "extra"; see'));
    for (const flag of Object.keys(description.flags)) {
      const { code, stdout, stderr } = await runCommand(main, [`--${flag}x`], {});
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/^pulumi-platform: unknown option --[\w-]+ \(did you mean [^\n]+\n$/);
      expect(stderr).toContain(`--${flag}`);
    }
  });

  test("refuses an unknown, an empty and a missing value, and says what to write", async () => {
    const { main, description } = load();
    for (const [flag, { type, choices, value = "" }] of Object.entries(description.flags)) {
      if (type === "boolean") continue;
      const wrong = choices === undefined ? [] : [[[`--${flag}`, "?"], choices.join(", ")] as const];
      const cases = [[[`--${flag}`, ""], value] as const, [[`--${flag}`], value] as const, ...wrong];
      for (const [argv, expected] of cases) {
        const { code, stderr } = await runCommand(main, argv, {});
        expect({ code, argv }).toEqual({ code: 2, argv });
        expect(stderr).toMatch(new RegExp(`^pulumi-platform: --${flag} [^\\n]+\\n$`));
        expect(stderr).toContain(expected);
      }
    }
  });
});

test("the exit codes are distinct and have not changed", () => {
  expect(Object.entries(exitCodes).map(([name, code]) => `${code} ${name}`)).toEqual([
    ...["0 clean", "1 error", "2 usage", "3 authentication", "4 incomplete", "5 reviewFindings", "7 drift"],
  ]);
  expect(exitCodeRows(allExitCodes).map(([code]) => code)).toEqual([0, 1, 2, 3, 4, 5, 7]);
});

describe("pulumi-platform completion", () => {
  const folder = temporaryFolder();
  const script = join(folder, "completion.bash");

  beforeAll(async () => {
    const { code, stdout } = await runCommand(completion, ["bash"], {});
    expect(code).toBe(0);
    writeFileSync(script, stdout);
    writeFileSync(join(folder, "a file.json"), "{}");
  });

  /** What a real bash offers for the last of these words, split as bash splits a line. */
  function complete(...words: string[]): string[] {
    const code = `source "$1"; shift
complete -p pulumi-platform >/dev/null || exit 1
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
_pulumi_platform pulumi-platform "\${COMP_WORDS[COMP_CWORD]}"
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const argv = ["--norc", "--noprofile", "-c", code, "bash", script, "pulumi-platform", ...words];
    return execFileSync("bash", argv, { cwd: folder, encoding: "utf8" }).split("\n").filter(Boolean);
  }

  test("offers every command, and only flags of the command", () => {
    expect(complete("")).toEqual([...names, "--help", "--version"]);
    expect(complete("do")).toEqual(["doctor"]);
    for (const { name, load } of commands) {
      const { description } = load();
      const offered = complete(name, "--").filter((word) => word !== "--help");
      expect(offered).toEqual(Object.keys(description.flags).map((flag) => `--${flag}`));
    }
  });

  test.each([
    [["review", "--fail-on", "c"], ["critical"]],
    [["review", "--fail-on", "=", "c"], ["critical"]],
    [
      ["drift", "--fail-on", "="],
      ["any", "widened", "unmanaged", "never"],
    ],
    [["drift", "--post", ""], ["github-issue"]],
    [["review", "-o", "s"], ["sarif"]],
    [["review", "preview.json", "--output", "md", "=", "re"], []],
    [["review", "--self", ""], []],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["emulator", "--port", ""], []],
  ])("for %j offers %j", (words, offered) => {
    expect(complete(...words)).toEqual(offered);
  });

  test.each(["zsh", "fish"])("for %s names every command and flag", async (shell) => {
    const { stdout } = await runCommand(completion, [shell], {});
    for (const { name, load } of commands) {
      expect(stdout).toContain(name);
      for (const flag of Object.keys(load().description.flags)) {
        expect(stdout).toContain(shell === "zsh" ? `--${flag}[` : `-l ${flag} `);
      }
    }
  });

  test.each([[[]], [["pwsh"]], [["bash", "zsh"]]])("%j ends with 2", async (argv) => {
    expect(await runCommand(completion, argv, {})).toMatchObject(ending(2, "bash, zsh, fish"));
  });
});
