import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { packageSource } from "../../../../provider/cli/output/packageSource";
import { ownVersion } from "../../../../provider/text/packageVersion";
import { temporaryFolder } from "../../../support/folders";

const released = { specifier: `pulumi-platform@${ownVersion()}`, prepare: [] };

let folder: string;
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
  expect(packageSource(undefined, folder)).toEqual(released);
  expect(packageSource(folder, folder)).toEqual(released);
});
