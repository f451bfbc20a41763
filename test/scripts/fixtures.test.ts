import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { evaluate, projectRoot } from "./support";

const PROGRAM = "/tmp/pulumi-platform-fixtures-0/program";

/** A document of the CLI as it comes where the checkout and the program lie in these folders. */
function captured(root: string, program: string): string {
  const seen = (file: string) => `project:///${path.relative(program, path.join(root, file))}`;
  return JSON.stringify({
    sourcePosition: `${seen("dist/provider/engine/program/resource.js")}#183,13`,
    stackTrace: [seen("node_modules/@pulumi/runtime/stack.ts"), "project:///index.js"],
    message: `at Object.<anonymous> (${program}/index.js:3:1)\n at run (${root}/node_modules/@pulumi/run.ts:5:1)`,
  });
}

test.each([
  ["/checkout", PROGRAM],
  ["/tmp/checkout", PROGRAM],
  ["/tmp/pulumi-platform-fixtures-0/checkout", PROGRAM],
  ["/srv/a.b+c/a long name (2)/deeper/checkout", PROGRAM],
  ["/srv/dist", PROGRAM],
  ["/program", PROGRAM],
  ["/srv/checkout", "/srv/checkout/.cache/tmp/program"],
])(
  "a document that is captured in the checkout %s, of the program %s, names neither",
  async (root, program) => {
    const folders = JSON.stringify({ root, program });
    const text = JSON.stringify(captured(root, program));
    expect(
      JSON.parse(
        (await evaluate("captureFixtures.mjs", `new m.Normaliser(${folders}).text(${text})`)) as string,
      ),
    ).toEqual({
      sourcePosition: "project:///node_modules/pulumi-platform/dist/provider/engine/program/resource.js#1,1",
      stackTrace: ["project:///node_modules/@pulumi/runtime/stack.ts", "project:///index.js"],
      message:
        "at Object.<anonymous> (/program/index.js:3:1)\n at run (/program/node_modules/@pulumi/run.ts:5:1)",
    });
  },
);

test("no captured document names a folder of the computer that captured it", () => {
  const folder = path.join(projectRoot, "test/fixtures/previews");
  const documents = readdirSync(folder).filter((name) => /\.(json|ndjson)$/.test(name));
  const places = documents.flatMap((name) =>
    [
      ...readFileSync(path.join(folder, name), "utf8").matchAll(
        /project:\/\/\/[^"#]*|(?<![\w:/.*-])\/[\w.-]+\/[^\s"\\]*/g,
      ),
    ].map(([place]) => place),
  );
  expect(places.length).toBeGreaterThan(1000);
  expect(
    places.filter(
      (place) =>
        !/^(project:\/\/\/(index\.js|node_modules\/)|\/program\/(index\.js|node_modules\/))/.test(place),
    ),
  ).toEqual([]);
});
