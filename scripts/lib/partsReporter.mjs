// @ts-check

const seconds = (/** @type {number} */ ms) => `${(ms / 1000).toFixed(0)} s`;

/**
 * A reporter of jest that says how long each part of the tests kept a processor busy, since parts run side by side.
 * @implements {Pick<import("@jest/reporters").Reporter, "onTestResult" | "onRunComplete">}
 */
export default class PartsReporter {
  /** @type {Map<string, { files: number, tests: number, ms: number }>} */
  parts = new Map();

  /**
   * @param {import("@jest/reporters").Test} test
   * @param {import("@jest/reporters").TestResult} result
   */
  onTestResult(test, result) {
    const name = test.context.config.displayName?.name ?? "tests";
    const part = this.parts.get(name) ?? { files: 0, tests: 0, ms: 0 };
    part.files += 1;
    part.tests += result.testResults.length;
    part.ms += result.perfStats.runtime;
    this.parts.set(name, part);
  }

  onRunComplete() {
    for (const [name, { files, tests, ms }] of this.parts) {
      console.error(`${name}: ${tests} tests in ${files} files, ${seconds(ms)} of one worker`);
    }
  }
}
