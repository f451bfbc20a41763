// @ts-check

const page = "<html><body><h1>Sign in</h1></body></html>";
const error = (/** @type {number} */ code) => ({ code, message: "chaos", details: [] });
const retryInfo = {
  code: 8,
  message: "chaos",
  details: [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "0.150s" }],
};

/** A request is given up after this long; a fault makes some take longer. */
export const TIMEOUT_MS = 2000;

/**
 * Everything that a network and a server do to a request, as faults of the emulator.
 * @type {Readonly<Record<string, Record<string, unknown>>>}
 */
export const classes = {
  "cut before it took effect": { close: "before" },
  "cut after it took effect": { close: "after" },
  "cut, and takes effect later": { close: "after", effectAfterMs: 1200 },
  "a proxy gives up, and it takes effect later": {
    status: 504,
    body: page,
    applied: true,
    effectAfterMs: 900,
  },
  "a response after the timeout": { latencyMs: TIMEOUT_MS + 800 },
  "a truncated response": { truncate: 5 },
  "408 of a proxy": { status: 408, body: page },
  "425 of a proxy": { status: 425, body: page },
  "429 with Retry-After": { status: 429, body: page, headers: { "Retry-After": "1" } },
  "429 with RetryInfo": { status: 429, body: retryInfo },
  "429 with the service's own header": {
    status: 429,
    body: error(8),
    headers: { "Grpc-Metadata-Retry-After": "1" },
  },
  "a conflict of writes": { status: 409, body: error(10) },
  "500 of the API": { status: 500, body: error(13) },
  "502 with a page": { status: 502, body: page },
  "502 with a page, after it took effect": { status: 502, body: page, applied: true },
  "503 of the API": { status: 503, body: error(14) },
  "503 with Retry-After": { status: 503, body: "", headers: { "Retry-After": "1" } },
  "200 with a page, after it took effect": { status: 200, body: page, applied: true },
  "200 with half of an object, after it took effect": { status: 200, body: '{"uid": "', applied: true },
};

/**
 * Returns all classes as faults, which together hit this share of all requests. A request gets the first fault that is
 * drawn for it, so the probability rises a little down the list.
 * @param {number} seed
 * @param {number} share From 0 to 1.
 */
export function createFaults(seed, share) {
  const all = Object.values(classes);
  const perClass = share / all.length;
  return all.map((fault, index) => ({
    ...fault,
    probability: perClass / (1 - index * perClass),
    seed: seed * 1000 + index,
  }));
}
