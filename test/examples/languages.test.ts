import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { transpileModule, ModuleKind } from "typescript";
import { parse, stringify } from "yaml";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { parsePreview } from "../../provider/access/documents/preview";
import { CommandChain } from "../support/commandChain";
import { ROOT, Stack } from "../support/engine";
import { languageHosts, testWithHosts } from "../support/languageHosts";
import { readPage } from "../support/pages";

/*
 * The same programs in TypeScript, in both forms, and in every language of the native plugin: each leads to the same
 * preview, the same review and the same content of the server.
 */

/** The program that is in the folder of each language. */
const ORGANISATION = `
const { Group, Identity, RoleBinding, getRoleOutput } = require("pulumi-platform");
const organisation = new Group("organisation", { name: "acme" });
const team = new Group("team", { parentUid: organisation.id, name: "team", description: "Builds the product" });
const ci = new Identity("ci", {
  parentUid: organisation.id,
  name: "ci",
  claimMatch: {
    issuer: "https://token.actions.githubusercontent.com",
    subject: "repo:acme/app:environment:production",
    audience: "https://platform.example.com",
  },
});
new RoleBinding("ci-reads", { parentUid: team.id, identityUid: ci.id, roleUid: getRoleOutput({ name: "viewer" }).uid });
`;

type Files = Readonly<Record<string, string>>;

interface YamlProgram {
  readonly config?: object;
  readonly variables?: object;
  readonly resources: object;
  readonly outputs?: object;
}

const project = (runtime: string) => `name: test\nruntime: ${runtime}\n`;

/** The files of the folder of a language, as one project of the tests. */
function filesOf(language: string): Files {
  const folder = join(ROOT, "examples", language);
  const files = readdirSync(folder).filter((name) => name.includes("."));
  const read = (name: string) =>
    readFileSync(join(folder, name), "utf8").replace(/^name: \S+$/m, () => "name: test");
  return Object.fromEntries(files.map((name) => [name, read(name)]));
}

/** The examples of a language on the pages of all kinds, by the name of the kind. */
function examplesIn(language: string): [string, string][] {
  return readdirSync(join(ROOT, "docs/reference/resources")).map((page) => {
    const { fences } = readPage(join("docs/reference/resources", page));
    const example = fences.find((fence) => fence.language === language);
    if (!example) throw new Error(`docs/reference/resources/${page} has no example in ${language}`);
    return [basename(page, ".md"), example.text];
  });
}

/** All examples in YAML as one program: what they name has the kind before its name. */
function mergeYaml(): Files {
  const merged = { config: {}, variables: {}, resources: {}, outputs: {} };
  for (const [kind, text] of examplesIn("yaml")) {
    const { variables = {}, resources } = parse(text) as YamlProgram;
    const own = Object.keys({ ...variables, ...resources });
    const renamed = text.replace(/\$\{([\w-]+)/g, (reference, name: string) =>
      own.includes(name) ? `\${${kind}-${name}` : reference,
    );
    const { config = {}, ...sections } = parse(renamed) as YamlProgram;
    Object.assign(merged.config, config);
    for (const section of ["variables", "resources", "outputs"] as const) {
      const entries = Object.entries(sections[section] ?? {});
      Object.assign(
        merged[section],
        Object.fromEntries(entries.map(([name, it]) => [`${kind}-${name}`, it])),
      );
    }
  }
  return { "Pulumi.yaml": project("yaml") + stringify(merged) };
}

/** All examples as the modules of one program. */
function mergeModules(language: "ts" | "python", extension: string, pattern: RegExp): Files {
  return Object.fromEntries(
    examplesIn(language).map(([kind, text]) => [
      `of${kind}.${extension}`,
      text.replace(pattern, (call) => `${call}${kind}-`),
    ]),
  );
}

const compiled = Object.entries(mergeModules("ts", "js", /new \w+\("/g)).map(([file, text]) => {
  const { outputText } = transpileModule(text, { compilerOptions: { module: ModuleKind.CommonJS } });
  return [file, outputText] as const;
});
const ofTypescript = {
  ...Object.fromEntries(compiled),
  "index.js": compiled.map(([file]) => `require("./${file}");\n`).join(""),
};
const ofPython = mergeModules("python", "py", /platform\.[A-Z]\w+\(\s*"/g);

const inNative = (files: Files): Files =>
  Object.fromEntries(
    Object.entries(files).map(([file, text]) => [
      file,
      text.replaceAll('"pulumi-platform"', '"pulumi-platform/native"'),
    ]),
  );

const programs: readonly (readonly [string, Readonly<Record<string, Files>>])[] = [
  [
    "the examples of each language",
    {
      native: inNative({ "index.js": ORGANISATION }),
      yaml: filesOf("yaml"),
      python: filesOf("python"),
      go: filesOf("go"),
    },
  ],
  [
    "the examples of all kinds in the reference",
    {
      native: inNative(ofTypescript),
      dynamic: ofTypescript,
      yaml: mergeYaml(),
      python: {
        ...ofPython,
        "Pulumi.yaml": project("python"),
        "__main__.py": Object.keys(ofPython)
          .map((file) => `import ${basename(file, ".py")}\n`)
          .join(""),
      },
    },
  ],
];

const hostsPath = [
  languageHosts,
  join(dirname(languageHosts), "venv", "bin"),
  process.env["PULUMI_PLATFORM_CLI_DIR"],
  process.env["PATH"],
].join(delimiter);

let packages: string;

beforeAll(() => {
  packages = mkdtempSync(join(tmpdir(), "pulumi-platform-python-"));
  if (languageHosts === "") return;
  const env = {
    ...process.env,
    PATH: `${join(languageHosts, "code")}${delimiter}${hostsPath}`,
    PULUMI_HOME: join(packages, "home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { env, stdio: "pipe" });
  const plugin = join(ROOT, "dist/plugin/pulumi-resource-platform");
  run("pulumi", "package", "gen-sdk", plugin, "--language", "python", "--out", packages);
  const install = ["install", "--no-deps", "--no-index", "--no-build-isolation"];
  run("pip", ...install, "--target", join(packages, "installed"), join(packages, "python"));
});
afterAll(() => {
  rmSync(packages, { recursive: true });
});

/** What a preview says of the resources of the package, in an order of its own. */
function readSteps(document: string) {
  return parsePreview(document)
    .steps.filter(({ after }) => after?.kind !== undefined || after?.notReviewed !== undefined)
    .map(({ op, urn, after }) => ({
      name: urn.slice(urn.lastIndexOf("::") + 2),
      op,
      kind: after?.kind,
      inputs: after?.inputs,
      secretPaths: after?.secretPaths,
      notReviewed: after?.notReviewed,
    }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** What a server holds, with names in the place of uids, and without times and what is random. */
function contentOf(emulator: Emulator): string[] {
  const objects = Object.entries(emulator.state()).flatMap(([collection, all]) =>
    all.map((object): Readonly<Record<string, unknown>> => ({ collection, ...object })),
  );
  const named = objects
    .filter(({ name }) => name !== undefined)
    .map(({ collection, uid, name }) => [String(uid), `<${String(collection)} ${String(name)}>`] as const)
    .sort(([one], [other]) => other.length - one.length);
  const isVolatile = (key: string) => /Time$|^(?:keyId|etag)$/.test(key);
  return objects
    .map((object) => JSON.stringify(object, (key, value: unknown) => (isVolatile(key) ? undefined : value)))
    .map((text) => named.reduce((all, [uid, name]) => all.replaceAll(uid, name), text))
    .map((text) => text.replace(/(?<=>\/)[0-9a-f]{16}\b|(?<=127\.0\.0\.1:)\d+/g, "0"))
    .sort();
}

/** What a program leads to. What comes after its update is the engine's and the plugin's, and the same in each language. */
async function follow(form: string, files: Files) {
  const emulator = await startEmulator();
  const stack = new Stack({ url: emulator.url, token: emulator.token });
  const chain = new CommandChain(emulator);
  const env = {
    PATH: hostsPath,
    PYTHONPATH: join(packages, "installed"),
    // What the CLI was built with: the same packages are not compiled twice.
    GOFLAGS: "-trimpath",
    CGO_ENABLED: "0",
  };
  try {
    stack.files(files);
    await stack.init();
    if (form !== "dynamic") stack.useForm("native");
    await stack.succeed(["config", "set", "--secret", "oidcClientSecret", "hush"]);
    const preview = await stack.succeed(["preview", "--json", "--show-sames"], env);
    chain.write("preview.json", preview.stdout);
    const { stdout: review } = await chain.run("review", chain.path("preview.json"), "-o", "json");
    await stack.succeed(["up", "--yes", "--skip-preview"], env);
    const content = contentOf(emulator);
    if (form === "native") {
      await stack.succeed(["preview", "--refresh", "--expect-no-changes"], env);
      await stack.succeed(["destroy", "--yes", "--skip-preview"], env);
      expect(Object.values(emulator.state()).flat()).toEqual([]);
    }
    expect(stack.everyByte()).not.toContain("hush");
    const { summary, grants, trust, findings } = JSON.parse(
      review
        .replaceAll("pulumi-nodejs:dynamic/platform:", "platform:index:")
        .replaceAll(/("at": ?)"[^"]*"/g, '$1""'),
      (key, value: { readonly file: string }) => {
        if (key !== "location") return value;
        // In Go, the name of the module stands before that of the file.
        expect(Object.keys(files)).toContain(basename(value.file));
        return undefined;
      },
    ) as Record<string, unknown>;
    return { steps: readSteps(preview.stdout), review: { summary, grants, trust, findings }, content };
  } finally {
    stack.dispose();
    await emulator.close();
  }
}

testWithHosts.each(programs)("%s lead to the same in each language", async (_name, forms) => {
  const { native = {}, ...others } = forms;
  const expected = await follow("native", native);
  expect(expected.content).not.toEqual([]);
  expect(expected.steps).not.toEqual([]);
  for (const [form, files] of Object.entries(others))
    expect({ form, ...(await follow(form, files)) }).toEqual({ form, ...expected });
});

test("each example of another language is a project", () => {
  for (const name of ["yaml", "python", "go"])
    expect(filesOf(name)["Pulumi.yaml"]).toMatch(/^name: test\nruntime: (yaml|python|go)\n/);
});
