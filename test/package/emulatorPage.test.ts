import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import { ROOT } from "../support/engine";
import { fileNameOf, folderWithPackage, programsOf, readPage } from "../support/pages";
import { endChildren, run, signal, start } from "../support/project";

const page = readPage("docs/emulator.md");
let folder: string;

beforeAll(() => {
  folder = folderWithPackage("emulator-page");
});
afterAll(() => {
  endChildren();
  rmSync(folder, { recursive: true, force: true });
});

/** A free port in place of the page's, and the random token under the page's name for it. */
const comparable = (text: string): string =>
  text
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:8080")
    .replace(/^token: .*$/m, "token: <token>")
    .replace(/PLATFORM_TOKEN=.*/g, "PLATFORM_TOKEN=<token>");

test("the commands of the page run, and the first prints what the page shows", async () => {
  const [first, ...others] = programsOf(page, "sh");
  const child = start("bash", ["-c", first?.text.replace("--port 8080", "--port 0") ?? ""], { cwd: folder });
  let output = "";
  await new Promise<void>((resolve, reject) => {
    child.once("close", () => reject(new Error(`the emulator ended:\n${output}`)));
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.includes("press Ctrl+C")) resolve();
    });
  });
  const shown = page.fences.find(({ language }) => language === "text");
  expect(comparable(output)).toBe(shown?.text);
  const exports = output.match(/^ +export .*$/gm)?.join("\n") ?? "";
  expect(others).toHaveLength(4);
  for (const { text } of others) {
    const { code, output: printed } = await run("bash", ["-e", "-c", `${exports}\n${text}`], { cwd: folder });
    expect({ text, code, printed }).toEqual({
      text,
      code: 0,
      printed: expect.stringMatching(/Group|"by-hand"|"requests"|"hits":0/),
    });
  }
  signal(child, "SIGTERM");
});

test("the programs for jest pass", async () => {
  const programs = programsOf(page, "ts");
  expect(programs).toHaveLength(2);
  for (const program of programs) writeFileSync(join(folder, fileNameOf(program)), program.text);
  const transform = { "\\.ts$": [require.resolve("ts-jest"), { diagnostics: false, tsconfig: {} }] };
  const config = { rootDir: folder, testMatch: ["**/*.test.ts"], transform };
  const jest = join(ROOT, "node_modules", "jest", "bin", "jest.js");
  const { code, output } = await run(process.execPath, [jest, "--config", JSON.stringify(config)], {
    cwd: folder,
  });
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("3 passed") });
});

const hasPytest = spawnSync("python3", ["-m", "pytest", "--version"]).status === 0;
const whyNot = hasPytest ? "" : " (skipped: this machine has no python3 with pytest)";

(hasPytest ? test : test.skip)(`the program for pytest passes${whyNot}`, async () => {
  const programs = programsOf(page, "python");
  expect(programs).toHaveLength(1);
  for (const program of programs) writeFileSync(join(folder, fileNameOf(program)), program.text);
  const { code, output } = await run("python3", ["-m", "pytest", "-q", "-p", "no:cacheprovider"], {
    cwd: folder,
  });
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining("1 passed") });
});

test("the data file of the page is one that the emulator reads", async () => {
  const example = page.fences.find(({ language }) => language === "json");
  const dataFile = join(folder, "data.json");
  writeFileSync(dataFile, example?.text ?? "");
  const emulator = await startEmulator({ dataFile });
  const { groups } = emulator.state();
  await emulator.close();
  expect(groups).toMatchObject([{ name: "beta" }]);
});
