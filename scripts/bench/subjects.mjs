// @ts-check
import { cpSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { cleanEnvironment, quickProcesses, Stack } from "../lib/stack.mjs";
import { measure } from "./measure.mjs";
import { findOpenTofu, PROVIDER } from "./openTofu.mjs";

/**
 * @typedef {"up" | "preview" | "previewRefresh" | "refresh" | "update" | "destroy"} Operation
 *
 * @typedef {object} StateSize In bytes, for each binding.
 * @property {number} stored What the file of the state holds.
 * @property {number} ours Inputs and outputs of the resources, as compact JSON.
 *
 * @typedef {object} Deployment
 * @property {(operation: Operation) => Promise<import("./measure.mjs").Measured>} run
 * @property {() => StateSize} stateSize
 *
 * @typedef {object} Subject
 * @property {string} name
 * @property {string} title
 * @property {boolean} sendsRequests Whether it makes requests.
 * @property {(at: BenchContext) => Promise<string | undefined>} problem Why it cannot be measured here.
 * @property {(at: BenchContext, server: import("./benchServer.mjs").BenchServer, folder: string) => Promise<Deployment>} deploy
 *
 * @typedef {object} BenchContext
 * @property {string} root
 * @property {import("../lib/pulumiCache.mjs").PulumiCli} cli
 * @property {(line: string) => void} log
 * @property {string[]} more Further arguments of every `pulumi` command.
 * @property {boolean} checkpoints Whether Pulumi writes its state after each step.
 * @property {boolean} quick Whether compiled code is kept between runs, which a user's processes do not.
 */

/** @type {readonly Operation[]} */
export const operations = ["up", "preview", "previewRefresh", "refresh", "update", "destroy"];

/** @type {Record<Operation, string[]>} */
const PULUMI = {
  up: ["up", "--yes", "--skip-preview"],
  preview: ["preview", "--expect-no-changes"],
  previewRefresh: ["preview", "--refresh"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  update: ["up", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
};

/** @type {Record<Operation, string[]>} */
const OPEN_TOFU = {
  up: ["apply", "-auto-approve"],
  preview: ["plan", "-refresh=false", "-detailed-exitcode"],
  previewRefresh: ["plan", "-detailed-exitcode"],
  refresh: ["apply", "-refresh-only", "-auto-approve"],
  update: ["apply", "-auto-approve"],
  destroy: ["destroy", "-auto-approve"],
};

/** @param {string} root @param {string} name */
const programFolder = (root, name) => path.join(root, "scripts", "bench", "programs", name);

/** Writes what the program declares. @param {string} folder @param {import("./benchServer.mjs").BenchServer} server @param {number} role */
function declare(folder, server, role) {
  writeFileSync(path.join(folder, "bench.json"), JSON.stringify(server.declared(role)));
}

/** The size of a state of a file backend. @param {string} file @param {number} bindings @returns {StateSize} */
function stateSize(file, bindings) {
  const { checkpoint } = JSON.parse(readFileSync(file, "utf8"));
  const ours = checkpoint.latest.resources
    .filter((/** @type {{ type: string }} */ { type }) => type.startsWith("pulumi-nodejs:dynamic"))
    .map((/** @type {any} */ { inputs, outputs }) => JSON.stringify([inputs, outputs]).length);
  const sum = ours.reduce((/** @type {number} */ one, /** @type {number} */ other) => one + other, 0);
  return { stored: statSync(file).size / bindings, ours: sum / bindings };
}

/** @param {string} program @returns {Subject["deploy"]} */
function deployWithPulumi(program) {
  return async ({ root, cli, more, checkpoints, quick }, server, folder) => {
    const env = {
      ...(checkpoints ? {} : { PULUMI_EXPERIMENTAL: "true", PULUMI_SKIP_CHECKPOINTS: "true" }),
      ...(quick ? quickProcesses(root) : {}),
    };
    const packages = ["@pulumi/pulumi", "axios", "pulumi-platform"];
    const example = programFolder(root, program);
    const stack = new Stack({ folder, root, example, cli, env, server: server.emulator, packages });
    if (program === "floor") {
      const target = path.join(stack.program, "node_modules", "platform-floor", "dynamic.js");
      cpSync(path.join(example, "floor.js"), target);
    }
    declare(stack.program, server, 0);
    await stack.succeed(["stack", "init", "bench"]);
    return {
      run: (operation) => {
        if (operation === "update") declare(stack.program, server, 1);
        const args = [...PULUMI[operation], ...more, "--non-interactive"];
        return measure(cli.pulumi, args, { cwd: stack.program, env: stack.env });
      },
      stateSize: () =>
        stateSize(path.join(stack.backend, ".pulumi", "stacks", "acme", "bench.json"), server.size),
    };
  };
}

/** @type {Subject["deploy"]} */
async function deployWithOpenTofu(at, server, folder) {
  const found = await findOpenTofu(at);
  if (typeof found === "string") throw new Error(found);
  cpSync(programFolder(at.root, "openTofu"), folder, { recursive: true });
  const settings = path.join(folder, "cli.tfrc");
  writeFileSync(
    settings,
    `provider_installation {\n  dev_overrides {\n    "${PROVIDER}" = "${found.folder}"\n  }\n  direct {}\n}\n`,
  );
  const env = {
    ...cleanEnvironment(process.env),
    TF_CLI_CONFIG_FILE: settings,
    TF_IN_AUTOMATION: "1",
    CHECKPOINT_DISABLE: "1",
    TF_VAR_token: server.emulator.token,
  };
  declare(folder, server, 0);
  return {
    run: (operation) => {
      if (operation === "update") declare(folder, server, 1);
      return measure(found.tofu, [...OPEN_TOFU[operation], "-input=false", "-no-color"], {
        cwd: folder,
        env,
      });
    },
    stateSize: () => {
      const file = path.join(folder, "terraform.tfstate");
      const { resources } = JSON.parse(readFileSync(file, "utf8"));
      const ours = JSON.stringify(
        resources.flatMap((/** @type {any} */ { instances }) =>
          instances.map((/** @type {any} */ { attributes }) => attributes),
        ),
      ).length;
      return { stored: statSync(file).size / server.size, ours: ours / server.size };
    },
  };
}

const here = async () => undefined;

/** @type {readonly Subject[]} */
export const subjects = [
  {
    name: "usual",
    title: "dynamic provider as commonly written",
    sendsRequests: true,
    problem: here,
    deploy: deployWithPulumi("usual"),
  },
  {
    name: "floor",
    title: "the engine's floor: no provider work",
    sendsRequests: false,
    problem: here,
    deploy: deployWithPulumi("floor"),
  },
  {
    name: "roleBinding",
    title: "this package, a RoleBinding each",
    sendsRequests: true,
    problem: here,
    deploy: deployWithPulumi("roleBinding"),
  },
  {
    name: "groupAccess",
    title: "this package, one GroupAccess",
    sendsRequests: true,
    problem: here,
    deploy: deployWithPulumi("groupAccess"),
  },
  {
    name: "openTofu",
    title: "OpenTofu with a generic REST provider",
    sendsRequests: true,
    problem: async (at) => {
      const found = await findOpenTofu(at);
      return typeof found === "string" ? found : undefined;
    },
    deploy: deployWithOpenTofu,
  },
];
