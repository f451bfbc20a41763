// @ts-check
/*
 * Loaded by `--require` into the Node processes that the engine starts in tests, and into the commands of this package.
 * Such a process spends most of its processor time on loading the same modules: their compiled code is kept
 * between runs. The parts of the SDK that no program of this package uses are loaded at their first use.
 */
const Module = require("node:module");
const path = require("node:path");

/**
 * @typedef {Record<string, { start: number, end: number }>} Index where the code of each module is, by its digest
 * @typedef {{ index: Index, code: Buffer }} Cache
 * @typedef {{ require(id: string): unknown, exports: object }} LoadedModule
 */

const root = path.resolve(__dirname, "../..");
const folder = path.join(root, ".cache", "compiled");
/** A process that has compiled less than this has nothing worth keeping: the program of one test, for example. */
const MIN_NEW_LENGTH = 200_000;

/** A cache that is longer keeps only what its last writer used: each build adds the code of the modules that it changed. */
const MAX_LENGTH = 32_000_000;

/**
 * A program starts by attaching Node's debugger to itself, which then hears of each module, and by setting a flag of V8, after
 * which the compiled code of Node's own modules is not taken. Only the packing of functions needs both, and does both itself.
 */
const noDebugger = { isInitializedAsync: () => Promise.resolve() };

/**
 * Modules that the SDK loads to pack functions of programs, to run the CLI and to trace itself, and that the HTTP library
 * loads to send forms, by the file that requires them. Source maps take half of the time of a program: the SDK reads a stack
 * trace for each promise and each resource. For a program in TypeScript, `ts-node` reads them all the same.
 */
const unused = [
  { from: "@pulumi/pulumi/runtime/closure/codePaths.js", id: /^@npmcli\/arborist$/ },
  { from: "@pulumi/pulumi/runtime/closure/codePaths.js", id: /^normalize-package-data$/ },
  { from: "@pulumi/pulumi/runtime/closure/parseFunction.js", id: /typescript-shim$/ },
  { from: "@pulumi/pulumi/cmd/run/index.js", id: /v8Hooks$/, instead: noDebugger },
  { from: "@pulumi/pulumi/cmd/run-policy-pack/index.js", id: /v8Hooks$/, instead: noDebugger },
  { from: "@pulumi/pulumi/cmd/run/index.js", id: /^source-map-support\/register$/ },
  { from: "@pulumi/pulumi/cmd/dynamic-provider/index.js", id: /^source-map-support\/register$/ },
  { from: "@pulumi/pulumi/cmd/run-policy-pack/index.js", id: /^source-map-support\/register$/ },
  { from: "@pulumi/pulumi/cmd/run/tracing.js", id: /^@opentelemetry\/(?!api$)/ },
  { from: "@pulumi/pulumi/index.js", id: /^\.\/automation$/ },
  { from: "axios/dist/node/axios.cjs", id: /^form-data$/ },
].map(({ from, ...entry }) => ({ from: path.normalize(from), ...entry }));

/** A module that is loaded when one of its members is read. @param {() => any} load */
const loadAtUse = (load) =>
  new Proxy({}, { get: (_, key) => (key === "__esModule" ? true : Reflect.get(load(), key)) });

/**
 * What the SDK does for each resource and each property and nobody sees: it sends the engine lines that only the log of
 * `-v` shows, and reads a stack trace that only PULUMI_DEBUG_PROMISE_LEAKS prints.
 *
 * @type {Record<string, { member: string, quicken: (slow: (...args: unknown[]) => unknown) => unknown }>}
 */
const quickened = {
  "../log": {
    member: "debug",
    quicken: (debug) => (process.env["PLATFORM_LOG"] === "debug" ? debug : () => Promise.resolve()),
  },
  "./debuggable": {
    member: "debuggablePromise",
    quicken:
      (debuggablePromise) =>
      (/** @type {unknown[]} */ ...args) => {
        const { stackTraceLimit } = Error;
        Error.stackTraceLimit = 0;
        const result = debuggablePromise(...args);
        Error.stackTraceLimit = stackTraceLimit;
        return result;
      },
  },
};
const runtime = path.join("@pulumi", "pulumi", "runtime");

function skipUnusedWork() {
  const internals = /** @type {any} */ (Module);
  const load = internals._load;
  const done = new Set();
  internals._load = function (
    /** @type {string} */ id,
    /** @type {{ filename: string } | null} */ parent,
    /** @type {boolean} */ isMain,
  ) {
    const found = unused.find((entry) => parent?.filename.endsWith(entry.from) && entry.id.test(id));
    const loadNow = () => load.call(this, id, parent, isMain);
    if (found) return found.instead ?? loadAtUse(loadNow);
    const loaded = loadNow();
    const { member, quicken } = quickened[id] ?? {};
    // While modules load in a circle, the member is not there yet.
    const isWhole = member && loaded[member] && parent && path.dirname(parent.filename).endsWith(runtime);
    if (isWhole && quicken && !done.has(loaded)) {
      done.add(loaded);
      loaded[member] = quicken(loaded[member]);
    }
    return loaded;
  };
}

/**
 * Whether a module's code may be kept: a dynamic import needs Node's own loader. The compiler only has that word in texts.
 *
 * @param {string} filename @param {string} content
 */
const isKept = (filename, content) =>
  /[\\/](node_modules|dist)[\\/]/.test(filename) &&
  (!/\bimport\s*\(/.test(content) || /[\\/]typescript[\\/]lib[\\/]typescript\.js$/.test(filename));

/** The file that keeps the code of one command of one version of the SDK. @param {string} command */
function cacheFileOfSdk(command) {
  const sdk = path.resolve(path.dirname(command), "../..");
  const { version } = require(path.join(sdk, "package.json"));
  return path.join(folder, `${path.basename(path.dirname(command))}-${version}-${process.version}`);
}

/** The file that keeps the code of one command of this package: each command loads other modules. */
function cacheFileOfCommand() {
  const [, , command = ""] = process.argv;
  return path.join(folder, `pulumi-platform-${command.replaceAll(/\W/g, "")}-${process.version}`);
}

/** @param {string} file @returns {Cache} */
function readCache(file) {
  try {
    const content = require("node:fs").readFileSync(file);
    const start = content.indexOf("\n") + 1;
    const { index } = JSON.parse(content.toString("utf8", 0, start));
    return { index, code: content.subarray(start) };
  } catch {
    // The first process has no cache to read.
  }
  return { index: {}, code: Buffer.alloc(0) };
}

/** @param {string} file @param {ReadonlyMap<string, Buffer>} codes by digest */
function writeCache(file, codes) {
  const { mkdirSync, renameSync, writeFileSync } = require("node:fs");
  /** @type {Index} */
  const index = {};
  let end = 0;
  for (const [digest, code] of codes) {
    const start = end;
    end += code.length;
    index[digest] = { start, end };
  }
  mkdirSync(folder, { recursive: true });
  const own = `${file}.${process.pid}`;
  const head = JSON.stringify({ index });
  writeFileSync(own, Buffer.concat([Buffer.from(`${head}\n`), ...codes.values()]));
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

/** The modules that this process has compiled itself, which are kept when it ends if they are many. */
class NewModules {
  /** @type {Map<string, import("node:vm").Script>} */
  scripts = new Map();
  length = 0;
  /** The digests of kept code that this process has run. @type {Set<string>} */
  used = new Set();

  /** @param {string} file @param {Cache} cache */
  constructor(file, { index, code }) {
    this.file = file;
    this.known = Object.entries(index).map(
      ([digest, { start, end }]) => /** @type {const} */ ([digest, code.subarray(start, end)]),
    );
  }

  /** @param {string} digest @param {import("node:vm").Script} script @param {number} length */
  add(digest, script, length) {
    const wereMany = this.length > MIN_NEW_LENGTH;
    this.scripts.set(digest, script);
    this.length += length;
    if (wereMany || this.length <= MIN_NEW_LENGTH) return;
    process.once("exit", () => this.write());
    // The engine ends its plugins so. A command of this package has its own answer to the signal.
    if (isOfSdk) process.once("SIGINT", () => process.exit());
  }

  write() {
    const added = [...this.scripts].map(
      ([digest, script]) => /** @type {const} */ ([digest, script.createCachedData()]),
    );
    const all = [...this.known, ...added];
    const isFull = all.reduce((sum, [, code]) => sum + code.length, 0) > MAX_LENGTH;
    const kept = isFull ? this.known.filter(([digest]) => this.used.has(digest)) : this.known;
    writeCache(this.file, new Map([...kept, ...added]));
  }
}

/** Node 22 keeps compiled code by NODE_COMPILE_CACHE; this does the same for Node 20. @param {string} file */
function keepCompiledCode(file) {
  const { createHash } = require("node:crypto");
  const vm = require("node:vm");
  const cache = readCache(file);
  const news = new NewModules(file, cache);
  const prototype = /** @type {any} */ (Module).prototype;
  const compile = prototype._compile;
  prototype._compile = function (
    /** @type {string} */ content,
    /** @type {string} */ filename,
    /** @type {string | undefined} */ format,
  ) {
    // Kept code has the names of the files that it was compiled from, and by those of its own the package finds a program's line.
    if (/[\\/]node_modules[\\/]pulumi-platform[\\/]/.test(filename))
      return compile.call(this, content, filename, format);
    // Else equal content is equal code, wherever a project has its modules.
    const digest = createHash("sha1").update(content).digest("base64");
    const known = cache.index[digest];
    if (known === undefined && (format === "module" || !isKept(filename, content))) {
      return compile.call(this, content, filename, format);
    }
    const cachedData = known && cache.code.subarray(known.start, known.end);
    const code = content.replace(/^#!.*/, "");
    const script = new vm.Script(Module.wrap(code), { filename, ...(cachedData && { cachedData }) });
    if (known === undefined) news.add(digest, script, content.length);
    else news.used.add(digest);
    const body = script.runInThisContext({ displayErrors: true });
    return body.call(this.exports, this.exports, requireOf(this), this, filename, path.dirname(filename));
  };
}

/** A language host that is older than the engine does not read from the project file that a program is JavaScript. */
function readIsTypeScript() {
  const folderAt = process.argv.indexOf("--pwd") + 1;
  if (folderAt === 0) return;
  const project = path.join(process.argv[folderAt] ?? "", "Pulumi.yaml");
  const { existsSync, readFileSync } = require("node:fs");
  // Where the program lies in a folder of its project, the project file is not beside it.
  const text = existsSync(project) ? readFileSync(project, "utf8") : "";
  if (/^ +typescript: false$/m.test(text)) process.env["PULUMI_NODEJS_TYPESCRIPT"] = "false";
}

const [, command = ""] = process.argv;
const [, name] =
  /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/](run|dynamic-provider|run-policy-pack)[\\/]/.exec(command) ?? [];
const isOfSdk = name !== undefined;
const isOurs =
  /[\\/](?:pulumi-platform[\\/]bin\.js|\.bin[\\/]pulumi-platform|dist[\\/]provider[\\/]cli[\\/]main\.js)$/.test(
    command,
  );
const hasNoCacheOfItsOwn = process.version.startsWith("v20.");
if (isOfSdk) {
  if (name === "run") readIsTypeScript();
  skipUnusedWork();
}
if (hasNoCacheOfItsOwn && (isOfSdk || isOurs)) {
  keepCompiledCode(isOfSdk ? cacheFileOfSdk(command) : cacheFileOfCommand());
}
