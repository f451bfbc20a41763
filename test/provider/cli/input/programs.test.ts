import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { main as adopt } from "../../../../provider/cli/commands/adopt/adopt";
import { main as doctor } from "../../../../provider/cli/commands/doctor";
import { main as drift } from "../../../../provider/cli/commands/drift";
import { main as init } from "../../../../provider/cli/commands/init/init";
import { main as inventory } from "../../../../provider/cli/commands/inventory";
import { main as review } from "../../../../provider/cli/commands/review";
import { main as verify } from "../../../../provider/cli/commands/verify";
import { main as watch } from "../../../../provider/cli/commands/watch/watch";
import { main as whoami } from "../../../../provider/cli/commands/whoami";
import { findProgram } from "../../../../provider/cli/input/programs";
import { ROOT } from "../../../support/engine";
import { runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

let folder: string;
let before: string;
beforeEach(() => {
  before = process.cwd();
  folder = temporaryFolder();
  writeFileSync(join(folder, "Pulumi.yaml"), "name: access\nruntime: nodejs\n");
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(before);
});

/** Puts a program into a folder, which notes that it ran, and with which PATH. */
function install(path: string, name: string): string {
  mkdirSync(join(folder, path), { recursive: true });
  const script = `#!/bin/sh\nprintf '%s' "$PATH" > '${folder}/${path.replaceAll("/", "-")}.ran'\nexit 1\n`;
  writeFileSync(join(folder, path, name), script, { mode: 0o755 });
  return join(folder, path);
}
const pathSeenBy = (path: string): string | undefined => {
  const file = join(folder, `${path.replaceAll("/", "-")}.ran`);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
};

/** The entries of PATH in which whoever writes a dependency or a file of the repository can put a program. */
const UNTRUSTED: Readonly<Record<string, (name: string) => string>> = {
  "the programs of dependencies": (name) => install("node_modules/.bin", name),
  "those of a folder above": (name) => `${install("node_modules/a/node_modules/.bin", name)}/`,
  "a link to them": (name) => {
    symlinkSync(install("node_modules/linked", name), join(folder, "bin"));
    return join(folder, "bin");
  },
  "a relative folder": (name) => {
    install("tools", name);
    return "tools";
  },
  "the current folder": (name) => {
    install(".", name);
    return "";
  },
  "a dot": (name) => {
    install(".", name);
    return ".";
  },
};

test.each(Object.entries(UNTRUSTED))("a program is not looked for in %s", (_, entry) => {
  const untrusted = entry("pulumi");
  const machine = install("machine", "pulumi");
  expect(findProgram("pulumi", { PATH: untrusted })).toBeUndefined();
  expect(findProgram("pulumi", { PATH: [untrusted, machine].join(delimiter), A: "1" })).toEqual({
    file: join(machine, "pulumi"),
    env: { PATH: machine, A: "1" },
  });
});

test("nor in the temporary folder that yarn fills with the programs of dependencies", () => {
  const temporary = install("xfs-1", "git");
  expect(findProgram("git", { PATH: temporary, BERRY_BIN_FOLDER: temporary })).toBeUndefined();
  expect(findProgram("git", { PATH: temporary })?.file).toBe(join(temporary, "git"));
});

test("a folder or a file that cannot run is no program", () => {
  mkdirSync(join(folder, "first", "git"), { recursive: true });
  mkdirSync(join(folder, "second"));
  writeFileSync(join(folder, "second", "git"), "", { mode: 0o644 });
  const third = install("third", "git");
  const PATH = [join(folder, "first"), join(folder, "second"), third].join(delimiter);
  expect(findProgram("git", { PATH })?.file).toBe(join(third, "git"));
});

const PREVIEW = join(ROOT, "test/fixtures/previews/update-shown.json");
const STACK = ["--stack", "acme/access/prod"];

/** Each command that starts a program. */
const COMMANDS: readonly [string, typeof doctor, readonly string[]][] = [
  ["pulumi", doctor, []],
  ["pulumi", whoami, STACK],
  ["pulumi", inventory, ["--root", "acme", ...STACK]],
  ["pulumi", drift, ["--root", "acme", ...STACK]],
  ["pulumi", adopt, ["--root", "acme", "--out", ".", ...STACK]],
  ["pulumi", watch, ["--group", "0".repeat(40), "--issuer", "https://issuer.example", ...STACK]],
  ["pulumi", verify, ["report.json", ...STACK]],
  ["git", review, [PREVIEW, "--policy", "access-policy.yaml", "--base-ref", "main"]],
  ["git", init, [".", "--ci", "github"]],
];

/** Runs a command with two programs of this name on PATH: one of a dependency, then the machine's. */
async function runWithPrograms(
  name: string,
  main: typeof doctor,
  argv: readonly string[],
): Promise<{ code: number; output: string }> {
  writeFileSync(join(folder, "access-policy.yaml"), "allow: []\n");
  const PATH = [install("node_modules/.bin", name), "", install("machine", name)].join(delimiter);
  const env = { PATH, PLATFORM_BASE_URL: "http://127.0.0.1:9", PLATFORM_TOKEN: "token" };
  const { code, stdout, stderr } = await runCommand(main, argv, env);
  return { code, output: stdout + stderr };
}

const writeReport = () => runCommand(review, [PREVIEW, "-o", "json=report.json"], { PATH: "" });

test.each(COMMANDS)("no dependency's %s runs in place of the machine's", async (name, main, argv) => {
  if (main === verify) await writeReport();
  await runWithPrograms(name, main, argv);
  expect(pathSeenBy("node_modules/.bin")).toBeUndefined();
  expect(pathSeenBy("machine")).toBe(join(folder, "machine"));
});

test.each([
  ...COMMANDS.filter(([name]) => name === "pulumi"),
  ["git", review, [PREVIEW]] as const,
  ["git", review, [PREVIEW, "--project", "."]] as const,
])(
  "no command that starts %s works on a stack whose file sets environment variables",
  async (name, main, argv) => {
    if (main === verify) await writeReport();
    for (const stack of ["prod", "production"]) {
      writeFileSync(join(folder, `Pulumi.${stack}.yaml`), "environment: [acme/evil]\n");
    }
    const { code, output } = await runWithPrograms(name, main, argv);
    expect(code).not.toBe(0);
    expect(output).toMatch(/environment of .*Pulumi\.prod\w*\.yaml: Pulumi ESC sets environment variables/);
    expect(output).toContain("(PP2012)");
    if (main !== doctor && main !== review) expect(pathSeenBy("machine")).toBeUndefined();
  },
);
