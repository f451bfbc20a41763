import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { listedKinds } from "../../../../provider/access/documents/inventory";
import { commands } from "../../../../provider/cli/commands/list";
import { exportText, previewText } from "../../../../scripts/lib/documents.cjs";
import { CommandChain } from "../../../support/commandChain";
import { ending } from "../support";

/** Code, which Node reads, and what the emulator writes. */
const NO_DOCUMENTS = ["rules", "data"];

/** Each argument that names a document. */
const readers = commands.flatMap(({ name, load }) => {
  const { arguments: positionals = [], flags } = load().description;
  return [
    ...positionals
      .filter((argument) => /preview|\.json/.test(argument))
      .map((argument) => `${name} <${argument}>`),
    ...Object.entries(flags)
      .filter(([flag, { value }]) => value === "FILE" && !NO_DOCUMENTS.includes(flag))
      .map(([flag]) => `${name} --${flag}`),
  ];
});

const CANARY = "canary-of-a-secret-file";

/** Files of others, in forms that a reader may take for the beginning of a document. */
const SECRETS = [
  CANARY,
  `{"${CANARY}`,
  `[${CANARY}]`,
  `{"x": ${CANARY}}`,
  `- [${CANARY}`,
  `x: !${CANARY} y`,
  `x: *${CANARY}`,
  `"${CANARY}`,
  `\t${CANARY}: x`,
  `x: "${CANARY}\\q"`,
];

describe("a document that an argument names", () => {
  const chain = new CommandChain(undefined, undefined, () => ({
    PLATFORM_BASE_URL: "http://127.0.0.1:1",
    PLATFORM_TOKEN: "unused",
  }));

  const folder = chain.path("artifact");
  mkdirSync(folder);
  const organisation = { kind: "Group", name: "acme", uid: "a".repeat(40), inputs: { name: "acme" } };
  const valid = chain.write("preview.json", previewText([[organisation, organisation]]));
  const state = chain.write("state.json", exportText([organisation]));
  const live = chain.write(
    "inventory.json",
    JSON.stringify({
      ...{ schemaVersion: 1, root: organisation.uid, takenAt: new Date().toISOString(), complete: true },
      ...{ refused: [], kinds: listedKinds },
      objects: [{ kind: "Group", uid: organisation.uid, inputs: organisation.inputs }],
    }),
  );
  const report = chain.path("report.json");
  beforeAll(() => chain.succeed([0], "review", valid, "--inventory", live, "-o", `json=${report}`));

  /** The arguments of each command that reads a file, by `command --flag` or `command <argument>`. */
  const argvOf = (input: string, file: string): string[] => {
    const [command = "", argument = ""] = input.split(" ");
    const isPath = argument.startsWith("<");
    const given = isPath ? [file] : [argument, file];
    const unless = (flag: string, path: string): string[] => (argument === flag ? [] : [flag, path]);
    const more: Readonly<Record<string, readonly string[]>> = {
      review: [...(isPath ? [] : [valid]), ...(argument === "--policy-base" ? ["--policy", file] : [])],
      verify: [...(isPath ? [] : [report]), ...unless("--inventory", live)],
      drift: [...unless("--state", state), ...(argument === "--since" ? [] : unless("--inventory", live))],
      adopt: ["--out", chain.path("out")],
      access: argument === "--policy" ? ["--inventory", live] : [],
      post: ["--to", "github-issue", "--dry-run"],
      watch: ["--group", organisation.uid, "--issuer", "https://issuer.example", ...unless("--state", state)],
    };
    return [command, ...given, ...(more[command] ?? [])];
  };

  test.each(readers)("%s: of a file that is no document, nothing is printed", async (input) => {
    for (const secret of SECRETS) {
      const { code, stdout, stderr } = await chain.run(...argvOf(input, chain.write("secret.txt", secret)));
      expect({ secret, code }).toEqual({ secret, code: 2 });
      expect(stdout + stderr).not.toContain(CANARY);
    }
  });

  test.each(readers)("%s: a link out of the folder is refused", async (input) => {
    const secret = chain.write("outside.json", "{}");
    const link = join(folder, `${readers.indexOf(input)}.json`);
    symlinkSync(secret, link);
    const { code, stderr } = await chain.run(...argvOf(input, link));
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /cannot be read: it is a symbolic link to a file outside of its folder; name that file itself \(PP5005\)\n$/,
    );
  });

  test("a link within its folder is read, and what the shell passes as a descriptor", async () => {
    symlinkSync("preview.json", chain.path("link.json"));
    const { stderr } = await chain.run("review", chain.path("link.json"));
    expect(stderr).toBe("");
    const { stderr: of } = await chain.run("review", "/dev/null");
    expect(of).toContain("/dev/null is empty");
  });

  test("without a plan a review says why the preview failed, and refuses one that did not fail", async () => {
    const failed = join(__dirname, "../../../fixtures/previews/program-fails.json");
    const plan = chain.path("plan.json");
    const { code, stdout } = await chain.run("review", failed, "--plan", plan);
    expect({ code, stdout }).toEqual({ code: 4, stdout: expect.stringContaining("- the preview failed: ") });
    expect(await chain.run("review", valid, "--plan", plan)).toMatchObject(
      ending(2, "plan.json cannot be read: file or folder not found (PP5005)"),
    );
  });

  test("a file that is too large is refused before it is read", async () => {
    const file = chain.write("large.json", "");
    // A file with a hole, which takes no place on the disk.
    truncateSync(file, 2 ** 33);
    const said = /large\.json has 8590 MB, and at most \d+ MB are read: .* \(PP6009\)/;
    expect(await chain.run("drift", "--state", file)).toMatchObject(ending(2, said));
  });

  test("a pipe by name and a device without an end are refused before they are read", async () => {
    execFileSync("mkfifo", [chain.path("pipe")]);
    for (const path of [chain.path("pipe"), "/dev/zero", "/dev/../dev/urandom"])
      expect(await chain.run("review", path)).toMatchObject(
        ending(2, "it is no regular file; use - for standard input (PP5005)"),
      );
  });
});
