import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { projectRoot } from "./support";

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
