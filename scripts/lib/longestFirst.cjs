// @ts-check
const { default: Sequencer } = require("@jest/test-sequencer");

/** Parts of the tests whose files take minutes. The others' files take seconds, so that all workers end together. */
const long = new Set(["engine", "package"]);

/** Starts the files of long parts before all others, else in jest's own order. */
module.exports = class LongestFirst extends Sequencer {
  /** @override @param {import("@jest/test-result").Test[]} tests */
  async sort(tests) {
    const isLong = (/** @type {import("@jest/test-result").Test} */ { context }) =>
      long.has(context.config.displayName?.name ?? "");
    const sorted = await super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
