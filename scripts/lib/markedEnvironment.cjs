// @ts-check
const { mkdirSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const TestEnvironment = require("./testEnvironment.cjs");

/** Writes which marked places a file of tests ran, and in how many seconds of the processor: see `markPlaces`. */
module.exports = class extends TestEnvironment {
  started = process.cpuUsage();

  /** @param {ConstructorParameters<typeof TestEnvironment>[0]} config @param {ConstructorParameters<typeof TestEnvironment>[1]} context */
  constructor(config, context) {
    super(config, context);
    this.test = path.relative(config.projectConfig.rootDir, context.testPath);
  }

  /** @override */
  async teardown() {
    const { ran = {} } = /** @type {{ ran?: object }} */ (this.global);
    const { user, system } = process.cpuUsage(this.started);
    const file = path.join(process.env.MARKED_PLACES ?? "", `${this.test}.json`);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ ran, seconds: (user + system) / 1e6 }));
    await super.teardown();
  }
};
