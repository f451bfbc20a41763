import { evaluate } from "./support";

test("each mutation still has its place in the sources", async () => {
  const apply = `m.mutations.map((one) => {
    const text = process.getBuiltinModule("node:fs").readFileSync(one.file, "utf8");
    return [...text.matchAll(new RegExp(one.find, "g"))].length === 1 ? [] : [one.name];
  }).flat()`;
  expect(await evaluate("mutations.mjs", apply)).toEqual([]);
  expect(await evaluate("mutations.mjs", "m.mutations.length")).toBe(10);
});
