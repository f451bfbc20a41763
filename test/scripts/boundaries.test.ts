import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { evaluate } from "./support";

const root = resolve(__dirname, "../..");

/** What a file must not import, by design: one line a boundary. */
const forbidden: [string, string][] = [
  ["provider/engine/description/fields.ts", "../values/values"],
  ["provider/engine/checks/checkInputs.ts", "../../api/client"],
  ["provider/engine/values/formats.ts", "../../settings/settings"],
  ["provider/engine/wire/encode.ts", "@pulumi/pulumi"],
  ["provider/engine/wire/encode.ts", "../program/sdk"],
  ["provider/engine/wire/fieldMask.ts", "../operations/handlers"],
  ["provider/engine/operations/handlers.ts", "../../resources/group"],
  ["provider/engine/operations/handlers.ts", "@pulumi/pulumi"],
  ["provider/engine/operations/handlers.ts", "axios"],
  ["provider/engine/operations/handlers.ts", "../../../emulator"],
  ["provider/engine/operations/messages.ts", "../../cli/main"],
  ["provider/engine/dynamic.ts", "../index"],
  ["provider/engine/program/resource.ts", "../operations/handlers"],
  ["provider/engine/program/resource.ts", "@pulumi/pulumi"],
  ["provider/engine/program/resource.ts", "../../api/client"],
  ["provider/engine/program/ownership.ts", "../../api/client"],
  ["provider/api/client.ts", "../engine/description"],
  ["provider/api/client.ts", "@pulumi/pulumi"],
  ["provider/api/loopback.ts", "./uid"],
  ["provider/events/verifyEvent.ts", "../api/uid"],
  ["provider/resources/role.ts", "../api/client"],
  ["provider/resources/role.ts", "axios"],
  ["provider/functions/role.ts", "../cli/main"],
  ["provider/functions/invoke.ts", "@pulumi/pulumi"],
  ["provider/settings/settings.ts", "../resources"],
  ["provider/index.ts", "./cli/main"],
  ["provider/engine/operations/update.ts", "../program/sdk"],
  ["provider/access/graph/keys.ts", "../review/compare"],
  ["provider/access/documents/preview.ts", "../graph/keys"],
  ["provider/inventory/takeInventory.ts", "../cli/main"],
  ["emulator/index.ts", "../provider"],
  ["emulator/index.ts", "@pulumi/pulumi"],
];

/** A file of a folder that has no row in the table. */
const UNLISTED = "provider/unlisted/module.ts";

interface Cruise {
  readonly summary: { readonly violations: readonly { readonly from: string; readonly to: string }[] };
}

/** Runs `npm run check:boundaries` over a copy of the sources with the forbidden imports. */
function cruiseWithForbidden(): Cruise {
  const copy = mkdtempSync(join(tmpdir(), "pulumi-platform-boundaries-"));
  try {
    for (const name of ["provider", "emulator", "tsconfig.json", ".dependency-cruiser.cjs"]) {
      cpSync(join(root, name), join(copy, name), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    for (const [file, target] of forbidden)
      appendFileSync(join(copy, file), `\nimport ${JSON.stringify(target)};\n`);
    mkdirSync(join(copy, "provider/unlisted"));
    writeFileSync(join(copy, UNLISTED), 'import "../api/uid";\n');
    const cruiser = join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
    const args = [cruiser, "provider", "emulator", "--output-type", "json"];
    return JSON.parse(
      execFileSync(process.execPath, args, { cwd: copy, maxBuffer: 2 ** 28 }).toString(),
    ) as Cruise;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

test("every forbidden import is found, and a folder without a row", () => {
  const { violations } = cruiseWithForbidden().summary;
  const caught = (file: string, target: string) =>
    violations.some(({ from, to }) => from === file && to.includes(target.replace(/^[./]+/, "")));
  expect(forbidden.filter(([file, target]) => !caught(file, target))).toEqual([]);
  expect(caught(UNLISTED, "api/uid")).toBe(true);
});

describe("the import graph", () => {
  const file = "lib/importGraph.mjs";

  test("of docs/architecture.md equals the output of npm run docs", async () => {
    const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
    const written = await evaluate(
      file,
      `m.readImports().then((graph) => m.withImportGraph(${JSON.stringify(page)}, graph))`,
    );
    expect(written).toBe(page);
  });

  const reduce = (graph: string) =>
    evaluate(
      file,
      `m.withoutImplied(new Map(Object.entries(${graph}).map(([node, targets]) => [node, new Set(targets)]))).get("a")`,
    );

  test("leaves out an import that a longer path implies", async () => {
    expect(await reduce('{ a: ["b", "c", "d"], b: ["d"], c: [], d: ["c"] }')).toEqual(["b"]);
  });

  test("refuses folders that import each other", async () => {
    await expect(reduce('{ a: ["b"], b: ["c"], c: ["a"] }')).rejects.toThrow(
      "circular imports: a → b → c → a",
    );
  });
});
