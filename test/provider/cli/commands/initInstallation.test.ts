import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { findPackageManager, unexpectedFiles } from "../../../../provider/cli/input/packageManager";
import type { PackageManager } from "../../../../provider/cli/input/packageManager";
import { decidingFiles } from "../../../../provider/cli/commands/init/workflows";
import { ROOT } from "../../../support/engine";
import { InitFolder } from "../../../support/initFolder";
import { spreadOf } from "../../../support/properties";
import { writeInitWorkflows } from "../../../support/initWorkflows";
import { temporaryFolder } from "../../../support/folders";
import { ending } from "../support";

const LOCKFILES: Readonly<Record<string, readonly [string, string]>> = {
  npm: ["package-lock.json", "{}"],
  pnpm: ["pnpm-lock.yaml", "lockfileVersion: 9"],
  "Yarn 1": ["yarn.lock", "# yarn lockfile v1"],
  "Yarn 4": ["yarn.lock", "#\n\n__metadata:\n"],
};

const newFolder = (files: Readonly<Record<string, string>>): string => new InitFolder().write(files).root;

const managerOf = ([lockfile, text]: readonly [string, string]): PackageManager =>
  findPackageManager([newFolder({ [lockfile]: text })]);

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
  const installationsIn = (file: string): string[] =>
    scriptsIn(parse(readFileSync(join(workflows, file), "utf8"))).filter((script) =>
      script.includes(manager.installInCi),
    );
  const [installation = "exit 99"] = installationsIn("access-preview.yml");
  const refusal = installation.replace(manager.installInCi, "pwd");

  /** Ends as a job of the folder app/infra does, which has begun with these files in the repository. */
  function runRefusal(files: Readonly<Record<string, string>>) {
    const root = newFolder({ "app/infra/index.js": "", ...files });
    const cwd = join(root, "app", "infra");
    const { status, stdout, stderr } = spawnSync("sh", ["-ec", refusal], { cwd, encoding: "utf8" });
    return { code: status, root, printed: stdout + stderr };
  }

  test.each(["/app/infra", "/app", ""])("a lockfile alone is installed where it lies, in %j", (folder) => {
    const { code, root, printed } = runRefusal({ [`.${folder}/${lockfile}`]: text });
    expect({ code, printed }).toEqual({ code: 0, printed: `${root}${folder}\n` });
  });

  test.each([...unexpectedFiles(manager).entries()])(
    "file %i, %s, is refused where the installation would read it, and by init",
    async (index, name) => {
      const file = name === "node_modules" ? "node_modules/.bin/pulumi-platform" : name;
      for (const folder of spreadOf(["app/infra/", "app/", ""], 1, index)) {
        const { code, printed } = runRefusal({ [lockfile]: text, [folder + file]: "{}" });
        expect(code).toBe(1);
        expect(printed).toMatch(/^remove \/[^\n]* from the repository: it can change what is installed\n$/);
        expect(printed).toContain(`/${folder}${name} from`);
      }
      const above = { [`app/infra/${lockfile}`]: text, [`app/${file}`]: "{}" };
      if (index === 0) expect(runRefusal(above).code).toBe(0);

      if (name === "node_modules") return;
      // Where both are of a package manager with workflows, the first of them is chosen, and the other one refused.
      const folder = new InitFolder().repository(GITHUB).write({ [lockfile]: text, [name]: "{}" });
      expect(await folder.init("infra", "--ci", "github")).toMatchObject(
        ending(2, /\.(json|yaml|lock|lockb) conflicts with the workflows, which install by.* \(PP5011\)\n$/),
      );
      if (index === 0) expect((await folder.init("infra", "--ci", "none")).code).toBe(0);
    },
  );

  test("each installation of the workflows begins with this check, and Corepack reads no file of the repository", () => {
    const names = ["deploy", "drift", "preview", "review"].map((kind) => `access-${kind}.yml`);
    for (const name of [...names, "gitlab-ci.yml"]) {
      expect(new Set(installationsIn(name))).toEqual(new Set([installation]));
      const document = parse(readFileSync(join(workflows, name), "utf8")) as Record<string, unknown>;
      const settings = ["review", "deploy", "drift"].map((part) => document[`.access-${part}-settings`]);
      for (const environment of name === "gitlab-ci.yml" ? settings : [document["env"]]) {
        expect(JSON.stringify(environment)).toContain('"COREPACK_ENV_FILE":"0"');
        expect(JSON.stringify(environment)).toMatch(/"PULUMI_BACKEND_URL":.*https:\/\/api\.pulumi\.com/);
      }
    }
  });

  test("init names each file that decides what is installed", async () => {
    const dependencies = '{ "dependencies": { "pulumi-platform": "file:../vendor/platform" } }';
    const policy = { "infra/access-policy.yaml": "rules: rules/ours.mjs\n" };
    const files = { [lockfile]: text, "infra/package.json": dependencies, ...policy };
    const folder = new InitFolder().repository(GITHUB).write(files);
    await folder.init("infra");
    const owners = folder.files()[".github/CODEOWNERS"] ?? "";
    for (const file of decidingFiles(manager)) expect(owners).toContain(`\n${file} @acme/security\n`);
    expect(owners).toMatch(
      /\n\/vendor\/platform\/ @acme\/security\n\/infra\/rules\/ours\.mjs @acme\/security\n$/,
    );
  });
});

test("npm installs by the lockfile of the folder, also where a package.json above calls the folder a workspace", () => {
  const own = { dependencies: { dep: "file:dep" } };
  const packages = { "": own, dep: {}, "node_modules/dep": { resolved: "dep", link: true } };
  const root = newFolder({
    "package.json": JSON.stringify({ workspaces: ["infra"] }),
    "package-lock.json": JSON.stringify({ lockfileVersion: 3, packages: { "": { workspaces: ["infra"] } } }),
    "infra/package.json": JSON.stringify(own),
    "infra/package-lock.json": JSON.stringify({ lockfileVersion: 3, packages }),
    "infra/dep/package.json": "{}",
  });
  const cwd = join(root, "infra");
  const { installInCi } = managerOf(["package-lock.json", "{}"]);
  execFileSync("sh", ["-ec", installInCi], { cwd, stdio: "pipe" });
  expect(readdirSync(join(cwd, "node_modules"))).toContain("dep");
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
    const folder = newFolder({ ".gitignore": `${decidingFiles(manager).join("\n")}\n` });
    execFileSync("git", ["init", "--quiet", folder]);
    const paths = [...ALWAYS, ...read].flatMap((path) => [path, `services/infra/${path}`]);
    const matched = spawnSync("git", ["-C", folder, "check-ignore", "--stdin"], {
      input: [...paths, "index.ts", "services/infra/index.ts"].join("\n"),
      encoding: "utf8",
    });
    expect(matched.stdout.trim().split("\n").sort()).toEqual(paths.sort());
  },
);

test.each(["review-in-github.md", "review-in-gitlab.md"])(
  "%s lists the files of each package manager",
  (page) => {
    const text = readFileSync(join(ROOT, "docs", "tasks", page), "utf8");
    for (const own of Object.values(LOCKFILES))
      for (const file of decidingFiles(managerOf(own))) expect(text).toContain(file);
  },
);

/* `doctor --ci` finds the same; `doctorCi.test.ts` has the forms of it. */
test.each([
  // A copy that lies in the folder is not made again.
  [
    "file:../../out/a.tgz",
    { "infra/a.tgz": "" },
    /^ {2}npm install \.\/a\.tgz {3}# pulumi-platform is outside of the repository, and CI does not have it$/m,
  ],
  ["^0.1.0", {}, /^(?!.*outside of the repository)/s],
])("what CI does not have is named with what to do: %s, with %j", async (path, files, line) => {
  const manifest = JSON.stringify({ dependencies: { "pulumi-platform": path } });
  const folder = new InitFolder().repository(GITHUB).write({ "infra/package.json": manifest, ...files });
  expect((await folder.init("infra")).stdout).toMatch(line);
});

const packageAt = (path: string) => ({
  "package.json": JSON.stringify({ dependencies: { "pulumi-platform": path, "@pulumi/pulumi": "3" } }),
});
const existing = { "infra/Pulumi.yaml": "name: access\nruntime: nodejs\n" };
const installed = { "node_modules/pulumi-platform/package.json": "{}" };
test.each<[step: string, files: Readonly<Record<string, string>>]>([
  ["", { ...packageAt("file:vendor/a.tgz"), ...existing, ...installed }],
  ["", { ...packageAt("^0.1.0"), ...existing, ...installed }],
  ["", { ...packageAt("^0.1.0"), ...existing, ...installed, "infra/package.json": "{}" }],
  // A new program has it from there too.
  ["", { ...packageAt("file:vendor/a.tgz"), ...installed }],
  ["npm install", { ...packageAt("file:vendor/a.tgz"), ...existing }],
  ["npm install ./pulumi-platform-*.tgz", { ...packageAt("file:../out/a.tgz"), ...existing, ...installed }],
])("below a package.json with this package, the step that installs it is %j: %j", async (step, files) => {
  const folder = new InitFolder().repository(GITHUB).write(files);
  const { stdout } = await folder.init("infra");
  const steps = stdout.match(/(?<=^ {2}|&& )npm install.*/gm) ?? [];
  const shown = steps.map((one) => one.replace(/platform-\d.*/, "platform-*.tgz"));
  expect(shown).toEqual(step === "" ? [] : [step]);
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
