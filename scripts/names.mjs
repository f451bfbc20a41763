// @ts-check
/**
 * `npm run check:names`: a name that other files import is declared by one file of its package, so that it means one thing
 * wherever it stands. Prints the others, and ends with 1. What only its own file knows may be called as elsewhere.
 */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const root = path.dirname(import.meta.dirname);

/** Names that other files never use alone, by the folder or the file that declares them. */
const QUALIFIED = new Map([
  // A command: list.ts loads it by these names.
  ["provider/cli/commands", ["command", "flags", "main"]],
]);

/** @param {ts.Statement} statement */
const isExported = (statement) =>
  ts.canHaveModifiers(statement) &&
  ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;

/** The names that a statement at the top of a file declares. @param {ts.Statement} statement @returns {string[]} */
function namesOf(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name)
        ? [name.text]
        : name.elements.flatMap((one) =>
            ts.isBindingElement(one) && ts.isIdentifier(one.name) ? [one.name.text] : [],
          ),
    );
  const isNamed =
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement) ||
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isEnumDeclaration(statement);
  return isNamed && statement.name ? [statement.name.text] : [];
}

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
    const source = ts.createSourceFile(
      file,
      readFileSync(path.join(root, file), "utf8"),
      ts.ScriptTarget.Latest,
    );
    const allowed = [...QUALIFIED].flatMap(([place, names]) =>
      file === place || file.startsWith(`${place}/`) ? names : [],
    );
    for (const statement of source.statements)
      for (const name of namesOf(statement).filter((one) => !allowed.includes(one))) {
        files.set(name, (files.get(name) ?? new Set()).add(file));
        if (isExported(statement)) exported.add(name);
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
