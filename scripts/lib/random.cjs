// @ts-check

/**
 * Numbers from 0 to below 1: the same for the same seed, on every machine (Mulberry32).
 * @typedef {() => number} Random
 */

/** @param {number} seed @returns {Random} */
function randomOf(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * One of several.
 * @template T
 * @param {Random} random
 * @param {readonly T[]} items
 * @returns {T}
 */
function pick(random, items) {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("there is nothing to pick from");
  return item;
}

module.exports = { randomOf, pick };
