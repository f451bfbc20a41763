import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { parse } from "yaml";
import { command } from "../../../../provider/cli/commands/init/init";
import { ROOT } from "../../../support/engine";
import { InitFolder } from "../../../support/initFolder";
import { documents, readPage } from "../../../support/pages";
import { GITIGNORE } from "../../../../provider/cli/input/projectFiles";
import { runCommand } from "../support";

afterEach(() => jest.restoreAllMocks());

const GITHUB = "git@github.com:acme/access.git";
const program = [
  ".gitignore",
  "Pulumi.yaml",
  "access-policy.yaml",
  "index.ts",
  "package.json",
  "tsconfig.json",
];
/** What a project with CI gets beside the program. */
const identities = "ci.ts";
const owners = ".github/CODEOWNERS";
const workflows = ["deploy", "drift", "preview", "review"].map(
  (name) => `.github/workflows/access-${name}.yml`,
);

/** Runs the command, which must be refused and leave the files as they are; returns the error. */
async function refuse(folder: InitFolder, dir: string, ...argv: string[]): Promise<string> {
  const before = folder.files();
  const { code, stderr } = await folder.init(dir, ...argv);
  expect(code).toBe(2);
  expect(folder.files()).toEqual(before);
  return stderr;
}

describe("the program", () => {
  test("an empty folder gets a TypeScript program and a policy, and no workflow", async () => {
    const folder = new InitFolder();
    const given = ["--project", "access", "--base-url", "https://api.acme.example/"];
    const printed = await folder.succeed(".", ...given);
    expect(Object.keys(folder.files())).toEqual(program);
    expect(parse(folder.files()["Pulumi.yaml"] ?? "")).toEqual({
      name: "access",
      description: "Who may do what in the organisation",
      runtime: "nodejs",
      main: "index.ts",
    });
    expect(printed).toContain("export PLATFORM_BASE_URL=https://api.acme.example PLATFORM_TOKEN=…");
    expect(printed).toContain("pulumi stack init prod\n");
    expect(printed).toContain("run this command again (or give --ci)");
  });

  test("a folder that does not exist is created, and names the project", async () => {
    const folder = new InitFolder();
    await folder.succeed("teams/Acme access");
    const files = folder.files();
    expect(Object.keys(files)).toContain("teams/Acme access/index.ts");
    expect(files["teams/Acme access/Pulumi.yaml"]).toContain("name: Acme-access\n");
    expect(JSON.parse(files["teams/Acme access/package.json"] ?? "")).toMatchObject({ name: "acme-access" });
  });

  const plain = { "package.json": "{}" };
  const module = { "package.json": '{ "type": "module" }' };
  const withTypes = { "package.json": '{ "devDependencies": { "typescript": "^5" } }' };
  test.each<[string, RegExp, Record<string, string>, ...string[]]>([
    ["index.js", /^const \{ Config \} = require\(/, plain],
    ["index.js", /^import \{ Config \} from /, module],
    ["index.ts", /^import /, withTypes],
    ["index.ts", /^import /, { "tsconfig.json": "{}" }],
    ["index.js", /^const .*exports\.teamUid = /s, {}, "--language", "javascript"],
    ["index.ts", /^import /, plain, "--language", "typescript"],
  ])("is %s with %s where the folder has %j, with %s %s", async (main, text, files, ...argv) => {
    const folder = new InitFolder().write(files);
    await folder.succeed(".", ...argv);
    expect(Object.keys(folder.files()).filter((path) => path.startsWith("index."))).toEqual([main]);
    expect(folder.files()[main]).toMatch(text);
    expect(folder.files()["Pulumi.yaml"]).toContain(`main: ${main}\n`);
    expect(folder.files()).toMatchObject(files);
  });

  test.each(["index.ts", "index.js"])(
    "keeps an existing Pulumi program in %s, and writes no other",
    async (main) => {
      const project = "name: teams\nruntime:\n  name: nodejs\n";
      const existing = { "Pulumi.yaml": project, [main]: "mine", "package.json": "{}" };
      const folder = new InitFolder().repository(GITHUB).write({ ...existing, "Pulumi.live.yaml": "{}" });
      const printed = await folder.succeed(".");
      const added = Object.keys(folder.files()).filter((path) => !Object.hasOwn(existing, path));
      const own = [".gitignore", "ci.js", "Pulumi.live.yaml", "access-policy.yaml"];
      expect(added).toEqual([...workflows, owners, ...own].sort());
      expect(folder.files()).toMatchObject(existing);
      expect(folder.files()[workflows[0] ?? ""]).toContain("STACK: ORGANIZATION/teams/live\n");
      expect(printed).not.toContain("pulumi stack init");
    },
  );

  const installed = JSON.stringify({ dependencies: { "pulumi-platform": "1.0.0" } });
  test.each(["nodejs", "yaml", "python", "go"])(
    "the jobs that run a program of %s install what it needs; other languages get no ci.ts",
    async (runtime) => {
      const steps = readPage("docs/languages.md").fences.find(({ text }) => text.includes('"$cli" plugin'));
      const [cli = "", plugin = "", packages = ""] = (steps?.text ?? "")
        .split("\n")
        .map((line) => line.replace(/ +#.*/, ""));
      const others = [plugin, ...(runtime === "python" ? [packages] : [])];
      const folder = new InitFolder().repository(GITHUB).write({
        "Pulumi.yaml": `name: teams
runtime: ${runtime}
`,
        "package.json": installed,
      });
      const printed = await folder.succeed(".");
      await folder.succeed(".", "--ci", "gitlab");
      const files = folder.files();
      for (const [job, file] of [
        ["preview", "preview"],
        ["plan", "deploy"],
        ["deploy", "deploy"],
      ] as const) {
        const { jobs } = parse(files[`.github/workflows/access-${file}.yml`] ?? "") as Record<
          "jobs",
          Record<string, { steps: { run?: string }[] }>
        >;
        expect(jobs[job]?.steps.map(({ run }) => run)).toContain([cli, ...others, ""].join("\n"));
        const pipeline = parse(files["access-ci/gitlab-ci.yml"] ?? "") as Record<
          string,
          { script: string[]; image: string }
        >;
        const script = pipeline[`access-${job}`]?.script ?? [];
        expect(script.slice(script.indexOf(plugin), script.indexOf(plugin) + others.length)).toEqual(others);
        expect(script.includes(packages)).toBe(runtime === "python");
        const image = pipeline[".access-review-settings"]?.image;
        expect(image).toMatch(runtime === "nodejs" ? /^pulumi\/pulumi-nodejs:/ : /^pulumi\/pulumi:/);
      }
      expect(Object.hasOwn(files, "ci.js") || Object.hasOwn(files, "ci.ts")).toBe(runtime === "nodejs");
      expect(printed.includes("docs/languages.md shows them")).toBe(runtime !== "nodejs");
      expect(printed.includes(" @pulumi/pulumi\n")).toBe(runtime === "nodejs");
    },
  );

  const project = "name: teams\nruntime: nodejs\n";
  const [atRoot, below] = [{ "Pulumi.yaml": project }, { "infra/Pulumi.yaml": project }];
  const lockfile = { "package-lock.json": "{}" };
  test.each<[open: string, Record<string, string>]>([
    ["no file", atRoot],
    ["no file", { ...atRoot, ".gitignore": "/node_modules\n" }],
    ["no file", { ...below, ".gitignore": "node_modules/\n" }],
    [".gitignore", { ...atRoot, ".gitignore": "dist/\n" }],
    [".gitignore", { "infra/index.ts": "", ".gitignore": "dist/\n" }],
    ["infra/.gitignore", { ...below, "infra/.gitignore": "", "infra/package.json": "{}" }],
    // npm installs beside the lockfile.
    [".gitignore", { ...below, ...lockfile, "infra/.gitignore": "node_modules/\n" }],
    [".gitignore", { ...below, ...lockfile }],
  ])("%s still lacks node_modules after init in %j", async (open, files) => {
    const folder = new InitFolder().repository(GITHUB).write(files);
    const dir = Object.hasOwn(files, "Pulumi.yaml") ? "." : "infra";
    const line = (printed: string) => /^add to (\S+): node_modules\/$/m.exec(printed)?.[1];
    const expected = open === "no file" ? undefined : relative(process.cwd(), join(folder.root, open));
    expect(line(await folder.succeed(dir, "--dry-run"))).toBe(expected);
    expect(line(await folder.succeed(dir))).toBe(expected);
    const ignores = Object.keys(folder.files()).filter((path) => path.endsWith(".gitignore"));
    expect(ignores.length).toBe(1);
  });
});

describe("the host", () => {
  const OF_GITHUB = "https://token.actions.githubusercontent.com";
  const OF_ENTERPRISE = "https://github.acme.example/_services/token";
  const [OF_GITLAB, OF_BRANCH] = ["https://gitlab.com", ":ref_type:branch"];
  // What the identities of CI trust, where there is CI.
  test.each<[remote: string, host: string, issuer?: string, prefix?: string]>([
    [GITHUB, "github", OF_GITHUB, "repo:acme/access"],
    ["https://github.com/acme/access", "github", OF_GITHUB, "repo:acme/access"],
    ["ssh://git@github.acme.example:22/acme/access.git", "github", OF_ENTERPRISE, "repo:acme/access"],
    ["git@acme.ghe.com:acme/access.git", "github", "https://token.actions.acme.ghe.com", "repo:acme/access"],
    ["https://user:canary@gitlab.com/a/b.git", "gitlab", OF_GITLAB, `project_path:a/b${OF_BRANCH}`],
    ["https://gitlab.com/a/deep/b.git", "gitlab", OF_GITLAB, `project_path:a/deep/b${OF_BRANCH}`],
    ["git@gitlab.acme.io:a/b", "gitlab", "https://gitlab.acme.io", `project_path:a/b${OF_BRANCH}`],
    ["https://acme.example/github/access.git", "none"],
    ["git@bitbucket.org:acme/access.git", "none"],
    ["/srv/git/github.com/access.git", "none"],
    ["C:\\git\\gitlab.com", "none"],
  ])("of %s is %s", async (remote, host, issuer = "", prefix = "") => {
    const folder = new InitFolder().repository(remote);
    const printed = await folder.succeed(".");
    const files = folder.files();
    expect(Object.hasOwn(files, ".github/workflows/access-review.yml")).toBe(host === "github");
    expect(Object.hasOwn(files, "access-ci/gitlab-ci.yml")).toBe(host === "gitlab");
    expect(printed).not.toContain("canary");
    if (host === "none") {
      // A host of one's own may have any name.
      const [, named] = /(bitbucket\.org|acme\.example)[/:]/.exec(remote) ?? [];
      if (named !== undefined)
        expect(printed).toContain(
          `whether ${named} is a GitHub or a GitLab is not known: run this command again with --ci`,
        );
      return;
    }
    expect(files["index.ts"]).toMatch(/\n\nexport \* from "\.\/ci";\n$/);
    expect(files[identities]).toContain(`const issuer = "${issuer}";`);
    expect(files[identities]).toContain(`const prefix = "${prefix}";`);
    // What a first review reports of them is explained in place.
    for (const rule of ["G1 (critical)", "T4 (medium)", "T7 (medium or high)"])
      expect(files[identities]).toContain(rule);
    // The sample of the first program trusts the same.
    expect(files["index.ts"]).toContain(`issuer: "${issuer}`);
    const branch = host === "github" ? "refs/heads/main" : "main";
    expect(files["index.ts"]).toContain(`subject: "${prefix}:ref:${branch}"`);
    // Each page that is named is in the installed package.
    const pages = [printed, ...Object.values(files)].join("\n").match(/[\w/.-]*\bdocs\/[\w/-]+\.md/g) ?? [];
    expect(pages.length).toBeGreaterThanOrEqual(2);
    for (const page of pages) {
      expect(page).toMatch(/^node_modules\/pulumi-platform\//);
      expect(fs.existsSync(join(ROOT, page.replace("node_modules/pulumi-platform/", "")))).toBe(true);
    }
  });

  const [github, gitlab] = [{ ".github/dependabot.yml": "" }, { ".gitlab-ci.yml": "" }];
  test.each([
    ["the files of GitHub", github, [], "workflows/access-review.yml"],
    ["the files of GitLab", gitlab, [], "gitlab-ci.yml"],
    ["the files of both", { ...github, ...gitlab }, [], "nothing"],
    ["an option", github, ["--ci", "gitlab"], "gitlab-ci.yml"],
    ["an option for none", github, ["--ci", "none"], "nothing"],
  ])("%s decide where no remote does", async (_, files, argv, written) => {
    const folder = new InitFolder().repository().write(files);
    await folder.succeed(".", ...argv);
    const added = Object.keys(folder.files()).filter((path) => /access-review\.yml$|access-ci/.test(path));
    expect(added).toEqual(written === "nothing" ? [] : [expect.stringContaining(written)]);
  });
});

describe("the workflows", () => {
  test("stand at the root of the repository, and name the folder of the program", async () => {
    const folder = new InitFolder().repository(GITHUB).write({ "package-lock.json": "{}" });
    const printed = await folder.succeed("services/access", "--stack", "acme-cloud/access/live");
    const files = folder.files();
    const own = [...program, identities].map((name) => `services/access/${name}`);
    expect(Object.keys(files)).toEqual([...workflows, owners, "package-lock.json", ...own].sort());
    for (const path of workflows) {
      expect(files[path]).not.toMatch(
        /\binfra\b|OWNER|acme\/access\/prod|inputs\.|# (Replace|Change) |ORGANIZATION/,
      );
      expect(files[path]).toContain("acme-cloud/access/live");
    }
    expect(files[workflows[0] ?? ""]).toContain("organization: acme-cloud\n");
    expect(files[workflows[0] ?? ""]).toContain("working-directory: services/access\n");
    expect(files[owners]).toContain("\npackage-lock.json @acme/security\n");
    expect(printed).toContain("replace here and in the files: @acme/security (your team)\n");
  });

  test("print one line with the placeholders to replace", async () => {
    const init = async (...argv: string[]) => {
      const folder = new InitFolder().repository("git@gitlab.com:acme/access.git");
      const [line = ""] = (await folder.succeed(".", ...argv)).match(/^replace here .*$/gm) ?? [];
      return { line, pipeline: folder.files()["access-ci/gitlab-ci.yml"] ?? "" };
    };
    // doctor --ci reports the tag of an image, which can be moved.
    const toPin =
      /^replace here and in the files: .*@acme\/security \(your team\), pulumi\/pulumi-nodejs:\S+ \(add @ .*\)$/;
    const { line, pipeline } = await init();
    expect(line).toMatch(toPin);
    const placeholders = line.match(/ORGANIZATION|https:\S+/g) ?? [];
    expect(placeholders).toHaveLength(3);
    for (const placeholder of placeholders) expect(pipeline).toContain(placeholder);

    const urls = ["--base-url", "https://api.acme.example", "--issuer-url", "https://issuer.acme.example"];
    const known = await init("--stack", "acme/access/live", "--project", "access", ...urls);
    expect(known.line).toMatch(toPin);
    expect(known.line + known.pipeline).not.toMatch(/ORGANIZATION|platform\.example/);
    // No job reaches the emulator of this machine.
    const local = await init(
      "--base-url",
      "http://127.0.0.1:18231",
      "--issuer-url",
      "http://localhost:18231",
    );
    expect(local.line).toContain("https://api.platform.example (the API)");
    expect(local.pipeline).not.toMatch(/127\.0\.0\.1|localhost/);
  });

  const head = "symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/a";
  test.each<[commands: string, branch: string, from: string, ...string[]]>([
    [`update-ref refs/remotes/origin/a HEAD; ${head}`, "a", "of the remote origin"],
    ["branch -M master", "master", "local branch"],
    ["branch --all", "topic", "the only local branch"],
    // Several, none of a usual name.
    ["branch other", "main", "by default"],
    ["symbolic-ref HEAD refs/heads/setup-ci", "setup-ci", "local branch, no commit yet"],
    ["branch -M master", "trunk", "--branch", "--branch=trunk"],
  ])("run, after git %s, on the branch %s, which is %s", async (commands, branch, from, ...argv) => {
    const folder = new InitFolder().repository(GITHUB);
    folder.git("commit", "--quiet", "--allow-empty", "--message", "empty").git("branch", "-M", "topic");
    for (const command of commands.split("; ")) folder.git(...command.split(" "));
    expect(await folder.succeed(".", ...argv)).toContain(`default branch: ${branch} (${from}; `);
    expect(folder.files()[".github/workflows/access-preview.yml"]).toContain(`branches: [${branch}]\n`);
  });

  test.each([
    ["pnpm-lock.yaml", "lockfileVersion: 9", "pnpm install --frozen-lockfile --ignore-scripts", "pnpm exec"],
    [
      "yarn.lock",
      "# yarn lockfile v1",
      "yarn install --frozen-lockfile --ignore-scripts",
      "yarn --silent run",
    ],
    ["yarn.lock", "#\n\n__metadata:\n", "yarn install --immutable --mode=skip-build", "yarn run"],
    ["package-lock.json", "{}", "npm ci --ignore-scripts --prefix .", "npx --no"],
  ])("use the package manager of %s: %s", async (lockfile, text, install, run) => {
    const manager = install.split(" ")[0] ?? "";
    for (const remote of [GITHUB, "git@gitlab.com:acme/access.git"]) {
      const folder = new InitFolder().repository(remote).write({ [lockfile]: text });
      const printed = await folder.succeed("infra");
      const paths = Object.keys(folder.files()).filter((path) => path.endsWith(".yml"));
      const written = paths.map((path) => folder.files()[path]).join("\n");
      expect(written).toContain(install);
      expect(written).not.toMatch(/\bnpx\b|\bpnpm exec\b|\byarn (--silent )?run\b|pulumi-platform \w/);
      if (manager !== "npm") expect(written).not.toMatch(/\bnpm /);
      expect(printed).toContain(`${run} pulumi-platform`);
      expect(printed).toContain(`${manager} ${manager === "npm" ? "install" : "add"} ./pulumi-platform-`);
    }
  });
});

describe("the identities of CI", () => {
  test.each([
    [{ "package.json": "{}" }, "ci.js", /^Object\.assign\(exports, require\("\.\/ci"\)\);$/m],
    [{ "package.json": '{ "type": "module" }' }, "ci.js", /^export \* from "\.\/ci\.js";$/m],
  ])("of a program in %j are in %s", async (files, name, line) => {
    const folder = new InitFolder().repository(GITHUB).write(files);
    await folder.succeed(".");
    expect(folder.files()["index.js"]).toMatch(line);
    expect(folder.files()[name]).toMatch(line.source.includes("require") ? /= require\(/ : /^import /m);
  });

  const project = { "Pulumi.yaml": "name: a\nruntime: nodejs\n" };
  test.each<[Record<string, string>, string, string]>([
    [project, "the main file of the program", "./ci"],
    [{ ...project, "index.ts": "" }, "index.ts", "./ci"],
    [{ "Pulumi.json": '{ "name": "a", "runtime": "nodejs" }', "index.ts": "" }, "index.ts", "./ci"],
    [{ "Pulumi.yaml": `${project["Pulumi.yaml"]}main: src/\n`, "src/index.ts": "" }, "src/index.ts", "../ci"],
    [
      { ...project, "package.json": '{ "main": "./src/access.ts" }', "src/access.ts": "" },
      "src/access.ts",
      "../ci",
    ],
    [{ ...project, "package.json": '{ "main": "dist/index.js" }', "index.ts": "" }, "index.ts", "./ci"],
    [{ ...project, "index.ts": "export = async () => ({});\n" }, "index.ts", 'import "./ci";'],
    [{ ...project, "index.js": "" }, "index.js", 'Object.assign(exports, require("./ci"));'],
    [
      { ...project, "index.js": "", "package.json": '{ "type": "module" }' },
      "index.js",
      'export * from "./ci.js";',
    ],
  ])("are added to a program that exists by the line that is printed: %j", async (files, main, how) => {
    const line = `add to ${main}: ${how.endsWith(";") ? how : `export * from "${how}";`}\n`;
    expect(await new InitFolder().repository(GITHUB).write(files).succeed(".", "--dry-run")).toContain(line);
    expect(await new InitFolder().repository(GITHUB).write(files).succeed(".")).toContain(line);
  });

  test("are written beside a TypeScript program that Pulumi cannot run, which is said", async () => {
    const files = { ...project, "index.ts": "", "package.json": '{ "type": "module" }' };
    const said =
      /^Pulumi runs a TypeScript program as CommonJS: take the type "module" out of package\.json/m;
    const loaded = {
      "Pulumi.yaml": "name: access\nruntime: { name: nodejs, options: { nodeargs: --import tsx } }\n",
    };
    expect(await new InitFolder().repository(GITHUB).write(files).succeed(".")).toMatch(said);
    const others = [
      { ...files, ...loaded },
      { ...files, "package.json": "{}" },
    ];
    for (const other of others)
      expect(await new InitFolder().repository(GITHUB).write(other).succeed(".")).not.toMatch(said);
  });

  test("are told with what is to be set for a program that exists", async () => {
    const folder = new InitFolder().repository(GITHUB).write(project);
    const printed = await folder.succeed(".");
    expect(printed).toContain("pulumi config set rootUid UID\n");
    // What the identities do not trust, and what their role does not cover, shows in CI only.
    expect(printed).toMatch(
      / what prefix in \S*ci\.ts must be:\n +gh api "repos\/\{owner\}\/\{repo\}\/actions\/oidc/,
    );
    expect(printed).toMatch(
      /ci-deployer covers groups, [^]*least-privilege\.md[^]*doctor --ci --stack \S+\/\w+\n/,
    );
  });
});

describe("the commands that set variables", () => {
  test.each([
    [GITHUB, "gh variable set ", "gh secret set ACCESS_APP_PRIVATE_KEY --env access-status"],
    [
      "git@gitlab.com:acme/access.git",
      "glab variable set ",
      "glab variable set GITLAB_TOKEN --masked --scope access-post",
    ],
  ])("of %s are printed, or written with --commands", async (remote, command, secret) => {
    const [printing, writing] = [new InitFolder().repository(remote), new InitFolder().repository(remote)];
    const printed = await printing.succeed(".", "--base-url", "https://api.acme.example");
    const lines = printed.split("\n").filter((line) => line.startsWith(`  ${command.split(" ")[0] ?? ""} `));
    expect(lines.join("\n")).toContain(`${command}PLATFORM_DEPLOY_IDENTITY`);
    expect(lines.join("\n")).toContain(secret);
    expect(printing.files()["ci-commands.sh"]).toBeUndefined();
    const short = await writing.succeed(".", "--commands", "--base-url", "https://api.acme.example");
    expect(short).not.toContain(secret);
    expect(short).toContain("  sh ci-commands.sh ");
    const script = writing.files()["ci-commands.sh"] ?? "";
    expect(script.split("\n").filter((line) => /^gl?[ahb]+ /.test(line))).toEqual(
      lines.map((line) => line.trim().replace(/"\$\(.*\)"/, '"$value"')),
    );
    // A shell goes on where a command inside of an argument fails, and would empty the variable.
    expect(script.split("\n").filter((line) => line.startsWith("value="))).toEqual(
      lines.flatMap((line) => /"(\$\(.*\))"/.exec(line)?.slice(1) ?? []).map((one) => `value=${one}`),
    );
    const { status, stdout, stderr } = spawnSync("sh", [join(writing.root, "ci-commands.sh")], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 1, stderr: "replace what stands in <…> first\n" });
    expect(stdout).toContain("<file of ");
  });
});

test.each([
  [GITHUB, "docs/CODEOWNERS"],
  ["git@gitlab.com:acme/access.git", ".gitlab/CODEOWNERS"],
])("code owners of %s in %s are kept: the output has the lines for its end", async (remote, path) => {
  const folder = new InitFolder()
    .repository(remote)
    .write({ [path]: "* @acme/all\npackage.json @acme/security\n" });
  const printed = await folder.succeed(".");
  expect(Object.keys(folder.files()).filter((one) => one.endsWith("CODEOWNERS"))).toEqual([path]);
  expect(printed).toMatch(/^add at the end of \S*CODEOWNERS, because the last pattern/m);
  expect(printed).toMatch(
    /^replace here .*@acme\/security \(your team, in the lines to add to CODEOWNERS\)/m,
  );
  expect(printed).toContain("\n  access-policy.yaml @acme/security\n");
  // A line in the middle of others decides nothing.
  expect(printed).toContain("\n  package.json @acme/security\n");
});

describe("nothing is overwritten:", () => {
  const some = [...program.slice(0, 4), identities, owners, ...workflows.slice(1, 2)];
  test.each(some)("%s is kept and named, and all other files are written", async (path) => {
    const isProject = path === "Pulumi.yaml";
    const text = isProject ? "name: a\nruntime: nodejs\n" : "{}";
    const folder = new InitFolder().repository(GITHUB).write({ [path]: text });
    const printed = await folder.succeed(".", ...(isProject ? [] : ["--language", "typescript"]));
    expect(folder.files()[path]).toBe(text);
    const expected = isProject ? [".gitignore", "Pulumi.yaml", "access-policy.yaml"] : program;
    expect(Object.keys(folder.files())).toEqual([...expected, identities, owners, ...workflows].sort());
    if (!isProject && path !== ".gitignore")
      expect(printed).toMatch(new RegExp(`exists, left as it is: .*${path}\n`));
    expect(printed.includes("getRole({")).toBe(path === "index.ts");
  });

  test("a link that leads nowhere is a file that exists", async () => {
    const folder = new InitFolder().repository(GITHUB);
    fs.symlinkSync(join(folder.root, "nowhere"), join(folder.root, "access-policy.yaml"));
    expect(await folder.succeed(".")).toContain("access-policy.yaml");
    expect(Object.keys(folder.files())).not.toContain("nowhere");
  });

  test("--dry-run prints the text of each file, and writes none", async () => {
    const folder = new InitFolder().repository(GITHUB);
    const printed = await folder.succeed("infra", "--dry-run");
    expect(folder.files()).toEqual({});
    expect(fs.readdirSync(folder.root)).toEqual([".git"]);
    await folder.succeed("infra");
    for (const [path, text] of Object.entries(folder.files())) {
      expect(printed).toContain(`${path}:\n\n${text.trimEnd()}\n`);
    }
  });
});

describe("all files or none:", () => {
  test.each(["infra", ".github", ".github/workflows"])("%s may not be a file", async (path) => {
    const folder = new InitFolder().repository(GITHUB).write({ [path]: "a file" });
    expect(await refuse(folder, "infra")).toMatch(/is a file/);
  });

  test.each([".github", ".github/workflows", "infra"])(
    "%s may not lead out of the repository",
    async (path) => {
      const [folder, outside] = [new InitFolder().repository(GITHUB), new InitFolder()];
      fs.mkdirSync(join(folder.root, path, ".."), { recursive: true });
      fs.symlinkSync(outside.root, join(folder.root, path));
      // The folder of the program is where its link leads: another one, without a repository.
      if (path === "infra") await folder.succeed(path);
      else expect(await refuse(folder, "infra")).toMatch(/symbolic link that leads out of/);
      expect(Object.keys(outside.files())).toEqual(path === "infra" ? program : []);
    },
  );

  test("a link within the repository is followed", async () => {
    const folder = new InitFolder().repository(GITHUB).write({ "shared/.keep": "" });
    fs.symlinkSync(join(folder.root, "shared"), join(folder.root, ".github"));
    await folder.succeed("infra");
    expect(Object.keys(folder.files())).toContain("shared/workflows/access-review.yml");
  });

  test("a folder that may not be written is refused", async () => {
    const folder = new InitFolder().repository(GITHUB);
    jest.spyOn(fs, "accessSync").mockImplementation(() => {
      throw Object.assign(new Error(), { code: "EACCES" });
    });
    expect(await refuse(folder, "infra")).toContain(`${folder.root} cannot be written: permission denied`);
  });

  test.each([0, program.length, program.length + workflows.length + 1])(
    "a failure at file %d removes all other written files",
    async (index) => {
      const folder = new InitFolder().repository(GITHUB);
      const { linkSync } = fs;
      let calls = 0;
      jest.spyOn(fs, "linkSync").mockImplementation((from, to) => {
        if (calls++ === index) throw Object.assign(new Error(), { code: "ENOSPC" });
        linkSync(from, to);
      });
      expect(await refuse(folder, "infra")).toMatch(
        /cannot be written: no space left on the disk; nothing was written/,
      );
      expect(calls).toBe(index + 1);
      expect(fs.readdirSync(folder.root)).toEqual([".git"]);
    },
  );
});

describe("wrong input gets one line:", () => {
  const pulumi = (text: string) => ({ "Pulumi.yaml": text });
  const nodejs = pulumi("name: a\nruntime: nodejs\n");
  const module = { "package.json": '{ "type": "module" }' };
  const dependency = { "package.json": '{ "dependencies": { "a": "file:./${{ github.token }}" } }' };
  interface Input {
    readonly files?: Readonly<Record<string, string>>;
    readonly dir?: string;
    readonly argv?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  }
  test.each<[message: string, Input]>([
    ["one of these runtimes: nodejs, yaml, python, go", { files: pulumi("name: a\nruntime: dotnet\n") }],
    ["Pulumi.yaml cannot be read as YAML or JSON; correct it first (PP2012)", { files: pulumi("a: [") }],
    ["package.json is no JSON, or holds no object", { files: { "package.json": "{" } }],
    ["give --language javascript", { files: module, argv: ["--language", "typescript"] }],
    ["write slashes between folders", { dir: "infra\\access" }],
    ["characters that a workflow cannot hold", { dir: "${{ github.token }}", argv: ["--ci", "github"] }],
    ["--project must have letters", { argv: ["--project", "a b"] }],
    ["conflicts with the project a", { files: nodejs, argv: ["--project", "b"] }],
    ["--language conflicts with", { files: nodejs, argv: ["--language", "javascript"] }],
    ["--stack must be a stack, as in prod or acme/access/prod", { argv: ["--stack", "a/b"] }],
    [
      "acme, and s3://acme-state has none; write organization in its place (PP5003)",
      {
        argv: ["--ci", "github", "--project", "access", "--stack", "acme/access/prod"],
        env: { PULUMI_BACKEND_URL: "s3://acme-state" },
      },
    ],
    ["--stack names the project other", { argv: ["--project", "access", "--stack", "acme/other/prod"] }],
    ["--base-url must be an http or https URL", { argv: ["--base-url", "ftp://acme"] }],
    ["--issuer-url must be", { argv: ["--issuer-url", "https://a/$(b)"] }],
    ["PLATFORM_ISSUER_URL must be an http or https URL", { env: { PLATFORM_ISSUER_URL: "ftp://acme" } }],
    ["has characters that a workflow cannot hold", { files: dependency, argv: ["--ci", "github"] }],
    ["init takes one folder", { argv: ["second"] }],
    [
      'the name in Pulumi.yaml must have letters, digits, ".", "_" and "-" only, not "${{ github.token }}"',
      { files: pulumi('name: "${{ github.token }}"\nruntime: nodejs\n') },
    ],
  ])("%s: %j", async (message, { files = {}, dir = ".", argv = [], env = {} }) => {
    const folder = new InitFolder().repository().write(files);
    folder.env = env;
    const error = await refuse(folder, dir, ...argv);
    expect(error).toContain(message);
    expect(error.trimEnd().split("\n")).toHaveLength(1);
  });

  test.each<[path: string, is: "circle" | "pipe" | "folder", says: string]>([
    ["index.ts", "pipe", "it is no regular file (PP5005)"],
    ["index.ts", "folder", "it is a folder; name a file (PP5005)"],
    ["package.json", "pipe", "it is no regular file (PP5005)"],
    ["Pulumi.prod.yaml", "pipe", "it is no regular file (PP5005)"],
    [".github/workflows/access-deploy.yml", "pipe", "it is no regular file (PP5005)"],
    [".github", "circle", "its symbolic links form a circle (PP5005)"],
    [".github/CODEOWNERS", "circle", "its symbolic links form a circle (PP5005)"],
  ])("%s is a %s, without a wait", async (path, is, says) => {
    const folder = new InitFolder().repository();
    if (path !== "package.json") folder.write(nodejs);
    const at = join(folder.root, path);
    fs.mkdirSync(dirname(at), { recursive: true });
    if (is === "pipe") execFileSync("mkfifo", [at]);
    else if (is === "folder") fs.mkdirSync(at);
    else fs.symlinkSync(basename(at), at);
    const { code, stderr: error } = await folder.init(".", "--ci", "github");
    expect(code).toBe(2);
    expect(error).toMatch(new RegExp(`${basename(at)}\\S* cannot be read: `));
    expect(error).toContain(says);
    expect(error.trimEnd().split("\n")).toHaveLength(1);
  });

  test.each([
    ["--weird", "write slashes between folders, options before --, and ./--weird for this name"],
    ["", 'DIR must be a folder, not ""'],
    ["  ", 'DIR must be a folder, not ""'],
    ["a\nb", 'DIR must be a folder, not "a'],
  ])("the folder %j after --", async (dir, message) => {
    const before = fs.readdirSync(process.cwd());
    const { code, stderr } = await runCommand(command.main, ["--", dir], {});
    expect(code).toBe(2);
    expect(stderr).toMatch(/^pulumi-platform: [^\n]* \(PP5002\)\n$/);
    expect(stderr).toContain(message);
    expect(fs.readdirSync(process.cwd())).toEqual(before);
  });

  test("a default branch with an expression", async () => {
    const folder = new InitFolder()
      .repository(GITHUB)
      .git("commit", "--quiet", "--allow-empty", "--message", "a");
    folder.git("update-ref", "refs/remotes/origin/${{a}}", "HEAD");
    folder.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/${{a}}");
    expect(await refuse(folder, ".")).toMatch(
      /the default branch \(of the remote origin\) must be the name of a branch, .* not "\$\{\{a\}\}"/,
    );
  });

  const notBranches = ["", "@", "a+b", "a b", "a..b", "a.lock", ".a", "a//b", "-a", "a."];
  const notYaml = ['a"b', "a'b", "a\nb", "${{a}}", "$(a)", "«a»"];
  test.each([...notBranches, ...notYaml])("the branch %j, also without workflows", async (name) => {
    const error = await refuse(new InitFolder().repository(GITHUB), ".", "--ci", "none", `--branch=${name}`);
    expect(error).toMatch(/^pulumi-platform: --branch [^\n]* \(PP5002\)\n$/);
  });

  test("the name of a machine with a quote", async () => {
    const folder = new InitFolder().repository('https://a"+b+"/acme/access');
    await folder.succeed(".", "--ci", "github");
    expect(folder.files()["ci.ts"]).not.toContain("+b+");
  });
});

test.each(["github", "gitlab"] as const)("the page of %s shows the output as it is", async (host) => {
  const page = fs.readFileSync(join(ROOT, `docs/tasks/review-in-${host}.md`), "utf8");
  const [, sample = ""] = /^```text\n(wrote [^`]*?)…\n```$/m.exec(page) ?? [];
  const devDependencies = { typescript: "5", "@types/node": "20" };
  const folder = new InitFolder().repository(`git@${host}.com:acme/access.git`).write({
    "access/package.json": JSON.stringify({ devDependencies }),
    ".git/refs/remotes/origin/HEAD": "ref: refs/remotes/origin/main\n",
    ".git/refs/remotes/origin/main": `${"1".repeat(40)}\n`,
  });
  const urls = ["--base-url", "https://api.example.com", "--issuer-url", "https://issuer.example.com"];
  const { stdout } = await folder.init("access", ...urls);
  const below = relative(process.cwd(), folder.root);
  const shown = stdout.replaceAll(`${below}/access/`, "").replaceAll(`${below}/`, "../");
  expect(shown.slice(0, sample.length)).toBe(sample);
});

test("git ignores the files that the documented commands write, also those of a program of pulumi new", () => {
  const commands = documents.flatMap((path) => readPage(path).fences.map(({ text }) => text));
  const written = Array.from(
    commands.join("\n").matchAll(/(?:-o|--output) [a-z]+=([\w.-]+)|(?:> |--save-plan )([\w.-]+\.json)/g),
    ([, report = "", file = report]) => file,
  );
  expect(new Set(written).size).toBeGreaterThan(9);
  expect(GITIGNORE.split("\n")).toEqual(expect.arrayContaining(written));
  const template = join(ROOT, "templates/typescript/${DESCRIPTION}.gitignore");
  expect(fs.readFileSync(template, "utf8")).toBe(GITIGNORE);
});
