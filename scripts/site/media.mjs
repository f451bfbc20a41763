// @ts-check
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startEmulatorProcess } from "../lib/emulator.mjs";
import { withTemporaryFolder } from "../lib/files.mjs";
import { quickProcesses, Stack } from "../lib/stack.mjs";
import { takePictures } from "./pictures.mjs";
import { recordingOf } from "./recording.mjs";

/** A grant of `owner`, which the pull request of the example adds. */
const CHANGE = `
const owner = getRole({ name: "owner", builtIn: true });
new RoleBinding("deployer-owns-team", {
  parentUid: team.id,
  identityUid: deployer.id,
  roleUid: owner.then((role) => role.uid),
});
`;

const PULL_REQUEST = ["--commit", "4f1c2d9a7b3e8056", "--pull-request", "42"];

/** The program of the quick start. @param {string} root @param {string} folder */
function writeProgram(root, folder) {
  const program = path.join(folder, "example");
  mkdirSync(program);
  for (const name of ["index.ts", "tsconfig.json"])
    copyFileSync(path.join(root, "templates", "typescript", name), path.join(program, name));
  writeFileSync(path.join(program, "Pulumi.yaml"), "name: acme\nruntime: nodejs\n");
  writeFileSync(path.join(program, "package.json"), '{ "name": "acme", "main": "index.ts" }\n');
  return program;
}

/**
 * Runs a command, and keeps what it prints.
 * @param {Stack} stack @param {string} command @param {number[]} [expected] Exit codes.
 * @returns {Promise<{ command: string, output: string }>}
 */
async function record(stack, command, expected) {
  const { output } = await stack.type(command, { expected });
  // Progress dots, and the address of a state in a temporary folder, which no reader has.
  return { command, output: output.replace(/^(@ updating.*|Permalink: .*)\n?/gm, "").trimEnd() };
}

/**
 * Applies the program, adds a grant to it, and reviews that.
 * @param {Stack} stack @param {string} rootUid @returns {Promise<Awaited<ReturnType<typeof record>>[]>} What the recording shows.
 */
async function reviewChange(stack, rootUid) {
  await stack.succeed(["stack", "init", "prod"]);
  await stack.succeed(["config", "set", "rootUid", rootUid]);
  await stack.succeed(["config", "set", "platform:baseUrl", stack.env["PLATFORM_BASE_URL"] ?? ""]);
  const up = await record(stack, "pulumi up --yes --skip-preview --suppress-permalink");
  const inventory = await record(
    stack,
    'npx --no pulumi-platform inventory --root "$PLATFORM_ROOT_GROUP" -o json=inventory.json',
  );
  appendFileSync(path.join(stack.program, "index.ts"), CHANGE);
  const preview = await record(stack, "pulumi preview --json --show-sames > preview.json");
  const review = await record(
    stack,
    "npx --no pulumi-platform review preview.json --inventory inventory.json",
    [5],
  );
  const formats = "-o html=report.html -o md=comment.md";
  const inputs = "preview.json --inventory inventory.json";
  await record(stack, `npx --no pulumi-platform review ${inputs} ${PULL_REQUEST.join(" ")} ${formats}`, [5]);
  return [up, inventory, preview, review];
}

/**
 * Makes what the first page shows of real runs against the emulator: a recording, a report, and a comment.
 * @param {{ root: string, cli: import("../lib/pulumi.mjs").PulumiCli, into: string, log: (line: string) => void }} at
 */
export async function makeMedia({ root, cli, into, log }) {
  mkdirSync(into, { recursive: true });
  await withTemporaryFolder("media", async (folder) => {
    const server = await startEmulatorProcess(root, ["--seed", "acme"]);
    try {
      const env = {
        PLATFORM_ROOT_GROUP: server.rootUid,
        // The tests check the types of this program.
        PULUMI_NODEJS_TRANSPILE_ONLY: "true",
        ...quickProcesses(root),
      };
      const stack = new Stack({ folder, root, example: writeProgram(root, folder), cli, env, server });
      const steps = await reviewChange(stack, server.rootUid);
      writeFileSync(path.join(into, "review.cast"), recordingOf(steps));
      copyFileSync(path.join(stack.program, "report.html"), path.join(into, "report.html"));
      const comment = readFileSync(path.join(stack.program, "comment.md"), "utf8");
      writeFileSync(path.join(into, "comment.md"), comment);
    } finally {
      await server.stop();
    }
  });
  await takePictures(into, ["report"], log);
}
