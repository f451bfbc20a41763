import { delimiter, join } from "node:path";
import { evaluate, removeTemporaryFolders, script, start, temporaryFolder, writeProgram } from "./support";

afterAll(removeTemporaryFolders);

test("the oldest version is the first of the range that package.json supports", async () => {
  expect(await evaluate("matrix.mjs", `m.oldestOf(">=3.216.0 <4")`)).toBe("3.216.0");
});

test("a version that cannot be installed is a failure that says that nothing ran, and why", async () => {
  const [folder, bin] = [temporaryFolder(), temporaryFolder()];
  writeProgram(join(bin, "npm"), `console.error("npm error notarget no such version"); process.exit(1);`);
  const at = JSON.stringify({ pulumiDir: bin, folder, selection: [] });
  const body = `console.log(await m.passes(${JSON.stringify(folder)}, { node: "20", sdk: "3.216.0" }, ${at}));`;
  const env = { ...process.env, PATH: [bin, process.env["PATH"]].join(delimiter) };
  const { code, stdout } = await start(script("matrix.mjs", body), env).ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Node 20 and SDK 3\.216\.0: NOT RUN; npm install [^]*no such version\s+false\n$/);
});
