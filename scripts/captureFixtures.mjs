// @ts-check
/*
 * Captures the documents below test/fixtures/previews anew, from the real CLI against the emulator:
 *   npm run fixtures
 * Each file is one document without blanks. Uids, times, folders and orders that differ between runs are replaced, so
 * that a second run writes the same bytes.
 */
import { realpathSync, writeFileSync } from "node:fs";
import path from "node:path";
import { sendTo, withStack } from "./lib/emulator.mjs";
import { runScript } from "./lib/processes.mjs";
import { ensureReady, root } from "./setup.mjs";

const fixtures = path.join(root, "test", "fixtures", "previews");

/** @typedef {{ urn: string, [key: string]: any }} OfResource */

/** What runs side by side comes in any order: by urn, what concerns one resource in its own. @param {OfResource[]} items */
function sorted(items) {
  const rank = (/** @type {string} */ urn) =>
    urn.includes("::pulumi:pulumi:Stack::") ? 0 : urn.includes("::pulumi:providers:") ? 1 : 2;
  const order = (/** @type {OfResource} */ a, /** @type {OfResource} */ b) =>
    rank(a.urn) - rank(b.urn) || (a.urn < b.urn ? -1 : a.urn > b.urn ? 1 : 0);
  return [...items].sort(order);
}

/** Sorts lists of URNs: the engine lists what a resource depends on in any order. @param {string} _key @param {unknown} value */
function sortUrns(_key, value) {
  const isUrns = Array.isArray(value) && value.every((item) => String(item).startsWith("urn:pulumi:"));
  return isUrns ? [...value].sort() : value;
}

/** A document of the CLI, in an order that does not depend on the run. @param {string} text */
function ordered(text) {
  const document = JSON.parse(text);
  if (document.steps) document.steps = sorted(document.steps);
  if (document.deployment) document.deployment.resources = sorted(document.deployment.resources);
  return `${JSON.stringify(document, sortUrns)}\n`;
}

/** Replaces what differs between runs, the same text by the same text in all documents. */
class Normaliser {
  /** @type {Map<string, string>} */
  #known = new Map();

  /** @param {{ root: string, program: string }} folders */
  constructor({ root, program }) {
    this.root = root;
    this.program = program;
    // The CLI writes the folder of a source as it is seen from the program.
    this.relativeRoot = path.relative(program, root);
  }

  /** @param {string} text @param {(count: number) => string} make */
  #stable(text, make) {
    const known = this.#known.get(text) ?? make(this.#known.size + 1);
    this.#known.set(text, known);
    return known;
  }

  /** @param {string} text */
  text(text) {
    // The package is linked here; in a user's project it lies in node_modules.
    return (
      text
        .replaceAll(`project:///${this.relativeRoot}/`, "project:///")
        .replaceAll(this.program, "/program")
        .replaceAll(`${this.root}/`, "/program/")
        .replaceAll("project:///dist/", "project:///node_modules/pulumi-platform/dist/")
        // Lines of this package's own code, which any change of it moves.
        .replace(/(project:\/\/\/node_modules\/pulumi-platform\/dist\/[^"#]*)#\d+,\d+/g, "$1#1,1")
        .replace(/"ciphertext":( ?)"[^"]*"/g, '"ciphertext":$1"c2VjcmV0"')
        .replace(/\b[0-9a-f]{64}\b/g, (hex) => this.#stable(hex, (n) => n.toString(16).padStart(64, "c")))
        .replace(/\b[0-9a-f]{32}\b/g, (hex) =>
          // The engine's constants stay: the marks of values that are more than JSON.
          /^(4dabf181|1b470612|5cf8f730|d0e6a833)/.test(hex)
            ? hex
            : this.#stable(hex, (n) => n.toString(16).padStart(32, "d")),
        )
        .replace(/\b[0-9a-f]{40}\b/g, (hex) => this.#stable(hex, (n) => n.toString(16).padStart(40, "a")))
        .replace(/\b[0-9a-f]{16}\b/g, (hex) => this.#stable(hex, (n) => n.toString(16).padStart(16, "b")))
        .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, (uuid) =>
          // The engine's constant for what is unknown.
          /^(04da6b54|8ad145fe)/.test(uuid)
            ? uuid
            : this.#stable(uuid, (n) => `00000000-0000-0000-0000-${n.toString(16).padStart(12, "0")}`),
        )
        .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, "2026-01-01T00:00:00Z")
        .replace(/"(duration|durationSeconds|timestamp)":( ?)\d+/g, '"$1":$21')
        .replace(/"(salt|state)":( ?)"v1:[^"]*"/g, '"$1":$2"v1:"')
        .replace(/(https?:\/\/127\.0\.0\.1):\d+/g, "$1:8080")
    );
  }
}

const SAMES = ["--show-sames"];

/** The previews of the stack as it is after the step `base`: file, step of the program, arguments. @type {{ name: string, step: string, args?: string[], code?: number }[]} */
const PREVIEWS = [
  { name: "same.json", step: "base" },
  { name: "same-shown.json", step: "base", args: SAMES },
  { name: "update.json", step: "update" },
  { name: "update-shown.json", step: "update", args: SAMES },
  { name: "replace.json", step: "replace", args: SAMES },
  { name: "replace-halves.json", step: "replace", args: [...SAMES, "--show-replacement-steps"] },
  { name: "delete.json", step: "delete", args: SAMES },
  { name: "rename.json", step: "rename", args: SAMES },
  { name: "unknowns.json", step: "unknowns", args: SAMES },
  { name: "secret.json", step: "secret" },
  { name: "program-fails.json", step: "fails", code: 1 },
  { name: "check-fails.json", step: "check", code: 1 },
  // Another name of the stack's resource `builder`, which is protected: its delete is refused.
  { name: "protected.json", step: "gone", code: 1 },
];

const UP = ["up", "--yes", "--skip-preview", "--parallel", "1"];

/** Writes the documents of one stack. */
class Capture {
  /** @param {import("./lib/stack.mjs").Stack} stack @param {any} emulator */
  constructor(stack, emulator) {
    this.stack = stack;
    this.emulator = emulator;
    this.normaliser = new Normaliser({ root, program: realpathSync(stack.program) });
  }

  /** @param {string} name @param {string} text */
  #write(name, text) {
    writeFileSync(path.join(fixtures, name), this.normaliser.text(ordered(text)));
    console.log(`${name}: ${Math.round(text.length / 1024)} KiB`);
  }

  /** Runs the CLI with this step of the program; fails if it fails. @param {string} step @param {string[]} args */
  #pulumi(step, args) {
    return this.stack.succeed([...args, "--non-interactive"], { STEP: step });
  }

  /** @param {typeof PREVIEWS[number]} preview */
  async #preview({ name, step, args = [], code = 0 }) {
    const command = ["preview", "--json", "--parallel", "1", ...args, "--non-interactive"];
    const result = await this.stack.pulumi(command, { env: { STEP: step } });
    if (result.code !== code) throw new Error(`${name}: ended with ${result.code}:\n${result.output}`);
    this.#write(name, result.stdout);
  }

  /** @param {string} name */
  async #refresh(name) {
    const command = ["refresh", "--preview-only", "--json", "--parallel", "1", "--non-interactive"];
    this.#write(name, (await this.stack.pulumi(command, { env: { STEP: "base" } })).stdout);
  }

  async #changeByHand() {
    const { deployment } = JSON.parse(await this.#pulumi("base", ["stack", "export"]));
    const findRecordedUid = (/** @type {string} */ name) =>
      deployment.resources.find((/** @type {OfResource} */ { urn }) => urn.endsWith(`::${name}`)).id;
    await sendTo(this.emulator, "PATCH", `/iam/v2/roles/${findRecordedUid("reader")}`, {
      capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_REPO_DELETE"],
    });
    await sendTo(this.emulator, "DELETE", `/iam/v2/roleBindings/${findRecordedUid("deployer-reads")}`);
  }

  async run() {
    await this.#pulumi("base", ["stack", "init", "production"]);
    await this.#preview({ name: "create.json", step: "base" });
    await this.#pulumi("base", UP);
    this.#write("export-v3.json", await this.#pulumi("base", ["stack", "export"]));
    for (const preview of PREVIEWS) await this.#preview(preview);
    await this.#changeByHand();
    await this.#preview({ name: "refresh-and-preview.json", step: "base", args: ["--refresh", ...SAMES] });
    await this.#refresh("refresh.json");
    await this.#pulumi("v4", UP);
    this.#write("export-v4.json", await this.#pulumi("v4", ["stack", "export", "--show-secrets"]));
  }
}

async function main() {
  const cli = await ensureReady();
  /** @param {any} emulator */
  const env = async (emulator) => {
    const { roles } = await sendTo(emulator, "GET", "/iam/v2/roles?name=registry.push");
    return { PUSHER: roles[0].uid };
  };
  const example = path.join(fixtures, "program");
  await withStack("fixtures", { root, example, cli, env }, (stack, emulator) =>
    new Capture(stack, emulator).run(),
  );
}

await runScript("captureFixtures", import.meta.filename, main);
