import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkFilesOfChange, checkProjectFiles } from "../../../../provider/cli/input/projectFiles";
import { main as review } from "../../../../provider/cli/commands/review";
import { ROOT } from "../../../support/engine";
import { temporaryFolder, writeFiles } from "../../../support/folders";
import { ending, runCommand } from "../support";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

const PROJECT = "name: access\nruntime: nodejs\n";

const write = (files: Readonly<Record<string, string>>): void => writeFiles(folder, files);

const OF_ESC = /^environment of .*Pulumi\.prod\.(yaml|json): Pulumi ESC/;
const UNREADABLE = /Pulumi\.prod\.yaml cannot be read/;
/** Another checkout may have another file. */
const NO_SETTINGS = /Pulumi\.prod\.yaml (holds no|cannot be)/;

test.each<[text: string, message: RegExp]>([
  ["environment: [acme/prod]", OF_ESC],
  ["environment: { values: { environmentVariables: { A: b } } }", OF_ESC],
  ["environment: acme/prod", OF_ESC],
  ['"\\u0065nvironment": [acme/prod]', OF_ESC],
  ["\ufeffenvironment: [acme/prod]", OF_ESC],
  ["%YAML 1.1\n---\nconfig: {}", /has a directive \(%\)/],
  ["a: [", UNREADABLE],
  ["a: 1\n---\nenvironment: [acme/prod]", UNREADABLE],
  ["environment: 1\nenvironment: []", UNREADABLE],
  ["version https://git-lfs.github.com/spec/v1\n", NO_SETTINGS],
  ["text", NO_SETTINGS],
  ["- environment", NO_SETTINGS],
  ["1", NO_SETTINGS],
])("a stack file of %j is refused: %s", (text, message) => {
  write({ "Pulumi.yaml": PROJECT, "Pulumi.prod.yaml": text });
  for (const stack of ["prod", "acme/access/prod", undefined])
    expect(() => checkProjectFiles(folder, stack)).toThrow(message);
  expect(() => checkProjectFiles(join(folder, "src"), "prod")).toThrow(message);
  expect(() => checkFilesOfChange(folder)).toThrow(message);
});

const IN_FOLDER = { "stacks/Pulumi.prod.yaml": "environment: [a]" };
test.each<[string, Record<string, string>]>([
  [
    "JSON, whose members the CLI reads in any letter case",
    { "Pulumi.json": '{"name":"a","runtime":"nodejs"}', "Pulumi.prod.json": '{"Environment":["acme/prod"]}' },
  ],
  ["another folder", { "Pulumi.yaml": `${PROJECT}stackConfigDir: stacks`, ...IN_FOLDER }],
  ["another folder in its older form", { "Pulumi.yaml": `${PROJECT}config: stacks`, ...IN_FOLDER }],
])("a stack file may not set environment variables, also in %s", (_, files) => {
  write(files);
  expect(() => checkProjectFiles(folder, "prod")).toThrow(OF_ESC);
  expect(() => checkFilesOfChange(folder)).toThrow(OF_ESC);
});

/** Each list has nine of the one before it. */
const manyAliases = ["config:", "  a0: &a0 [x]"]
  .concat([1, 2, 3, 4, 5, 6].map((i) => `  a${i}: &a${i} [${`*a${i - 1}, `.repeat(9)}]`))
  .join("\n");

test.each<[string, string, RegExp]>([
  ["a merge key", "a: &a { environment: [acme/prod] }\n<<: *a", /has an anchor or an alias/],
  ["a merge key in quotes", '"<<": { environment: [acme/prod] }', /has a merge \(<<\)/],
  ["an alias of nothing", "config: { a: *nothing }", /has an anchor or an alias/],
  ["aliases of aliases, which would be very large", manyAliases, /has an anchor or an alias/],
  ["a list of pairs", "environment: !!omap\n  - acme/prod: { merge: false }", /has the tag .*omap/],
  ["bytes", "environment: [!!binary ZXZpbA==]", /has the tag .*binary/],
  ["a tag of a mapping", "config: { a: !!map { b: c } }", /has the tag .*map/],
  ["an anchor of a mapping", "config: { a: &x { b: c } }", /has an anchor or an alias/],
  ["a tag of its own", "config: { a: !mine b }", /has the tag !mine/],
  ["a key in two spellings", "environment: [a]\nEnvironment:", /has both "environment" and "Environment"/],
  ["two spellings inside", "options: { refresh: a, Refresh: b }", /has both "refresh" and "Refresh"/],
  ["another end of a line in a comment", "# note\u2028environment: [a]", /has the character U\+2028/],
  ["the same in a text", "config:\n  a: |\n    b\u0085environment: [a]", /has the character U\+0085/],
  ["a carriage return alone", "config: {} # note\renvironment: [a]", /has the character U\+000D/],
  ["what is no UTF-8", "\ufffd\ufffd: x\n# y", /has the character U\+FFFD/],
])("a file may have nothing that parsers of YAML read differently: %s", (_, text, message) => {
  write({ "Pulumi.yaml": PROJECT, "Pulumi.prod.yaml": text });
  expect(() => checkProjectFiles(folder, "prod")).toThrow(message);
  expect(() => checkFilesOfChange(folder)).toThrow(message);
  write({ "Pulumi.yaml": `${PROJECT}${text}`, "Pulumi.prod.yaml": "config: {}" });
  expect(() => checkProjectFiles(folder, "prod")).toThrow(message);
  expect(() => checkFilesOfChange(folder)).toThrow(message);
});

test.each([
  ["plugins: { providers: [{ name: pulumi-nodejs, path: ./evil }] }", /^plugins of /],
  ["plugins: { languages: [{ name: nodejs, path: /tmp/evil }] }", /^plugins of /],
  ["plugins: { analyzers: [{ name: policy-nodejs, path: ./evil }] }", /^plugins of /],
  ["packages: { pulumi-nodejs: ./evil }", /^packages\.pulumi-nodejs of /],
  ["packages: { random: { source: /evil } }", /^packages\.random of /],
  ["packages: { random: https://evil.example/random }", /^packages\.random of /],
  ["packages: { random: x }", /^packages\.random of /],
  ["packages: { random: [] }", /^packages\.random of /],
])("a project file may not replace what runs: %s", (line, message) => {
  write({ "Pulumi.yaml": `${PROJECT}${line}\n` });
  expect(() => checkProjectFiles(folder)).toThrow(message);
  expect(() => checkFilesOfChange(folder)).toThrow(message);
});

test("nor name the program as another process", () => {
  write({ "Pulumi.yaml": "name: access\nruntime: { name: client, options: { address: '127.0.0.1:1' } }" });
  expect(() => checkProjectFiles(folder)).toThrow(/^runtime of .* is "client"/);
});

describe("of a change", () => {
  const CHANGE = join("repository", "change");
  const at = (name: string): string => join(folder, CHANGE, name);
  const check = (name = "infra"): string | undefined => checkFilesOfChange(at(name));

  /** A checkout of the change in one of the default branch, which both have an honest project. */
  beforeEach(() => {
    const project = { "infra/Pulumi.yaml": PROJECT, "infra/Pulumi.prod.yaml": "config: {}\n" };
    for (const at of ["repository", CHANGE]) {
      write(Object.fromEntries(Object.entries(project).map(([name, text]) => [`${at}/${name}`, text])));
      mkdirSync(join(folder, at, ".git"));
    }
    write({ "repository/Pulumi.yaml": PROJECT });
  });

  test("an honest project passes", () => {
    expect(check()).toBe(at("infra/Pulumi.yaml"));
    mkdirSync(at("infra/src"));
    expect(check("infra/src")).toBe(at("infra/Pulumi.yaml"));
    write({
      [`${CHANGE}/infra/Pulumi.yaml`]: `${PROJECT}stackConfigDir: ../stacks`,
      [`${CHANGE}/stacks/Pulumi.prod.yaml`]: "",
    });
    expect(check()).toBe(at("infra/Pulumi.yaml"));
  });

  test.each([
    ["infra/Pulumi.prod.yaml", "../esc.yaml"],
    ["infra/Pulumi.dev.yaml", "/nowhere/esc.yaml"],
    ["infra/Pulumi.prod.json", "missing.json"],
    ["infra/Pulumi.yaml", "../esc.yaml"],
    ["infra/Pulumi.json", "missing.json"],
    ["infra", "missing"],
    ["infra", "../infra"],
    ["infra/Pulumi.prod.yaml", join("..", "..", "infra", "Pulumi.prod.yaml")],
  ])("%s may not be a link to %s", (name, target) => {
    rmSync(at(name), { recursive: true, force: true });
    symlinkSync(target, at(name));
    expect(() => check()).toThrow(`${at(name)} is a link`);
  });

  test.each([
    ["stacks", "is a link"],
    ["stacks/prod", "is a link"],
    ["missing", "names a folder that the change does not have"],
    ["../../infra", "names a folder that the change does not have"],
    ["../..", "names a folder that the change does not have"],
    ["../../change-of-another", "names a folder that the change does not have"],
  ])("the folder %s of stack files is refused: it %s", (name, message) => {
    write({
      [`${CHANGE}/infra/Pulumi.yaml`]: `${PROJECT}stackConfigDir: ${name}`,
      "repository/change-of-another/Pulumi.prod.yaml": "",
    });
    mkdirSync(at("other/prod"), { recursive: true });
    symlinkSync("../other", at("infra/stacks"));
    expect(() => check()).toThrow(message);
  });

  test("a project that only the checkout around it has is none of the change", () => {
    rmSync(at("infra"), { recursive: true });
    expect(check()).toBeUndefined();
    expect(check(".")).toBeUndefined();
  });

  test("a file of another stack counts: the preview of the change names its stack itself", () => {
    write({ [`${CHANGE}/infra/Pulumi.dev.yaml`]: "environment: [acme/dev]" });
    expect(() => check()).toThrow(/^environment of .*Pulumi\.dev\.yaml/);
  });
});

test("review says where --project has no project", async () => {
  const argv = [join(ROOT, "test/fixtures/previews/update-shown.json"), "--project", folder];
  expect(await runCommand(review, argv, {})).toMatchObject(
    ending(2, /--project \S+: neither this folder nor one above it .* has a Pulumi\.yaml \(PP5005\)/),
  );
  write({ "Pulumi.yaml": PROJECT });
  expect((await runCommand(review, argv, {})).code).toBe(5);
});

test("what an honest project has is left alone", () => {
  write({
    "Pulumi.yaml": `${PROJECT}main: src\nbackend: { url: "file://." }\nplugins: {}\npackages: { random: random@4.16.7, tls: tls }`,
    "Pulumi.prod.yaml":
      "secretsprovider: passphrase\nenvironment: []\nconfig: { access:environment: prod, access:Environment: dev }",
    "Pulumi.dev.yaml": "environment: [acme/dev]",
    "Pulumi.empty.yaml": "",
  });
  for (const stack of ["prod", "empty", "absent"]) {
    expect(checkProjectFiles(folder, stack)).toBe(join(folder, "Pulumi.yaml"));
  }
  expect(checkProjectFiles(tmpdir())).toBeUndefined();
});
