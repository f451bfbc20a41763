import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Stack } from "../support/engine";
import { endChildren, packSources, Project } from "../support/project";
import type { PackageManager, Packed } from "../support/project";

const body = `
const org = new Group("org", { name: "org", description: "everything" });
const team = new Group("team", { parentUid: org.id, name: "team" });
const ci = new Identity("ci", {
  parentUid: team.uid,
  name: "ci",
  claimMatch: { issuer: "https://issuer.example.com", subject: team.name.apply((name) => "repo:" + name) },
});
`;

const typeScript = {
  "index.ts": `import type * as pulumi from "@pulumi/pulumi";
import * as platform from "pulumi-platform";
import { Group, Identity } from "pulumi-platform";
${body}
const found: pulumi.Output<platform.GetRoleResult> = platform.getRoleOutput({ name: "viewer", builtIn: true });
const id: pulumi.Output<string> = team.id;
export { id as team };
export const subject: pulumi.Output<string | undefined> = ci.claimMatch.apply((claims) => claims?.subject);
export const role: pulumi.Output<string> = found.name;
`,
};

const compilers = {
  node16: { module: "Node16", moduleResolution: "Node16" },
  nodenext: { module: "NodeNext", moduleResolution: "NodeNext" },
  bundler: { module: "ESNext", moduleResolution: "Bundler" },
  node10: { module: "CommonJS", moduleResolution: "Node10" },
};

const tsconfig = (options: object) =>
  JSON.stringify({
    compilerOptions: { target: "ES2022", strict: true, types: ["node"], ...options },
    files: ["index.ts"],
  });

// Installs packages and runs the real CLI: slow where the machine is busy.
jest.setTimeout(180_000);

interface Program {
  readonly title: string;
  readonly main: string;
  readonly type: "commonjs" | "module";
  readonly files: Record<string, string>;
}

const programs: Program[] = [
  {
    title: "a CommonJS program",
    main: "index.js",
    type: "commonjs",
    files: {
      "index.js": `const { getRole, Group, Identity } = require("pulumi-platform");
${body}
exports.team = team.id;
exports.subject = ci.claimMatch.apply((claims) => claims.subject);
exports.role = getRole({ name: "viewer", builtIn: true }).then(({ name }) => name);
`,
    },
  },
  {
    title: "a program of ES modules",
    main: "index.js",
    type: "module",
    files: {
      "index.js": `import { getRole, Group, Identity } from "pulumi-platform";
${body}
const { name: role } = await getRole({ name: "viewer", builtIn: true });
const { id } = team;
export { id as team, role };
export const subject = ci.claimMatch.apply((claims) => claims.subject);
`,
    },
  },
  {
    title: "a TypeScript program",
    main: "index.ts",
    type: "commonjs",
    files: { "tsconfig.json": tsconfig(compilers.node16), ...typeScript },
  },
];

const inFolder = (folder: string, files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}${name}`, text]));

/** The same package in a project of each package manager; each has an API of its own, so that both can run at once. */
interface Installation {
  readonly manager: PackageManager;
  readonly emulator: Emulator;
  readonly project: Project;
}

interface Life {
  readonly manager: PackageManager;
  readonly outputs: unknown;
  /** Resources that the first up made, by collection. */
  readonly made: Record<string, number>;
  /** What preview and refresh sent: methods. */
  readonly methods: string[];
  /** Resources left after destroy. */
  readonly left: unknown[];
  /** Lines of the engine that mention a warning. */
  readonly warnings: string[];
}

/** First up, a preview and a refresh that must find no change, destroy. */
async function live({ manager, emulator, project }: Installation): Promise<Life> {
  const { url, token } = emulator;
  const stack = new Stack({ url, token, directory: project.directory });
  try {
    await stack.init();
    const runs = [await stack.up()];
    const made = Object.entries(emulator.state()).map(
      ([kind, resources]) => [kind, resources.length] as const,
    );
    const root = (await stack.resources()).find(({ type }) => type === "pulumi:pulumi:Stack");
    emulator.clearRequests();
    runs.push(await stack.succeed(["preview", "--expect-no-changes"]));
    runs.push(await stack.succeed(["refresh", "--yes", "--skip-preview", "--expect-no-changes"]));
    const methods = emulator.requests.map(({ method }) => method);
    runs.push(await stack.succeed(["destroy", "--yes", "--skip-preview"]));
    return {
      manager,
      outputs: root?.outputs,
      made: Object.fromEntries(made.filter(([, count]) => count > 0)),
      methods: [...new Set(methods)],
      left: Object.values(emulator.state()).flat(),
      warnings: runs.flatMap(({ output }) => output.split("\n").filter((line) => /warning/i.test(line))),
    };
  } finally {
    stack.dispose();
    emulator.reset();
  }
}

describe("the packed package, in a project of npm and in one of pnpm,", () => {
  let packed: Packed | undefined;
  const installations: Installation[] = [];

  beforeAll(async () => {
    const sources = (packed = await packSources());
    const install = async (manager: PackageManager) => {
      const project = await Project.with(sources, manager);
      installations.push({ manager, project, emulator: await startEmulator() });
    };
    const settled = await Promise.allSettled([install("npm"), install("pnpm")]);
    for (const result of settled) if (result.status === "rejected") throw result.reason;
  });

  afterAll(async () => {
    await Promise.all(installations.map(({ emulator }) => emulator.close()));
    endChildren();
    for (const { project } of installations) project.dispose();
    packed?.dispose();
  });

  test("lies in the project itself, where the package manager puts it", () => {
    const places = installations.map(({ manager, project }) => [manager, project.location()]);
    expect(Object.fromEntries(places)).toEqual({
      npm: "node_modules/pulumi-platform",
      pnpm: expect.stringMatching(
        /^node_modules\/\.pnpm\/pulumi-platform@[^/]+\/node_modules\/pulumi-platform$/,
      ),
    });
  });

  describe.each([
    { place: "in the project's folder", folder: "" },
    { place: "in the folder that main: names", folder: "infrastructure/" },
  ])("$place", ({ folder }) => {
    test.each(programs)("$title runs, from the first up to the destroy", async ({ main, type, files }) => {
      for (const { project } of installations) {
        project.describe({ main: `${folder}${main}`, type });
        project.write({
          "Pulumi.yaml": `name: test\nruntime: nodejs\n${folder === "" ? "" : `main: ${folder}\n`}`,
          ...inFolder(folder, files),
        });
      }
      const lives = await Promise.all(installations.map(live));
      const expected = (manager: PackageManager): Life => ({
        manager,
        outputs: {
          team: expect.stringMatching(/^[0-9a-f]{40}\/[0-9a-f]{16}$/),
          subject: "repo:team",
          role: "viewer",
        },
        made: { groups: 2, identities: 1 },
        methods: ["GET"],
        left: [],
        warnings: [],
      });
      expect(lives).toHaveLength(2);
      for (const one of lives) expect(one).toEqual(expected(one.manager));
    });
  });

  test.each(Object.entries(compilers))(
    "a strict TypeScript program compiles with the module resolution %s",
    async (_name, options) => {
      const check = async ({ manager, project }: Installation) => {
        project.describe({ type: "commonjs" });
        project.write({ ...typeScript, "tsconfig.json": tsconfig(options) });
        return { manager, ...(await project.tsc("tsconfig.json")) };
      };
      const checks = await Promise.all(installations.map(check));
      expect(checks).toHaveLength(2);
      for (const one of checks) expect(one).toMatchObject({ manager: one.manager, code: 0, output: "" });
    },
  );
});
