import { execFileSync, spawnSync } from "node:child_process";
import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { main as explain } from "../../../../provider/cli/commands/explain";
import { matchingFiles } from "../../../../provider/cli/input/readFiles";
import { writeText } from "../../../../provider/cli/output/writeFiles";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

describe("what a command writes to a file", () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);
  const modeOf = (name: string): number => statSync(at(name)).mode & 0o777;
  const write = (name: string): void => writeText(at(name), "new\n", "--output");

  beforeEach(() => {
    folder = temporaryFolder();
  });

  test.each([0o600, 0o640, 0o755])(
    "keeps the mode %o of a file that exists, and no temporary file",
    (mode) => {
      writeFileSync(at("report.json"), "old");
      chmodSync(at("report.json"), mode);
      const { ino } = statSync(at("report.json"));
      write("report.json");
      expect(modeOf("report.json")).toBe(mode);
      expect(readFileSync(at("report.json"), "utf8")).toBe("new\n");
      expect(readdirSync(folder)).toEqual(["report.json"]);
      // A new file took its name, so that nobody reads a half.
      expect(statSync(at("report.json")).ino).not.toBe(ino);
    },
  );

  test("gives a private file mode 600, whatever mode it had before", () => {
    writeFileSync(at("state.json"), "old", { mode: 0o644 });
    writeText(at("state.json"), "new\n", "--out", { isPrivate: true });
    expect(modeOf("state.json")).toBe(0o600);
  });

  test("follows links, also a chain and one to a file that does not exist, and leaves them in place", () => {
    mkdirSync(at("real"));
    writeFileSync(at("real/report.json"), "old", { mode: 0o600 });
    symlinkSync("real/report.json", at("first"));
    symlinkSync("first", at("second"));
    symlinkSync("real/later.json", at("later"));
    write("second");
    write("later");
    expect(readlinkSync(at("second"))).toBe("first");
    expect(readFileSync(at("real/report.json"), "utf8")).toBe("new\n");
    expect(modeOf("real/report.json")).toBe(0o600);
    expect(readFileSync(at("real/later.json"), "utf8")).toBe("new\n");
    expect(lstatSync(at("later")).isSymbolicLink()).toBe(true);
  });

  test("refuses a folder, a circle of links, and a folder that does not exist, and leaves nothing", () => {
    mkdirSync(at("folder"));
    symlinkSync("circle", at("circle"));
    expect(() => write("folder")).toThrow(/^--output names .*folder, .*: it is a folder; name a file$/);
    expect(() => write("circle")).toThrow("its symbolic links form a circle");
    expect(() => write("none/report.json")).toThrow("file or folder not found");
    writeFileSync(at("file"), "");
    expect(() => write("file/report.json")).toThrow("a part of the path is a file, not a folder");
    expect(readdirSync(folder).sort()).toEqual(["circle", "file", "folder"]);
    expect(readdirSync(at("folder"))).toEqual([]);
  });

  test.each([
    ["accessSync", "EACCES", "permission denied"],
    ["renameSync", "ENOSPC", "no space left on the disk"],
  ] as const)("where %s fails with %s, the file stays, and no other one", (call, code, reason) => {
    writeFileSync(at("report.json"), "old");
    const failing = jest.spyOn(fs, call).mockImplementation(() => {
      throw Object.assign(new Error(), { code });
    });
    expect(() => write("report.json")).toThrow(reason);
    failing.mockRestore();
    expect(readdirSync(folder)).toEqual(["report.json"]);
    expect(readFileSync(at("report.json"), "utf8")).toBe("old");
  });

  test("writes to a device, which stays one", () => {
    writeText("/dev/null", "new\n", "--output");
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });

  test.each(["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])(
    "takes %s for standard output",
    async (path) => {
      const plain = await runCommand(explain, ["G1", "-o", "json"], {});
      expect(await runCommand(explain, ["G1", "-o", `json=${path}`], {})).toEqual(plain);
      expect(await runCommand(explain, ["-o", "md", "-o", `json=${path}`], {})).toMatchObject(
        ending(2, "names stdout twice"),
      );
    },
  );

  test("writes to a fifo and to an open file through the built command", () => {
    execFileSync("mkfifo", [at("fifo")]);
    const main = join(__dirname, "../../../../dist/provider/cli/main.js");
    const script = `trap 'kill $! 2> /dev/null' EXIT; cat "$2/fifo" > "$2/read" & node "$1" explain G1 -o json="$2/fifo" && wait && [ -p "$2/fifo" ] &&
      node "$1" explain G1 -o json=/dev/fd/3 3>"$2/three" && node "$1" explain G1 -o json=/dev/stdout > "$2/one" &&
      { echo before; node "$1" explain G1 -o json=/dev/stdout; echo after; } > "$2/group"`;
    const { status, stderr } = spawnSync("bash", ["-c", script, "bash", main, folder], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const read = readFileSync(at("read"), "utf8");
    expect(JSON.parse(read)).toMatchObject({ rules: [{ id: "G1" }] });
    for (const name of ["three", "one"]) expect(readFileSync(at(name), "utf8")).toBe(read);
    expect(readFileSync(at("group"), "utf8")).toBe(`before\n${read}after\n`);
  });

  test("no command writes a file by other means", () => {
    const cli = join(__dirname, "../../../../provider/cli");
    const sources = readdirSync(cli, { recursive: true, encoding: "utf8" });
    const writing = /\b(writeFile|writeFileSync|createWriteStream|renameSync)\(/;
    const writers = sources.filter(
      (name) => name.endsWith(".ts") && writing.test(readFileSync(join(cli, name), "utf8")),
    );
    expect(writers.sort()).toEqual([join("output", "writeFiles.ts")]);
  });
});

describe("the pattern of --state", () => {
  const folder = temporaryFolder();
  beforeAll(() => {
    mkdirSync(join(folder, "deep"));
    const names = "export-b.json export-a.json other.txt .export-c.json deep/export-d.json odd[1].json odd*";
    for (const name of names.split(" ")) writeFileSync(join(folder, name), "{}");
  });

  test.each([
    ["export*.json", ["export-a.json", "export-b.json"]],
    ["export-?.json", ["export-a.json", "export-b.json"]],
    ["**/export*.json", ["deep/export-d.json", "export-a.json", "export-b.json"]],
    ["export-{a,b}.json", ["export-a.json", "export-b.json"]],
    ["odd[1].json", ["odd[1].json"]],
    ["odd*", ["odd*"]],
    ["none.json", ["none.json"]],
  ])("%s names %j", (pattern, names) => {
    expect(matchingFiles(join(folder, pattern), "--state")).toEqual(names.map((name) => join(folder, name)));
  });

  test("is refused where nothing matches", () => {
    expect(() => matchingFiles(join(folder, "x*.json"), "--state")).toThrow(
      expect.objectContaining({
        errorCode: "PP5007",
        message: expect.stringMatching(/^--state: no file matches .*x\*\.json$/) as string,
      }) as Error,
    );
  });
});
