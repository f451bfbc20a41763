// @ts-check
const path = require("node:path");

const root = path.join(__dirname, "..", "..");

/** Environment in which the CLI and the processes that it starts take less processor time, and do the same. */
const QUICK_PROCESSES = {
  NODE_OPTIONS: `--require ${path.join(root, "test", "support", "compileCache.cjs")}`,
  NODE_COMPILE_CACHE: path.join(root, ".cache", "compiled"),
  // The CLI ends before its memory has to be collected: that saves a tenth of its processor time.
  GOGC: "off",
  GOMEMLIMIT: "1GiB",
};

module.exports = { QUICK_PROCESSES };
