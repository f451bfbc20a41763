import { readdirSync } from "node:fs";
import { join } from "node:path";
import { evaluate, projectRoot } from "./support";

test("each mutation still has its place in the sources", async () => {
  const apply = `m.mutations.map((one) => {
    const text = process.getBuiltinModule("node:fs").readFileSync(one.file, "utf8");
    return [...text.matchAll(new RegExp(one.find, "g"))].length === 1 ? [] : [one.name];
  }).flat()`;
  expect(await evaluate("mutations.mjs", apply)).toEqual([]);
  expect(await evaluate("mutations.mjs", "m.mutations.length")).toBe(10);
});

test("each mutation names tests that `npm test` runs", async () => {
  const files = ["provider", "emulator"].flatMap((folder) =>
    readdirSync(join(projectRoot, "test", folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => `test/${folder}/${name}`),
  );
  const patterns = (await evaluate("mutations.mjs", "m.mutations.map(({ tests }) => tests)")) as string[];
  const matchless = patterns.filter((pattern) => !files.some((file) => new RegExp(pattern).test(file)));
  expect(matchless).toEqual([]);
});
