import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

/*
 * What programs import keeps its name: every name of `test/fixtures/exports.json` is still exported. A new name is added to it by
 * `UPDATE_EXPORTS=1`.
 */

const root = path.join(__dirname, "..", "..");
const fixture = path.join(root, "test", "fixtures", "exports.json");
const entries: Readonly<Record<string, string>> = {
  ".": "provider/index.ts",
  "./dynamic": "provider/dynamic.ts",
  "./native": "provider/native/index.ts",
  "./events": "provider/events/index.ts",
  "./access": "provider/access/index.ts",
  "./policy": "provider/policy.ts",
  "./emulator": "emulator/index.ts",
};

function exportedNames(): Record<string, string[]> {
  const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), (file) =>
    readFileSync(file, "utf8"),
  );
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const files = Object.values(entries).map((file) => path.join(root, file));
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  return Object.fromEntries(
    Object.entries(entries).map(([entry, file]) => {
      const source = program.getSourceFile(path.join(root, file));
      const symbol = source && checker.getSymbolAtLocation(source);
      const names = symbol ? checker.getExportsOfModule(symbol).map(({ name }) => name) : [];
      return [entry, names.sort()];
    }),
  );
}

const exported = exportedNames();
if (process.env["UPDATE_EXPORTS"] === "1")
  writeFileSync(fixture, `${JSON.stringify(exported, undefined, 2)}\n`);
const frozen = JSON.parse(readFileSync(fixture, "utf8")) as Record<string, string[]>;

test.each(Object.keys(entries))("%s exports what it did, and the list has all of it", (entry) => {
  expect(exported[entry]).toEqual(frozen[entry]);
});
