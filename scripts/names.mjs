// @ts-check
/**
 * `npm run check:names`: a name that other files import is declared by one file of its package, so that it means one thing
 * wherever it stands. Prints the others, and ends with 1. What only its own file knows may be called as elsewhere.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);

/** Names that other files never use alone, by the folder or the file that declares them. */
const QUALIFIED = new Map([
  // A command: list.ts loads it by these names.
  ["provider/cli/commands", ["command", "flags", "main"]],
]);

/** A declaration at the top of a file, as Prettier writes it. */
const DECLARATION =
  /^(export )?(?:abstract )?(?:async )?(?:const (\{[^}]*\})|(?:const|let|function\*?|class|interface|type|enum) (\w+))/gm;

/** The names that a text without templates declares, and whether it exports them. @param {string} text */
const declarationsIn = (text) =>
  [...text.matchAll(DECLARATION)].flatMap(([, exported, names, name]) =>
    (names?.match(/\w+(?=\s*[,}])/g) ?? [String(name)]).map((one) => ({
      name: one,
      isExported: exported !== undefined,
    })),
  );

/** The exported names that more than one file of a folder declares, each with these files. @param {string} folder */
function sharedNames(folder) {
  /** @type {Map<string, Set<string>>} */
  const files = new Map();
  const exported = new Set();
  for (const entry of readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith(".ts")) continue;
    const file = path.posix.join(folder, entry.split(path.sep).join("/"));
    // The same classes in their other form.
    if (file === "provider/native/index.ts") continue;
    const allowed = [...QUALIFIED].flatMap(([place, names]) =>
      file === place || file.startsWith(`${place}/`) ? names : [],
    );
    for (const { name, isExported } of declarationsIn(
      readFileSync(path.join(root, file), "utf8").replace(/`[^`]*`/g, "``"),
    )) {
      if (allowed.includes(name)) continue;
      files.set(name, (files.get(name) ?? new Set()).add(file));
      if (isExported) exported.add(name);
    }
  }
  return [...files].filter(([name, places]) => places.size > 1 && exported.has(name));
}

// The emulator shares nothing with the provider: it may describe the same thing by the same name.
const shared = ["provider", "emulator"].flatMap(sharedNames);
for (const [name, places] of shared.sort()) console.log(`${name}: ${[...places].join(", ")}`);
if (shared.length > 0) {
  console.error(`${shared.length} names are declared in more than one file: let one of them say more`);
  process.exitCode = 1;
}
