// @ts-check

const WIDTH = 100;
const HEIGHT = 30;
/** Seconds between two keys, before a line of output, and after a command. */
const KEY = 0.03;
const LINE = 0.05;
const PAUSE = 1.2;

/**
 * A recording of commands and their output in the format asciicast 2. The times are those of a quick typist, not those of
 * the machine that ran the commands.
 * @param {readonly { command: string, output: string }[]} steps
 */
export function recordingOf(steps) {
  let time = 0.5;
  /** @type {[number, "o", string][]} */
  const events = [];
  const print = (/** @type {number} */ delay, /** @type {string} */ text) => {
    time += delay;
    events.push([Number(time.toFixed(3)), "o", text]);
  };
  for (const { command, output } of steps) {
    print(0, "\u001B[32m$\u001B[0m ");
    for (const key of command) print(KEY, key);
    print(PAUSE / 2, "\r\n");
    const lines = output.trim() === "" ? [] : output.trimEnd().split("\n");
    for (const line of lines) print(LINE, `${line}\r\n`);
    print(PAUSE, "");
  }
  const header = { version: 2, width: WIDTH, height: HEIGHT, title: "The review of a change" };
  return [header, ...events].map((line) => `${JSON.stringify(line)}\n`).join("");
}
