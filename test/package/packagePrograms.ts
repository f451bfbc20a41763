import { startEmulator } from "../../emulator";
import { Stack } from "../support/engine";
import type { Project } from "../support/project";

const body = `
const org = new Group("org", { name: "org", description: "everything" });
const team = new Group("team", { parentUid: org.id, name: "team" });
const ci = new Identity("ci", {
  parentUid: team.uid,
  name: "ci",
  claimMatch: { issuer: "https://issuer.example.com", subject: team.name.apply((name) => "repo:" + name) },
});
`;

export const typeScript = {
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

export const compilers = {
  node16: { module: "Node16", moduleResolution: "Node16" },
  nodenext: { module: "NodeNext", moduleResolution: "NodeNext" },
  bundler: { module: "ESNext", moduleResolution: "Bundler" },
  node10: { module: "CommonJS", moduleResolution: "Node10" },
};

export const tsconfig = (options: object) =>
  JSON.stringify({
    compilerOptions: { target: "ES2022", strict: true, types: ["node"], ...options },
    files: ["index.ts"],
  });

/** A program that uses the package. */
export interface Program {
  readonly title: string;
  readonly main: string;
  readonly type: "commonjs" | "module";
  readonly files: Record<string, string>;
}

export const programs: readonly Program[] = [
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

/** What one program did, from its first update to its end. */
export interface Life {
  readonly outputs: unknown;
  /** Resources that the first up made, by collection. */
  readonly made: Record<string, number>;
  /** What a preview with a refresh sent: methods. */
  readonly methods: string[];
  /** Resources left after destroy. */
  readonly left: unknown[];
  /** Lines of the engine that mention a warning. */
  readonly warnings: string[];
}

/** The life that every program has. */
export const expectedLife: Life = {
  outputs: {
    team: expect.stringMatching(/^[0-9a-f]{40}\/[0-9a-f]{16}$/),
    subject: "repo:team",
    role: "viewer",
  },
  made: { groups: 2, identities: 1 },
  methods: ["GET"],
  left: [],
  warnings: [],
};

/** Puts a program into a project, below a folder of it if one is given: `infrastructure/`. */
export function writeProgram(project: Project, { main, type, files }: Program, folder: string): void {
  project.describe({ main: `${folder}${main}`, type });
  project.write({
    "Pulumi.yaml": `name: test\nruntime: nodejs\n${folder === "" ? "" : `main: ${folder}\n`}`,
    ...inFolder(folder, files),
  });
}

/** First up, a preview with a refresh that must find no change, destroy. */
export async function live(project: Project): Promise<Life> {
  const emulator = await startEmulator();
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
    // The first run has checked the types.
    const transpileOnly = { PULUMI_NODEJS_TRANSPILE_ONLY: "true" };
    runs.push(await stack.succeed(["preview", "--refresh", "--expect-no-changes"], transpileOnly));
    const methods = emulator.requests.map(({ method }) => method);
    runs.push(await stack.succeed(["destroy", "--yes", "--skip-preview"]));
    return {
      outputs: root?.outputs,
      made: Object.fromEntries(made.filter(([, count]) => count > 0)),
      methods: [...new Set(methods)],
      left: Object.values(emulator.state()).flat(),
      warnings: runs.flatMap(({ output }) => output.split("\n").filter((line) => /warning/i.test(line))),
    };
  } finally {
    stack.dispose();
    await emulator.close();
  }
}
