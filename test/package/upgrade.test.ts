import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import { endChildren, packagedBy, packVersion, Project } from "../support/project";
import type { Packed } from "../support/project";
import { temporaryFolder } from "../support/folders";

const NEXT = "0.1.1";

/** Each call of the new version's code, by the engine, is a line of this file. */
const MARKS = "PULUMI_PLATFORM_TEST_MARKS";

const changedCode = `
for (const [kind, provider] of Object.entries(module.exports)) {
  for (const method of ["check", "diff", "create", "read", "update", "delete"]) {
    const before = provider[method];
    provider[method] = (...args) => {
      require("node:fs").appendFileSync(process.env.${MARKS}, "${NEXT} " + method + " " + kind + "\\n");
      return before(...args);
    };
  }
}
`;

const program = {
  "Pulumi.yaml": "name: test\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n",
  "index.js": `
const { Group, Role } = require("pulumi-platform");
const org = new Group("org", { name: "org" });
new Role("role", { parentUid: org.id, name: "role", capabilities: ["CAP_REPO_LIST"] });
`,
};

const nextFolder = temporaryFolder();
let first: Packed;
let next: Packed;

beforeAll(async () => {
  first = await packagedBy("npm");
  next = await packVersion(first, NEXT, changedCode, nextFolder);
});

// npm puts a new version in place of the old one; pnpm keeps both, until the project is installed anew.
describe("a new version of the package, installed by pnpm,", () => {
  let emulator: Emulator;
  let folder: string;
  let project: Project;
  let stack: Stack;
  let providersBefore: unknown[];

  /** What the new version's code was called for, since the last time. */
  const takeMarks = () => {
    const file = join(folder, "marks");
    const marks = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    rmSync(file, { force: true });
    return marks.sort();
  };

  const providers = async () =>
    Object.values(await stack.ours()).flatMap(({ inputs, outputs }) =>
      [inputs, outputs].map((properties) => properties?.["__provider"]),
    );

  /** Versions of the package in the store of pnpm. */
  const installedVersions = () => {
    const store = join(project.directory, "node_modules", ".pnpm");
    const places = readdirSync(store).filter((name) => name.startsWith("pulumi-platform@"));
    return places.map((place) => {
      const manifest = join(store, place, "node_modules", "pulumi-platform", "package.json");
      return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
    });
  };

  beforeAll(async () => {
    emulator = await startEmulator();
    folder = temporaryFolder();
    project = await Project.with("pnpm");
    project.describe({ main: "index.js" });
    project.write(program);
    const { directory } = project;
    const { url, token } = emulator;
    stack = await new Stack({ url, token, directory, env: { [MARKS]: join(folder, "marks") } }).init();
    await stack.up();
    providersBefore = await providers();
    await project.install(next.tarball);
  });

  afterAll(async () => {
    await emulator.close();
    endChildren();
    // Unset where the set-up failed.
    (stack as Stack | undefined)?.dispose();
    (project as Project | undefined)?.dispose();
  });

  test("has another version than the one that created the resources", () => {
    expect(next.version).toBe(NEXT);
    expect(first.version).not.toBe(NEXT);
    expect(installedVersions()).toContain(NEXT);
    expect(takeMarks()).toEqual([]);
    expect(emulator.state()["roles"]).toHaveLength(1);
  });

  test("changes nothing in a preview, which runs the new code", async () => {
    await stack.succeed(["preview", "--expect-no-changes"]);
    expect(takeMarks()).toEqual(
      ["check Group", "check Role", "diff Group", "diff Role"].map((mark) => `${NEXT} ${mark}`),
    );
  });

  test("the new code reads the state of the old one, which is deleted from disk", async () => {
    await project.reinstall();
    expect(installedVersions()).toEqual([NEXT]);
    await stack.up("--refresh", "--expect-no-changes");
    expect(takeMarks()).toEqual(expect.arrayContaining([`${NEXT} read Group`, `${NEXT} read Role`]));
  });

  test("leaves the provider's text in state as it was: no path, no version, no code", async () => {
    const texts = ["Group", "Group", "Role", "Role"].map(
      (kind) => `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`,
    );
    expect(await providers()).toEqual(texts);
    expect(providersBefore).toEqual(await providers());
  });

  test("deletes with the new code in a destroy", async () => {
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(takeMarks()).toEqual([`${NEXT} delete Group`, `${NEXT} delete Role`]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
  });
});
