import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { InitFolder } from "../support/initFolder";
import { evaluate, projectRoot, temporaryFolder, writeFiles } from "./support";

/** What the linter says of a folder; it needs Go, as set-up does where no Pulumi CLI can be downloaded. */
const lint = (folder: string): Promise<unknown> =>
  evaluate(
    "ci.mjs",
    `await m.lintWorkflows({ root: ${JSON.stringify(projectRoot)}, folder: ${JSON.stringify(folder)}, scratch: ${JSON.stringify(temporaryFolder())} })`,
  );

const lockfiles = { "package-lock.json": "{}", "pnpm-lock.yaml": "", "yarn.lock": "" };

test.each(Object.entries(lockfiles))(
  "the workflows that init writes beside %s have no problem",
  async (name, text) => {
    const folder = new InitFolder().repository("git@github.com:acme/access.git").write({ [name]: text });
    expect(await folder.init("infra")).toMatchObject({ code: 0 });
    expect(await lint(path.join(folder.root, ".github", "workflows"))).toEqual({ problems: [] });
  },
);

test("an input that an action of this repository does not have is a problem", async () => {
  const folder = temporaryFolder();
  const uses = `uses: OWNER/pulumi-platform/actions/drift@v1.2.3, with: { stack: prod, stak: prod }`;
  const job = `{ runs-on: ubuntu-latest, steps: [{ ${uses} }] }`;
  writeFiles(folder, { "ci.yml": `on: push\njobs:\n  drift: ${job}\n` });
  expect(await lint(folder)).toEqual({
    problems: [expect.stringMatching(/^ci\.yml:3:\d+: input "stak" is not defined in action "Access drift"/)],
  });
});

/** Each place where files that users copy name a version of the CLI, with its line. */
function cliVersions(): { place: string; version: string | undefined }[] {
  const folders = ["actions", "examples/ci", "templates"];
  return folders.flatMap((folder) =>
    readdirSync(path.join(projectRoot, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".yml"))
      .flatMap((file) => {
        const lines = readFileSync(path.join(projectRoot, folder, file), "utf8").split("\n");
        return lines.flatMap((line, index) => {
          const place = `${folder}/${file}:${index + 1}`;
          const [, image] = /pulumi\/(?:pulumi[\w-]*|«image»):(\S+)/.exec(line) ?? [];
          if (image !== undefined) return [{ place, version: image }];
          if (!/uses: pulumi\/actions@/.test(line)) return [];
          const [, version] = /^ +pulumi-version: (\S+)$/.exec(lines[index + 2] ?? "") ?? [];
          return [{ place, version }];
        });
      }),
  );
}

test("the files for users install one version of the CLI, that of the tests", async () => {
  const entries = `m.cacheEntries(${JSON.stringify(projectRoot)}, { HOME: "/home" })`;
  const { version } = (await evaluate("lib/pulumi.mjs", entries)) as { version: string };
  const found = cliVersions();
  expect(found).toEqual(found.map(({ place }) => ({ place, version })));
  expect(found).toHaveLength(17);
});
