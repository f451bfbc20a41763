import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageSource } from "../../../../provider/cli/output/packageSource";
import { ownVersion } from "../../../../provider/text/packageVersion";
import { temporaryFolder } from "../../../support/folders";

const released = { specifier: `pulumi-platform@${ownVersion()}`, prepare: [] };

let folder: string;
afterEach(() => {
  jest.restoreAllMocks();
});
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules", "pulumi-platform"), { recursive: true });
});

const sourceFor = (manifest: string, project = "elsewhere") => {
  writeFileSync(join(folder, "package.json"), manifest);
  return packageSource(join(folder, "node_modules", "pulumi-platform"), project);
};

test.each(["dependencies", "devDependencies"])(
  "names the archive that the %s of the project have the package from",
  (member) => {
    writeFileSync(join(folder, "pulumi platform.tgz"), "");
    const manifest = { [member]: { "pulumi-platform": "file:pulumi platform.tgz" } };
    expect(sourceFor(JSON.stringify(manifest))).toEqual({
      specifier: "'./pulumi platform.tgz'",
      prepare: [`cp '${join(folder, "pulumi platform.tgz")}' .`],
    });
  },
);

// A workspace has the package in its folder, and the project in a folder below.
test.each(["", "access"])("names the archive of a project above the current folder: %j", (place) => {
  const project = temporaryFolder();
  mkdirSync(join(project, "access"));
  writeFileSync(join(project, place, "a.tgz"), "");
  const dependencies = { "pulumi-platform": "file:a.tgz" };
  writeFileSync(join(project, place, "package.json"), JSON.stringify({ dependencies }));
  jest.spyOn(process, "cwd").mockReturnValue(join(project, "access"));
  expect(sourceFor("{}")).toEqual({
    specifier: "./a.tgz",
    prepare: [`cp ${join(project, place, "a.tgz")} .`],
  });
});

test.each([
  ["has the package from a registry", JSON.stringify({ dependencies: { "pulumi-platform": "^0.1.0" } })],
  ["names an archive that is gone", JSON.stringify({ dependencies: { "pulumi-platform": "file:gone.tgz" } })],
  ["links a folder", JSON.stringify({ dependencies: { "pulumi-platform": "file:." } })],
  ["names no package", "{}"],
  ["has no object in package.json", "null"],
  ["has no JSON in package.json", "{"],
])("names the version where the project %s", (_what, manifest) => {
  expect(sourceFor(manifest)).toEqual(released);
});

test("names the version where the package lies in no project", () => {
  expect(packageSource(folder, folder)).toEqual(released);
});
