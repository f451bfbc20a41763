// @ts-check
/*
 * Captures the documents below test/fixtures/previews anew, from the real CLI against the emulator:
 *   npm run fixtures
 * Each file is one document without blanks; a stream is one document to a line. Uids, times, folders and orders that
 * differ between runs are replaced, so that a second run writes the same bytes. Only how far a preview came before it
 * failed (the `same` of its summary) is chance.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { cleanEnvironment } from "./demo/stack.mjs";
import { messageOf, run } from "./lib/processes.mjs";
import { findPulumi, root } from "./setup.mjs";

const CALL_MS = 300_000;
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

/** The engine lists what a resource depends on in any order. @param {string} _key @param {unknown} value */
function inOrder(_key, value) {
  const isUrns = Array.isArray(value) && value.every((item) => String(item).startsWith("urn:pulumi:"));
  return isUrns ? [...value].sort() : value;
}

/** The CLI's documents, in an order that does not depend on the run. @param {string} text */
function ordered(text) {
  if (text.startsWith('{"')) {
    const events = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter((event) => event.diagnosticEvent?.severity !== "debug");
    /** @param {any} event */
    const urnOf = (event) => (event.resourcePreEvent ?? event.resOutputsEvent)?.metadata.urn;
    const first = events.findIndex(urnOf);
    const steps = sorted(events.filter(urnOf).map((event) => ({ urn: urnOf(event), event })));
    const others = events.filter((event) => urnOf(event) === undefined);
    const all = [...others.slice(0, first), ...steps.map(({ event }) => event), ...others.slice(first)];
    return all.map((event, sequence) => `${JSON.stringify({ ...event, sequence })}\n`).join("");
  }
  const document = JSON.parse(text);
  if (document.steps) document.steps = sorted(document.steps);
  if (document.deployment) document.deployment.resources = sorted(document.deployment.resources);
  return `${JSON.stringify(document, inOrder)}\n`;
}

/** Replaces what differs between runs, the same text by the same text in all documents. */
class Normaliser {
  /** @type {Map<string, string>} */
  #known = new Map();

  /** @param {string} text @param {(count: number) => string} make */
  #stable(text, make) {
    const known = this.#known.get(text) ?? make(this.#known.size + 1);
    this.#known.set(text, known);
    return known;
  }

  /** @param {string} text */
  text(text) {
    // The package is linked here; in a user's project it lies in node_modules.
    const here = new RegExp(`project:///(?:\\.\\./)*${root.slice(1).replace(/[.+]/g, "\\$&")}/`, "g");
    return text
      .replace(here, "project:///")
      .replaceAll(`${root}/`, "/program/")
      .replaceAll("project:///dist/", "project:///node_modules/pulumi-platform/dist/")
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
      .replace(/(https?:\/\/127\.0\.0\.1):\d+/g, "$1:8080");
  }
}

/** @param {import("./lib/pulumi.mjs").PulumiCli} cli */
async function capture(cli) {
  const folder = mkdtempSync(path.join(tmpdir(), "pulumi-platform-fixtures-"));
  const require = createRequire(import.meta.url);
  const { startEmulator } = require(path.join(root, "dist", "emulator", "index.js"));
  const emulator = await startEmulator();
  try {
    const program = path.join(folder, "program");
    cpSync(path.join(fixtures, "program"), program, { recursive: true });
    symlinkSync(path.join(root, "node_modules"), path.join(program, "node_modules"), "junction");
    writeFileSync(
      path.join(program, "Pulumi.yaml"),
      "name: acme\nruntime:\n  name: nodejs\n  options:\n    typescript: false\n",
    );
    writeFileSync(path.join(program, "package.json"), '{ "name": "acme", "main": "index.js" }\n');
    for (const name of ["backend", "home"]) mkdirSync(path.join(folder, name));

    /** @param {string} method @param {string} address @param {unknown} [body] */
    const call = async (method, address, body) => {
      const response = await fetch(emulator.url + address, {
        method,
        headers: { Authorization: `Bearer ${emulator.token}`, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${address}: HTTP ${response.status}`);
      const text = await response.text();
      return text === "" ? {} : JSON.parse(text);
    };
    const { roles } = await call("GET", "/iam/v2/roles?name=registry.push");
    const env = {
      ...cleanEnvironment(process.env),
      PATH: [cli.pulumiDir, process.env.PATH].join(path.delimiter),
      PULUMI_HOME: path.join(folder, "home"),
      PULUMI_BACKEND_URL: `file://${path.join(folder, "backend")}`,
      PULUMI_CONFIG_PASSPHRASE: "fixtures",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      PLATFORM_BASE_URL: emulator.url,
      PLATFORM_TOKEN: emulator.token,
      PUSHER: roles[0].uid,
    };
    /** @param {string} step @param {string[]} args @param {Record<string, string>} [more] */
    const pulumi = async (step, args, more) => {
      const result = await run(cli.pulumi, [...args, "--non-interactive"], {
        cwd: program,
        env: { ...env, STEP: step, ...more },
        timeoutMs: CALL_MS,
      });
      return { code: result.code, stdout: result.stdout, output: result.output };
    };
    const normaliser = new Normaliser();
    /** @param {string} name @param {string} text */
    const write = (name, text) => {
      writeFileSync(
        path.join(fixtures, name),
        normaliser.text(ordered(text.replaceAll(program, "/program"))),
      );
      console.log(`${name}: ${Math.round(text.length / 1024)} KiB`);
    };
    const usual = ["--json", "--parallel", "1"];
    /** @param {string} name @param {string} step @param {string[]} args @param {object} [options] @param {number} [options.code] @param {Record<string, string>} [options.env] */
    const preview = async (name, step, args, { code = 0, env: more } = {}) => {
      const result = await pulumi(step, ["preview", ...usual, ...args], more);
      if (result.code !== code) throw new Error(`${name}: ended with ${result.code}:\n${result.output}`);
      write(name, result.stdout);
    };
    /** @param {string} step @param {string[]} args */
    const succeed = async (step, args) => {
      const result = await pulumi(step, args);
      if (result.code !== 0) throw new Error(`pulumi ${args.join(" ")}: ${result.output}`);
      return result.stdout;
    };

    await succeed("base", ["stack", "init", "production"]);
    await preview("create.json", "base", []);
    await succeed("base", ["up", "--yes", "--skip-preview", "--parallel", "1"]);
    write("export-v3.json", await succeed("base", ["stack", "export"]));
    await preview("same.json", "base", []);
    await preview("same-shown.json", "base", ["--show-sames"]);
    await preview("update.json", "update", []);
    await preview("update-shown.json", "update", ["--show-sames"]);
    await preview("update-stream.ndjson", "update", ["--show-sames"], {
      env: { PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "1" },
    });
    await preview("replace.json", "replace", ["--show-sames"]);
    await preview("replace-halves.json", "replace", ["--show-sames", "--show-replacement-steps"]);
    await preview("replace-stream.ndjson", "replace", ["--show-sames"], {
      env: { PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "1" },
    });
    await preview("delete.json", "delete", ["--show-sames"]);
    await preview("rename.json", "rename", ["--show-sames"]);
    await preview("unknowns.json", "unknowns", ["--show-sames"]);
    await preview("secret.json", "secret", []);
    await preview("secret-stream.ndjson", "secret", [], {
      env: { PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "1" },
    });
    await preview("program-fails.json", "fails", [], { code: 1 });
    await preview("check-fails.json", "check", [], { code: 1 });
    // Another name of the stack's resource `builder`, which is protected: its delete is refused.
    await preview("protected.json", "gone", [], { code: 1 });

    const uidOf = async (/** @type {string} */ name) => {
      const { deployment } = JSON.parse(await succeed("base", ["stack", "export"]));
      return deployment.resources.find((/** @type {{ urn: string }} */ { urn }) => urn.endsWith(`::${name}`))
        .id;
    };
    await call("PATCH", `/iam/v2/roles/${await uidOf("reader")}`, {
      capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST", "CAP_REPO_DELETE"],
    });
    await call("DELETE", `/iam/v2/roleBindings/${await uidOf("deployer-reads")}`);
    await preview("refresh-and-preview.json", "base", ["--refresh", "--show-sames"]);
    const refreshed = await pulumi("base", ["refresh", "--preview-only", ...usual]);
    write("refresh.json", refreshed.stdout);
    const streamed = await pulumi("base", ["refresh", "--preview-only", ...usual], {
      PULUMI_ENABLE_STREAMING_JSON_PREVIEW: "1",
    });
    write("refresh-stream.ndjson", streamed.stdout);

    await succeed("v4", ["up", "--yes", "--skip-preview", "--parallel", "1"]);
    write("export-v4.json", await succeed("v4", ["stack", "export", "--show-secrets"]));
  } finally {
    await emulator.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  const cli = await findPulumi();
  if (cli === undefined) throw new Error("no Pulumi CLI is known: run npm run setup");
  await capture(cli);
}

main().catch((error) => {
  console.error(`captureFixtures: ${messageOf(error)}`);
  process.exitCode = 1;
});
