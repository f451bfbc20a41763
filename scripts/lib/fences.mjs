// @ts-check

/**
 * @typedef {object} Step A fenced command of a page that can be run.
 * @property {string} title The last heading before it.
 * @property {string} text
 */

/**
 * The shell commands of a page in order, without those with a comment `not run: …` before them.
 * @param {string} page
 */
export function stepsOf(page) {
  /** @type {Step[]} */
  const steps = [];
  let title = "";
  const parts = /^#+ (.+)$|(<!-- not run: [^]*?-->\n\n)?^```sh\n([^]*?)^```$/gm;
  for (const [, heading, notRun, text] of page.matchAll(parts)) {
    if (heading !== undefined) title = heading;
    else if (notRun === undefined && text !== undefined) steps.push({ title, text });
  }
  return steps;
}
