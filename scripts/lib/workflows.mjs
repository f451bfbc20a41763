// @ts-check
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { excerpt, run } from "./processes.mjs";

const MINUTE_MS = 60_000;

/**
 * Checks workflows of GitHub Actions by actionlint, which is built from the module that `scripts/lint` pins.
 * @param {{ root: string, folder: string, scratch: string, env?: NodeJS.ProcessEnv }} at `folder`: holds the workflows.
 * @returns {Promise<{ problems: string[] } | { reason: string }>} `reason`: why actionlint could not be built.
 */
export async function lintWorkflows({ root, folder, scratch, env = process.env }) {
  const module = path.join(root, "scripts", "lint", "actionlint");
  const tool = /^tool (\S+)$/m.exec(readFileSync(path.join(module, "go.mod"), "utf8"))?.[1];
  if (tool === undefined) throw new Error("scripts/lint/actionlint/go.mod names no tool");
  const binary = path.join(scratch, "actionlint");
  const build = await run("go", ["build", "-mod=readonly", "-o", binary, tool], {
    cwd: module,
    env: { ...env, GOWORK: "off", CGO_ENABLED: "0" },
    timeoutMs: 5 * MINUTE_MS,
  }).catch((error) => ({ code: 1, output: String(error) }));
  if (build.code !== 0) return { reason: `go build ${tool} failed:\n${excerpt(build.output)}` };
  const workflows = readdirSync(folder).filter((name) => name.endsWith(".yml") && name !== "gitlab-ci.yml");
  if (workflows.length === 0) return { problems: [`${folder} holds no workflow`] };
  // Other linters, where a machine has them, would make the result depend on the machine.
  const args = ["-no-color", "-oneline", "-shellcheck=", "-pyflakes=", ...workflows];
  const cwd = asProject({ root, folder, workflows, scratch });
  const { code, output } = await run(binary, args, { cwd, env, timeoutMs: MINUTE_MS });
  const lines = output.split("\n").filter((line) => line !== "");
  const unpinned = workflows.flatMap((name) =>
    unpinnedActions(name, readFileSync(path.join(folder, name), "utf8")),
  );
  if (code === 0) return { problems: unpinned };
  return { problems: [...(lines.length === 0 ? [`actionlint: exit code ${code}`] : lines), ...unpinned] };
}

/** An action of this repository, as the examples name it: whoever copies one puts the owner and a commit there. */
const ownAction = /\b[\w-]+\/pulumi-platform\/(actions\/[\w-]+)@v\d+\.\d+\.\d+/g;

/**
 * Copies the workflows beside the actions of this repository, where actionlint compares the inputs of both.
 * @param {{ root: string, folder: string, workflows: string[], scratch: string }} at
 * @returns {string} The folder of the copies.
 */
function asProject({ root, folder, workflows, scratch }) {
  const project = mkdtempSync(path.join(scratch, "workflows-"));
  const copies = path.join(project, ".github", "workflows");
  mkdirSync(copies, { recursive: true });
  mkdirSync(path.join(project, ".git"));
  const actions = path.join(root, "actions");
  if (existsSync(actions)) cpSync(actions, path.join(project, "actions"), { recursive: true });
  for (const name of workflows) {
    const text = readFileSync(path.join(folder, name), "utf8").replaceAll(ownAction, "./$1");
    writeFileSync(path.join(copies, name), text);
  }
  return copies;
}

/**
 * The actions of a workflow that are not named by a commit with its version as a comment: a tag may be moved.
 * @param {string} name
 * @param {string} text
 */
function unpinnedActions(name, text) {
  return text
    .split("\n")
    .map((line, index) => ({ line, uses: /^\s*(?:- )?uses: (.+)$/.exec(line)?.[1], number: index + 1 }))
    .filter(
      ({ uses }) =>
        uses !== undefined &&
        uses.replace(ownAction, "") !== "" &&
        !/^[\w./-]+@[0-9a-f]{40} # v\d/.test(uses),
    )
    .map(
      ({ uses, number }) => `${name}:${number}: ${uses} is not pinned to a commit with its version beside it`,
    );
}
