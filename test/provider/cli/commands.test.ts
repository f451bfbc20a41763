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

  /** What a shell is offered for the last of these words. */
  async function complete(...words: string[]): Promise<string[]> {
    const { code, stdout } = await runCommand(completion, ["words", "--", ...words], {});
    expect(code).toBe(0);
    return stdout.split("\n").filter(Boolean);
  }

  test("offers every command, and only flags of the command", async () => {
    expect(await complete("")).toEqual([...names, "--help", "--version"]);
    expect(await complete("do")).toEqual(["doctor"]);
    for (const { name, load } of commands) {
      const { description } = load();
      const offered = (await complete(name, "--")).filter((word) => word !== "--help");
      expect(offered).toEqual(Object.keys(description.flags).map((flag) => `--${flag}`));
    }
  });

  test.each([
    ["review --fail-on c", "critical"],
    ["review --fail-on = c", "critical"],
    ["review --fail-on=c", "--fail-on=critical"],
    ["drift --fail-on =", "any widened unmanaged never"],
    ["drift --post ", "github-issue"],
    ["review -o s", "sarif"],
    ["review preview.json --output md = re", ""],
    ["review --self ", ""],
    ["nothing -", "--help -h"],
    ["completion ", "bash zsh fish"],
    ["emulator --port ", ""],
  ])("for %j offers %j", async (line, offered) => {
    expect((await complete(...line.split(" "))).join(" ")).toBe(offered);
  });

  test("a real bash asks the program that wrote the script for the words up to the cursor", async () => {
    const [program, script] = [join(folder, "it's a program"), join(folder, "completion.bash")];
    writeFileSync(program, "#!/bin/bash\nprintf '<%s>\\n' \"$@\"\n", { mode: 0o755 });
    const { argv } = process;
    process.argv = ["node", program];
    const { stdout } = await runCommand(completion, ["bash"], {});
    process.argv = argv;
    writeFileSync(script, stdout);
    const code = `source "$1"; complete -p pulumi-platform >/dev/null || exit 1
COMP_WORDS=(pulumi-platform review -o "a b" later); COMP_CWORD=3
_pulumi_platform
printf '%s\\n' "\${COMPREPLY[@]}"`;
    const offered = execFileSync("bash", ["--norc", "--noprofile", "-c", code, "bash", script], {
      encoding: "utf8",
    });
    expect(offered).toBe("<completion>\n<words>\n<-->\n<review>\n<-o>\n<a b>\n");
  });

  test.each(["zsh", "fish"])("for %s asks for the words too", async (shell) => {
    const { stdout } = await runCommand(completion, [shell], {});
    expect(stdout).toContain(" completion words -- ");
  });

  test.each([[[]], [["pwsh"]], [["toString"]], [["bash", "zsh"]]])("%j ends with 2", async (argv) => {
    expect(await runCommand(completion, argv, {})).toMatchObject(ending(2, "bash, zsh, fish"));
  });
});
