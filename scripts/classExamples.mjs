// @ts-check
/** Part of `npm run build`: ends the comment of each class in dist with the example of its page, which editors show. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { upperFirst } from "./lib/letterCase.cjs";
import { withClassExample } from "./lib/reference/classComment.mjs";

const root = path.join(import.meta.dirname, "..");
const examples = path.join(root, "examples/reference/resources");

for (const file of readdirSync(examples)) {
  const name = path.basename(file, ".ts");
  const declarations = path.join(root, "dist/provider/kinds", `${name}.d.ts`);
  if (!existsSync(declarations))
    throw new Error(`examples/reference/resources/${file} is the example of no kind: remove it`);
  // Lines move, and a map of them would then be wrong.
  if (existsSync(`${declarations}.map`))
    throw new Error("tsconfig.build.json must not write declaration maps: they would name wrong lines");
  const kind = upperFirst(name);
  const example = readFileSync(path.join(examples, file), "utf8");
  writeFileSync(declarations, withClassExample(readFileSync(declarations, "utf8"), kind, example));
}
