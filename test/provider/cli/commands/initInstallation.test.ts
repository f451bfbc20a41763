import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { findPackageManager, unexpectedFiles } from "../../../../provider/cli/input/packageManager";
import type { PackageManager } from "../../../../provider/cli/input/packageManager";
import { decidingFiles } from "../../../../provider/cli/commands/init/workflows";
import { ROOT } from "../../../support/engine";
import { InitFolder } from "../../../support/initFolder";
import { writeInitWorkflows } from "../../../support/initWorkflows";
import { temporaryFolder } from "../../../support/folders";

const LOCKFILES: Readonly<Record<string, readonly [string, string]>> = {
  npm: ["package-lock.json", "{}"],
  pnpm: ["pnpm-lock.yaml", "lockfileVersion: 9"],
  "Yarn 1": ["yarn.lock", "# yarn lockfile v1"],
  "Yarn 4": ["yarn.lock", "#\n\n__metadata:\n"],
};

function write(folder: string, files: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
const newFolder = (files: Readonly<Record<string, string>>): string => write(temporaryFolder(), files);

function managerOf([lockfile, text]: readonly [string, string]): PackageManager {
  return findPackageManager([newFolder({ [lockfile]: text })]);
}

/** Every script in a document. */
function scriptsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(scriptsIn) : [];
}

const GITHUB = "git@github.com:acme/access.git";

describe.each(Object.entries(LOCKFILES))("%s:", (_, own) => {
  const manager = managerOf(own);
  const [lockfile, text] = own;
  const workflows = writeInitWorkflows(temporaryFolder(), { packageManager: manager });
  const installation = scriptsIn(parse(readFileSync(join(workflows, "access-preview.yml"), "utf8"))).find(
    (script) => script.includes(manager.installInCi),
  );
  const refusal = installation?.replace(manager.installInCi, "echo installed") ?? "exit 99";

  /** Ends as a job of the folder app/infra does, which has begun with these files in the repository. */
  function runRefusal(files: Readonly<Record<string, string>>): { code: number | null; printed: string } {
    const folder = newFolder({ "app/infra/index.js": "", ...files });
    const { status, stdout, stderr } = spawnSync("sh", ["-ec", refusal], {
      cwd: join(folder, "app", "infra"),
      encoding: "utf8",
    });
    return { code: status, printed: stdout + stderr };
  }

  test.each(["app/infra/", "app/", ""])("a lockfile in %p alone is installed", (folder) => {
    expect(runRefusal({ [folder + lockfile]: text })).toEqual({ code: 0, printed: "installed\n" });
  });

  test.each(unexpectedFiles(manager))(
    "the workflows refuse %s in every folder that the installation reads",
    (name) => {
      const file = name === "node_modules" ? "node_modules/.bin/pulumi-platform" : name;
      for (const folder of ["app/infra/", "app/", ""]) {
        const { code, printed } = runRefusal({ [lockfile]: text, [folder + file]: "{}" });
        expect(code).toBe(1);
        expect(printed).toMatch(/^remove \/[^\n]* from the repository: it can change what is installed\n$/);
        expect(printed).toContain(`/${folder}${name} from`);
      }
      expect(runRefusal({ [`app/infra/${lockfile}`]: text, [`app/${file}`]: "{}" })).toMatchObject({
        code: 0,
      });
    },
  );

  test("each installation of the workflows begins with this check, and Corepack reads no file of the repository", () => {
    const names = ["access-deploy.yml", "access-drift.yml", "access-preview.yml", "access-review.yml"];
    for (const name of [...names, "gitlab-ci.yml"]) {
      const written = readFileSync(join(workflows, name), "utf8");
      const scripts = scriptsIn(parse(written)).filter((script) => script.includes(manager.installInCi));
      expect(scripts).not.toHaveLength(0);
      for (const script of scripts) expect(script).toBe(installation);
      const document = parse(written) as { env?: object } & Record<string, { variables?: object }>;
      const environments =
        name === "gitlab-ci.yml"
          ? ["review", "deploy", "drift"].map((part) => document[`.access-${part}-settings`]?.variables)
          : [document.env];
      for (const environment of environments) {
        expect(environment).toMatchObject({ COREPACK_ENV_FILE: "0" });
        expect(JSON.stringify(environment)).toMatch(/"PULUMI_BACKEND_URL":.*https:\/\/api\.pulumi\.com/);
      }
    }
  });

  test.each(unexpectedFiles(manager).filter((name) => name !== "node_modules"))(
    "init refuses %s beside the lockfile, unless it writes no workflow",
    async (name) => {
      // Where both are of a package manager with workflows, the first of them is chosen, and the other one refused.
      for (const ci of ["github", "none"]) {
        const folder = new InitFolder().repository(GITHUB).write({ [lockfile]: text, [name]: "{}" });
        const { code, stderr } = await folder.init("infra", "--ci", ci);
        expect({ ci, code }).toEqual({ ci, code: ci === "none" ? 0 : 2 });
        if (ci !== "none") {
          expect(stderr).toMatch(/\.(json|yaml|lock|lockb) conflicts with the workflows, which install by/);
          expect(stderr).toMatch(/\(PP5011\)\n$/);
        }
      }
    },
  );

  test("init names each file that decides what is installed, and git finds them in every folder", async () => {
    const folder = new InitFolder().repository(GITHUB).write({
      [lockfile]: text,
      "infra/package.json": '{ "dependencies": { "pulumi-platform": "file:../vendor/platform" } }',
    });
    await folder.init("infra");
    const owners = folder.files()[".github/CODEOWNERS"] ?? "";
    for (const file of decidingFiles(ROOT, manager)) expect(owners).toContain(`\n${file} @acme/security\n`);
    expect(owners).toMatch(/\n\/vendor\/platform\/ @acme\/security\n$/);
  });
});

/** What package managers and Pulumi read in a repository, by their documentation. */
const READ: Readonly<Record<string, readonly string[]>> = {
  npm: ["package.json", "package-lock.json", "npm-shrinkwrap.json", ".npmrc"],
  pnpm: ["pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs", "package.yaml", ".npmrc", ".corepack.env"],
  "Yarn 1": [".yarnrc", ".yarn/releases/yarn-1.22.22.cjs", ".npmrc", ".corepack.env"],
  "Yarn 4": [".yarnrc.yml", ".yarn/plugins/a.cjs", ".pnp.cjs", ".env.yarn", ".corepack.env"],
};
const ALWAYS = [
  ...["Pulumi.yaml", "Pulumi.json", "Pulumi.prod.yaml", "pulumi-platform-0.1.0.tgz", "bun.lock"],
  ...["node_modules/.bin/pulumi-platform", "pnpm-lock.yaml", "yarn.lock"],
];

test.each(Object.entries(READ))(
  "the patterns of %s match each file that it reads, in every folder",
  (name, read) => {
    const manager = managerOf(LOCKFILES[name] ?? ["", ""]);
    const folder = newFolder({ ".gitignore": `${decidingFiles(ROOT, manager).join("\n")}\n` });
    execFileSync("git", ["init", "--quiet", folder]);
    const paths = [...ALWAYS, ...read].flatMap((path) => [path, `services/infra/${path}`]);
    const matched = spawnSync("git", ["-C", folder, "check-ignore", "--stdin"], {
      input: [...paths, "index.ts", "services/infra/index.ts"].join("\n"),
      encoding: "utf8",
    });
    expect(matched.stdout.trim().split("\n").sort()).toEqual(paths.sort());
  },
);

test.each([
  ["review-in-github.md", (file: string) => `   ${file} `],
  ["review-in-gitlab.md", (file: string) => `   ${file} `],
])("%s lists the files of npm, and those of the others", (page, lineOf) => {
  const text = readFileSync(join(ROOT, "docs", "tasks", page), "utf8");
  for (const file of decidingFiles(ROOT, managerOf(LOCKFILES["npm"] ?? ["", ""])))
    expect(text).toContain(lineOf(file));
  for (const name of ["pnpm", "Yarn 4"]) {
    for (const file of decidingFiles(ROOT, managerOf(LOCKFILES[name] ?? ["", ""])))
      expect(text).toContain(file);
  }
});

describe("what CI does not have", () => {
  const manifest = (path: string): Record<string, string> => ({
    "infra/package.json": JSON.stringify({ dependencies: { "pulumi-platform": path } }),
  });

  test.each([
    [
      "file:../../out/pulumi-platform-0.1.0.tgz",
      /cp \S+\/out\/pulumi-platform-0\.1\.0\.tgz \. && npm install \.\/pulumi-platform-0\.1\.0\.tgz {3}# pulumi-platform is outside/,
    ],
    [
      "file:../../checkout",
      /npm install "\.\/\$\(npm pack --silent \S+\/checkout \| tail -n 1\)" {3}# pulumi-platform is outside of the repository/,
    ],
  ])("%s is named with what to do", async (path, line) => {
    const folder = new InitFolder().repository(GITHUB).write(manifest(path));
    expect((await folder.init("infra")).stdout).toMatch(line);
  });

  test.each(["file:pulumi-platform-0.1.0.tgz", "file:../vendor/a.tgz", "file:../vendor/a.tar.gz", "^0.1.0"])(
    "%s is not",
    async (path) => {
      const folder = new InitFolder().repository(GITHUB).write(manifest(path));
      const { stdout } = await folder.init("infra");
      expect(stdout).not.toContain("outside of the repository");
      // The patterns for all such files cover it: a pattern for a folder of its name would match nothing.
      expect(stdout).not.toContain("/vendor/");
    },
  );

  test("a copy that lies in the folder is not made again", async () => {
    const folder = new InitFolder()
      .repository(GITHUB)
      .write({ ...manifest("file:../../out/a.tgz"), "infra/a.tgz": "" });
    expect((await folder.init("infra")).stdout).toMatch(/^ {2}npm install \.\/a\.tgz {3}# pulumi-platform/m);
  });
});

test("steps that are done are not printed", async () => {
  const installed = ["pulumi-platform", "@pulumi/pulumi", "typescript", "@types/node"];
  const folder = new InitFolder().repository(GITHUB).write({
    "package.json": JSON.stringify({
      dependencies: Object.fromEntries(installed.map((name) => [name, "1"])),
    }),
    ...Object.fromEntries(installed.map((name) => [`node_modules/${name}/package.json`, "{}"])),
  });
  const steps = async (): Promise<string[]> => {
    const { stdout } = await folder.init(".", "--project", "access");
    return (/^next:\n((?: {2}\S.*\n)*)/m.exec(stdout)?.[1] ?? "").trim().split(/\n +/).slice(1);
  };
  folder.env = {
    PLATFORM_BASE_URL: "https://api.example.com",
    PLATFORM_TOKEN: "x",
    PLATFORM_ROOT_GROUP: "0",
  };
  expect(await steps()).toEqual([
    expect.stringMatching(/^npx --no pulumi-platform doctor /),
    "pulumi stack init prod",
    'pulumi config set rootUid "$PLATFORM_ROOT_GROUP"',
    "pulumi up",
  ]);
  for (const path of ["ci.ts", "index.ts", "Pulumi.yaml"]) rmSync(join(folder.root, path));
  folder.write({ "Pulumi.prod.yaml": "config:\n  access:rootUid: '0'\n" });
  expect(await steps()).toEqual(["pulumi up"]);
  expect(await steps()).toEqual([]);
});

test("a workflow that init has not written is named as foreign, and its own is not", async () => {
  const path = ".github/workflows/access-review.yml";
  const foreign = "is not what init writes";
  const folder = new InitFolder().repository(GITHUB).write({ [path]: "on: push\n" });
  expect((await folder.init(".")).stdout).toContain(`${path} ${foreign}`);
  const own = new InitFolder().repository(GITHUB);
  await own.init(".");
  expect((await own.init(".")).stdout).not.toContain(foreign);
});
