// @ts-check
import { createRequire } from "node:module";
import path from "node:path";
import { root } from "../setup.mjs";

const { Client } = createRequire(import.meta.url)(path.join(root, "dist", "provider", "api", "client.js"));

const PER_SECOND = 50;
const AT_ONCE = 8;
/** Requests that are sent for each that is wanted: the rest is refused and sent again. */
const MOST_SENT = 1.1;
const TOKEN = "limit-token-0123456789";

/**
 * Sends requests to a server that takes 50 a second: none may fail, and few may be refused. No second may hold more than
 * the limit, one burst, and what finds the pace (two requests for each that may be under way). The time is printed
 * only: on a busy machine timers are late. Unit tests hold it in virtual time.
 * @param {(options: object) => Promise<any>} startEmulator
 * @param {number} count
 */
export async function requestsAtLimit(startEmulator, count) {
  const emulator = await startEmulator({ token: TOKEN, requestsPerSecond: PER_SECOND });
  const tokens = {
    token: () => Promise.resolve(TOKEN),
    renew: () => Promise.resolve(false),
    refresh: () => Promise.resolve(false),
  };
  const client = new Client({
    baseUrl: emulator.url,
    timeoutMs: 60_000,
    maxRetries: 5,
    maxConcurrency: AT_ONCE,
    tokens,
  });
  const began = performance.now();
  const outcomes = await Promise.allSettled(Array.from({ length: count }, () => client.get("/iam/v2/roles")));
  const took = (performance.now() - began) / 1000;
  const failures = outcomes.filter(({ status }) => status === "rejected").length;
  /** @type {number[]} */
  const times = emulator.requests.map((/** @type {{ time: string }} */ { time }) => Date.parse(time));
  await emulator.close();

  let most = 0;
  for (let last = 0, first = 0; last < times.length; last += 1) {
    while ((times[last] ?? 0) - (times[first] ?? 0) >= 1000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  const ideal = count / PER_SECOND;
  console.log(
    `${count} requests at ${PER_SECOND} a second: ${failures} failed, ${times.length} seen by the server, at most ${most} in a second, ${took.toFixed(1)} s (${(took / ideal).toFixed(2)} times the ideal)`,
  );
  return failures === 0 && most <= 2 * PER_SECOND + 2 * AT_ONCE && times.length <= MOST_SENT * count ? 0 : 1;
}
