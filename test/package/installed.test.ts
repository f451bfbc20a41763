import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../support/engine";
import { endChildren, packagedBy, Project, run } from "../support/project";
import type { Packed } from "../support/project";

interface Manifest {
  readonly main: string;
  readonly types: string;
  readonly exports: Record<string, string | { types: string; default: string }>;
  readonly bin: Record<string, string>;
}

let packed: Packed | undefined;
let project: Project;

const inPackage = (path: string) => join(project.directory, "node_modules", "pulumi-platform", path);

/** Runs a script in the project; its last line is JSON. */
async function evaluate(script: string): Promise<{ stderr: string; answer: unknown }> {
  const { code, stdout, stderr } = await run(process.execPath, ["-e", script], { cwd: project.directory });
  if (code !== 0) throw new Error(`node ended with ${code}:\n${stdout}${stderr}`);
  return { stderr, answer: JSON.parse(stdout) };
}

beforeAll(async () => {
  packed = await packagedBy("npm");
  project = await Project.with("npm");
});

afterEach(() => endChildren());

afterAll(() => {
  // Unset where the set-up failed.
  (project as Project | undefined)?.dispose();
});

describe("the tarball", () => {
  let files: readonly string[];

  beforeAll(() => {
    files = packed?.files ?? [];
  });

  test("holds every file that package.json promises, types included", () => {
    const manifest = JSON.parse(readFileSync(inPackage("package.json"), "utf8")) as Manifest;
    const schemas = ["access-policy.schema", "report.schema", "inventory.schema", "plugin"];
    expect(Object.keys(manifest.exports)).toEqual([
      ...[".", "./dynamic", "./native", "./events", "./access", "./policy", "./emulator"],
      ...schemas.map((name) => `./schema/${name}.json`),
      "./package.json",
    ]);
    const entries = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : [entry.types, entry.default],
    );
    const promised = [manifest.main, manifest.types, ...entries, manifest.bin["pulumi-platform"]];
    expect(files).toEqual(expect.arrayContaining(promised.map((path) => path?.replace(/^\.\//, ""))));
  });

  test("holds types beside every module", () => {
    // The compiled validators, the plugin and the policy pack are run, and no program imports them.
    const isRun = (path: string): boolean =>
      path.endsWith(".validate.js") || /^(dist\/plugin|templates)\//.test(path);
    const modules = files.filter((path) => path.endsWith(".js") && !isRun(path));
    expect(modules).toContain("dist/provider/index.js");
    expect(files).toEqual(expect.arrayContaining(modules.map((path) => path.replace(/\.js$/, ".d.ts"))));
  });

  test("holds nothing else: no source, no test, no map", () => {
    const known = [
      /^dist\/(provider|emulator)\/([a-z][A-Za-z0-9]*\/)*[a-z][A-Za-z0-9]*(\.js|\.d\.ts|\.json)$/,
      /^(dist\/)?schema\/[a-z-]+\.schema\.json$/,
      /^dist\/schema\/[a-z-]+\.validate\.js$/,
      /^dist\/plugin\/(main\.js|schema\.json|LICENSES\.txt|pulumi-resource-platform(\.cmd)?)$/,
      /^docs\/([a-z]+\/)*[A-Za-z-]+\.md$/,
      /^templates\/typescript\/([A-Za-z-]+\.(ts|json|yaml)|\$\{DESCRIPTION\}\.gitignore)$/,
      /^templates\/(deploy|drift|review)\/template\.yml$/,
      /^templates\/policy-pack\/(index\.js|package\.json|PulumiPolicy\.yaml)$/,
      /^templates\/init\/((github|gitlab)\/[a-z-]+\.yml|program\/[A-Za-z-]+\.(txt|ya?ml)|[A-Za-z]+\.txt)$/,
      /^actions\/[a-z]+\/action\.yml$/,
      /^examples\/ci\/([a-z-]+\.(yml|ts)|README\.md)$/,
      /^examples\/(least-privilege|python|teams|yaml)\/([\w.-]+\/)*[\w.-]+\.(ts|json|yaml|py|txt)$/,
      /^examples\/go\/(go\.(mod|sum)|main\.go|Pulumi\.yaml)$/,
      /^(CHANGELOG|CONTRIBUTING|README)\.md$|^LICENSE$/,
    ];
    const others = files.filter((path) => !known.some((pattern) => pattern.test(path)));
    expect(others).toEqual(["package.json"]);
  });

  test("holds what its pages link to", () => {
    const dead = files
      .filter((path) => path.endsWith(".md"))
      .flatMap((page) => {
        const text = readFileSync(inPackage(page), "utf8").replace(/^```.*?^```|`[^`\n]*`/gms, "");
        return [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].flatMap(([, link = ""]) => {
          const target = join(dirname(page), link).replace(/\/$/, "");
          const isThere = files.some((path) => path === target || path.startsWith(`${target}/`));
          return /^[a-z]+:/.test(link) || isThere ? [] : [`${page}: ${link}`];
        });
      });
    expect(dead).toEqual([]);
  });

  test("names no folder of the machine that built it", () => {
    const texts = files.map((path) => readFileSync(inPackage(path), "utf8"));
    expect(texts.length).toBeGreaterThan(50);
    expect(texts.filter((text) => text.includes(ROOT) || text.includes("sourceMappingURL"))).toEqual([]);
  });
});

describe("the installed package", () => {
  test.each([
    [
      "the access review to programs, without the command line and the HTTP library",
      "access",
      /\/dist\/provider\/access\/review\/compare\.js$/,
      /\/node_modules\/(axios|p-retry|p-limit)\/|\/dist\/(emulator|provider\/cli)\//,
    ],
    [
      "a receiver of events, without Pulumi, the HTTP library and the kinds",
      "events",
      /\/node_modules\/jose\//,
      /\/node_modules\/(@pulumi|axios)\/|\/dist\/(emulator|provider\/(?!events\/|errors\/|text\/))/,
    ],
    [
      "the emulator to tests, without the provider and its libraries",
      "emulator",
      /\/dist\/emulator\/index\.js$/,
      /\/dist\/provider\/|@pulumi/,
    ],
  ])("offers %s", async (_what, entry, wanted, unwanted) => {
    const { answer, stderr } = await evaluate(`
      require("pulumi-platform/${entry}");
      console.log(JSON.stringify(Object.keys(require.cache).map((path) => path.replaceAll("\\\\", "/"))));
    `);
    expect(answer).toContainEqual(expect.stringMatching(wanted));
    expect((answer as string[]).filter((path) => unwanted.test(path))).toEqual([]);
    expect(stderr).toBe("");
  });

  test("has its command where the workflows for CI look for it", async () => {
    const { bin } = JSON.parse(readFileSync(inPackage("package.json"), "utf8")) as Manifest;
    const { answer } = await evaluate(
      `console.log(JSON.stringify(path.join(require("module").createRequire(path.resolve("node_modules/_")).resolve("pulumi-platform"), "../cli/main.js")));`,
    );
    expect(answer).toBe(realpathSync(inPackage(bin["pulumi-platform"] ?? "")));
  });
});

describe("the installed command", () => {
  test("refuses an unknown command in one line", async () => {
    const { code, stdout, stderr } = await run(project.command("pulumi-platform"), ["emulate"], {
      cwd: project.directory,
    });
    expect(stderr).toMatch(/^pulumi-platform: unknown command 'emulate'[^\n]*\n$/);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});
