// @ts-check
/*
 * Loaded by `--require` into the Node processes that the engine starts in tests. A run of the engine spends a third of its
 * processor time on compiling the same thousand modules of the SDK. Node 22 keeps compiled code by NODE_COMPILE_CACHE;
 * this does the same for Node 20, for the modules of this checkout's node_modules alone.
 */
const { createHash } = require("node:crypto");
const { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const path = require("node:path");
const v8 = require("node:v8");
const vm = require("node:vm");

/**
 * @typedef {Record<string, { start: number, end: number, length: number }>} Index where the code of each file is
 * @typedef {{ require(id: string): unknown, exports: object }} LoadedModule
 */

const root = path.resolve(__dirname, "../..");
const modules = path.join(root, "node_modules", path.sep);
const commands = path.join(modules, "@pulumi", "pulumi", "cmd", path.sep);

/**
 * Whether a module's code may be kept: a dynamic import needs Node's own loader. The compiler only has that word in texts.
 *
 * @param {string} filename @param {string} content
 */
const isKept = (filename, content) =>
  filename.startsWith(modules) &&
  (!/\bimport\s*\(/.test(content) || filename.startsWith(path.join(modules, "typescript", path.sep)));

/** The file that keeps the code of one command: it is another one after each installation. @param {string} command */
function cacheFile(command) {
  const { mtimeMs } = statSync(path.join(modules, ".package-lock.json"));
  const key = createHash("sha256").update([command, process.version, mtimeMs].join("\n")).digest("hex");
  return path.join(root, ".cache", "compiled", key.slice(0, 16));
}

/** @param {string} file @returns {{ index: Index, code: Buffer } | undefined} */
function readCache(file) {
  try {
    const content = readFileSync(file);
    const start = content.indexOf("\n") + 1;
    return { index: JSON.parse(content.toString("utf8", 0, start)), code: content.subarray(start) };
  } catch {
    return undefined;
  }
}

/** @param {string} file @param {ReadonlyMap<string, { script: vm.Script, length: number }>} scripts */
function writeCache(file, scripts) {
  /** @type {Index} */
  const index = {};
  const parts = [];
  let end = 0;
  for (const [filename, { script, length }] of scripts) {
    const part = script.createCachedData();
    const start = end;
    end += part.length;
    index[filename] = { start, end, length };
    parts.push(part);
  }
  mkdirSync(path.dirname(file), { recursive: true });
  const own = `${file}.${process.pid}`;
  writeFileSync(own, Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...parts]));
  renameSync(own, file);
}

/** The `require` that Node would hand to a module. @param {any} loaded */
function requireOf(loaded) {
  const from = (/** @type {string} */ id) => loaded.require(id);
  const internals = /** @type {any} */ (Module);
  from.resolve = (/** @type {string} */ id, /** @type {object} */ options) =>
    internals._resolveFilename(id, loaded, false, options);
  from.resolve.paths = (/** @type {string} */ id) => internals._resolveLookupPaths(id, loaded);
  from.main = process.mainModule;
  from.extensions = internals._extensions;
  from.cache = internals._cache;
  return from;
}

/** @param {string} command */
function install(command) {
  // The SDK sets this flag while it loads; code that was compiled under other flags is not taken.
  v8.setFlagsFromString("--allow-natives-syntax");
  const file = cacheFile(command);
  const cache = readCache(file);
  /** @type {Map<string, { script: vm.Script, length: number }>} */
  const scripts = new Map();
  const prototype = /** @type {any} */ (Module).prototype;
  const compile = prototype._compile;
  prototype._compile = function (
    /** @type {string} */ content,
    /** @type {string} */ filename,
    /** @type {string | undefined} */ format,
  ) {
    const known = cache?.index[filename];
    const isCached =
      cache === undefined
        ? format !== "module" && isKept(filename, content)
        : known?.length === content.length;
    if (!isCached) {
      return compile.call(this, content, filename, format);
    }
    const cachedData = known && cache?.code.subarray(known.start, known.end);
    const script = new vm.Script(Module.wrap(content), { filename, ...(cachedData && { cachedData }) });
    if (cache === undefined) scripts.set(filename, { script, length: content.length });
    const body = script.runInThisContext({ displayErrors: true });
    return body.call(this.exports, this.exports, requireOf(this), this, filename, path.dirname(filename));
  };
  if (cache !== undefined) return;
  process.once("exit", () => writeCache(file, scripts));
  // The engine ends its plugins so.
  process.once("SIGINT", () => process.exit());
}

const [, command = ""] = process.argv;
if (process.version.startsWith("v20.") && command.startsWith(commands)) install(command);
