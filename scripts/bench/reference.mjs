// @ts-check
import process from "node:process";

/*
 * Work of a fixed size and of the same nature as a review: text, numbers, maps and JSON. A busy machine takes more
 * processor time for it as well, so limits are named as multiples of it.
 */

const ROUNDS = 6;
const ENTRIES = 20_000;

function work() {
  let total = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    /** @type {Map<string, { name: string, count: number }>} */
    const found = new Map();
    for (let n = 0; n < ENTRIES; n += 1) {
      const name = `group-${(n * 7919) % ENTRIES}/${round}`;
      found.set(name.replace(/\d+/g, "x").length % 2 === 0 ? name : `${name}/`, { name, count: n });
    }
    const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
    total += JSON.stringify(JSON.parse(JSON.stringify(sorted))).length;
  }
  return total;
}

/** @returns the processor time of the work in this process, in seconds: the quicker of two runs, since the first one compiles. */
export function referenceSeconds() {
  const runs = [1, 2].map(() => {
    const start = process.cpuUsage();
    if (work() === 0) throw new Error("the reference did nothing");
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000_000;
  });
  return Math.min(...runs);
}
