import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { startEmulator } from "../../emulator";
import { Stack } from "../support/engine";
import { SECRETS_PROVIDER, startKeyServer } from "../support/keyServer";
import { fileNameOf, folderWithPackage, isShell, pages, programsOf, readPage } from "../support/pages";
import { endChildren, run } from "../support/project";
import { writeReplayedNpx } from "../support/replayedNpm";
import { clean, compile } from "../support/tools";

/*
 * Runs the commands of all pages in one session with one stack, and compiles their programs. Pages that name a test are
 * run by that test.
 */

let folder: string;

beforeAll(() => {
  folder = folderWithPackage("pages");
});
afterAll(() => {
  endChildren();
  rmSync(folder, { recursive: true, force: true });
});

const compilerOptions = {
  target: "ES2022",
  module: "Node16",
  moduleResolution: "Node16",
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  allowJs: true,
  checkJs: true,
  types: ["jest", "node"],
};

test("the programs of all pages have right types", () => {
  const programs = pages.flatMap((path) =>
    programsOf(readPage(path), "ts", "js").map((fence) => ({
      // The compiler names the file: the page and the line of a mistake. Others import it by a name that the page gives it.
      name: fileNameOf(fence, `${path.replaceAll("/", "-")}-${fence.line}.${fence.language}`),
      text: fence.text,
    })),
  );
  expect(programs.length).toBeGreaterThan(4);
  const at = join(folder, "programs");
  mkdirSync(at);
  for (const { name, text } of programs) writeFileSync(join(at, name), text, { flag: "wx" });
  writeFileSync(join(at, "package.json"), '{ "type": "module" }');
  const files = programs.map(({ name }) => name);
  writeFileSync(join(at, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  expect(compile(at)).toEqual(clean);
});

const PROJECT = {
  "Pulumi.yaml": "name: acme\nruntime:\n  name: nodejs\n  options: { typescript: false }\n",
  "package.json": '{ "name": "acme", "main": "index.js" }',
  "index.js": `const { Group } = require("pulumi-platform");
const root = new Group("acme", { name: "acme" });
new Group("payments", { parentUid: root.id, name: "payments" });
exports.root = root.id;
`,
  "access-policy.yaml": "allow: []\n",
  "Pulumi.prod.yaml": `secretsprovider: ${SECRETS_PROVIDER.url}\nencryptedkey: ${SECRETS_PROVIDER.encryptedkey}\n`,
};

/** What the commands of the pages find: a stack that manages all of an organisation, its export, and a repository with a default branch. */
const SETUP = `
pulumi stack init prod --secrets-provider ${SECRETS_PROVIDER.url}
pulumi up --yes --skip-preview
export PLATFORM_ROOT_GROUP=$(pulumi stack output root)
mkdir exports
pulumi stack export --file exports/prod.json
git init --quiet
git -c user.name=test -c user.email=test@example.com commit --quiet --allow-empty --message empty
git update-ref refs/remotes/origin/main HEAD
`;

test("the commands of all pages succeed, in one session", async () => {
  const fences = pages.flatMap((path) => {
    const page = readPage(path);
    return page.runBy === undefined
      ? programsOf(page)
          .filter(isShell)
          .map(({ text, line }) => ({ place: `${path}:${line}`, text }))
      : [];
  });
  const emulator = await startEmulator();
  const stack = new Stack({ url: emulator.url, token: emulator.token, directory: folder });
  stack.files(PROJECT);
  const inherited = stack.environment();
  const commands = join(folder, "commands");
  writeReplayedNpx(commands, join(folder, "run"));
  const env = {
    ...inherited,
    VAULT_SERVER_URL: await startKeyServer(),
    VAULT_SERVER_TOKEN: "test",
    PATH: [commands, join(folder, "node_modules", ".bin"), inherited["PATH"]].join(delimiter),
  };
  const steps = fences.map(({ place, text }) => `printf "\\n== ${place}\\n"\n${text}`);
  try {
    const script = [SETUP, ...steps].join("\n");
    const { code, output } = await run("bash", ["-e", "-o", "pipefail", "-c", script], { cwd: folder, env });
    // The last place is that of the command that failed.
    const reached = [...output.matchAll(/^== (.*)$/gm)].map(([, place]) => place);
    expect({ reached, output: code === 0 ? "" : output }).toEqual({
      reached: fences.map(({ place }) => place),
      output: "",
    });
  } finally {
    stack.dispose();
    await emulator.close();
  }
});
