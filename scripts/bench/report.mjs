// @ts-check

/**
 * @typedef {object} Figures Of one operation of one subject in one run.
 * @property {number} wallMs
 * @property {number} [engineCpuMs]
 * @property {number} [programCpuMs]
 * @property {number} [providerCpuMs]
 * @property {number} [programBytes]
 * @property {number} [providerBytes]
 * @property {number} requests
 * @property {number} connections
 * @property {Record<string, number>} byMethod
 * @property {number} storedBytes After the first `up`, for each binding.
 * @property {number} ourBytes
 *
 * @typedef {object} Sample
 * @property {number} n
 * @property {number} latencyMs
 * @property {string} subject
 * @property {string} operation
 * @property {Figures} figures
 *
 * @typedef {Omit<Sample, "figures"> & { runs: number, figures: Figures }} Median
 */

/** @param {number[]} values */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1] ?? NaN, sorted[middle] ?? NaN];
  return (low + high) / 2;
}

const NUMBERS = /** @type {const} */ ([
  "wallMs",
  "engineCpuMs",
  "programCpuMs",
  "providerCpuMs",
  "programBytes",
  "providerBytes",
  "requests",
  "connections",
  "storedBytes",
  "ourBytes",
]);

/** One line for each subject, size, latency and operation. @param {readonly Sample[]} samples @returns {Median[]} */
export function medians(samples) {
  /** @type {Map<string, Sample[]>} */
  const groups = new Map();
  for (const sample of samples) {
    const key = JSON.stringify([sample.n, sample.latencyMs, sample.operation, sample.subject]);
    groups.set(key, [...(groups.get(key) ?? []), sample]);
  }
  return [...groups.values()].map((group) => {
    const [{ n, latencyMs, subject, operation }] = /** @type {[Sample]} */ (group);
    /** @type {any} */
    const figures = {};
    for (const name of NUMBERS) {
      const values = group.map(({ figures: each }) => each[name]).filter((value) => value !== undefined);
      if (values.length > 0) figures[name] = median(/** @type {number[]} */ (values));
    }
    const methods = new Set(group.flatMap(({ figures: each }) => Object.keys(each.byMethod)));
    figures.byMethod = Object.fromEntries(
      [...methods]
        .sort()
        .map((name) => [name, median(group.map((each) => each.figures.byMethod[name] ?? 0))]),
    );
    return { n, latencyMs, subject, operation, runs: group.length, figures };
  });
}

/** A limit on a ratio of two subjects, or on a figure by itself. */
/**
 * @typedef {object} Limit
 * @property {string} subject
 * @property {readonly string[]} operations
 * @property {string} figure As in `wallMs`; `requests` counts for each binding.
 * @property {string} [against] Another subject; without it the figure itself counts.
 * @property {number} atMost
 */

const WRITES = ["up", "update", "destroy"];

/** What the package promises itself, at 500 bindings and 20 ms. @param {number | undefined} parallel @returns {readonly Limit[]} */
export const limits = (parallel) => [
  { subject: "roleBinding", operations: WRITES, figure: "wallMs", against: "usual", atMost: 0.35 },
  { subject: "roleBinding", operations: WRITES, figure: "wallMs", against: "floor", atMost: 1.15 },
  { subject: "roleBinding", operations: ["up"], figure: "ourBytes", against: "usual", atMost: 0.15 },
  {
    subject: "roleBinding",
    operations: ["refresh"],
    figure: "requests",
    atMost: (parallel ?? 0) >= 64 ? 0.04 : 0.15,
  },
  { subject: "roleBinding", operations: ["up"], figure: "requests", atMost: 0.2 },
  { subject: "roleBinding", operations: ["up"], figure: "programBytes", against: "usual", atMost: 0.35 },
  { subject: "groupAccess", operations: WRITES, figure: "wallMs", against: "openTofu", atMost: 1.2 },
  { subject: "groupAccess", operations: ["refresh"], figure: "wallMs", against: "openTofu", atMost: 1 },
  { subject: "groupAccess", operations: ["up"], figure: "requests", atMost: 0.05 },
  { subject: "groupAccess", operations: ["refresh"], figure: "requests", atMost: 0.008 },
];

/**
 * @param {readonly Median[]} all
 * @param {readonly Limit[]} wanted
 * @returns {{ limit: Limit, n: number, latencyMs: number, operation: string, value: number, holds: boolean }[]}
 */
export function compare(all, wanted) {
  return all.flatMap((one) =>
    wanted
      .filter((limit) => limit.subject === one.subject && limit.operations.includes(one.operation))
      .flatMap((limit) => {
        const { n, latencyMs, operation } = one;
        const name = /** @type {"wallMs"} */ (limit.figure);
        const own = name === /** @type {string} */ ("requests") ? one.figures[name] / n : one.figures[name];
        const other =
          limit.against === undefined
            ? 1
            : all.find(
                (each) =>
                  each.subject === limit.against &&
                  each.n === n &&
                  each.latencyMs === latencyMs &&
                  each.operation === operation,
              )?.figures[name];
        if (own === undefined || other === undefined) return [];
        const value = own / other;
        return [{ limit, n, latencyMs, operation, value, holds: value <= limit.atMost }];
      }),
  );
}

/** Compares the first `up` of a GroupAccess with one of a tenth of the bindings. @param {readonly Median[]} all @returns {ReturnType<typeof compare>} */
export function compareGrowth(all) {
  return all.flatMap((one) => {
    const { n, latencyMs, subject, operation } = one;
    if (subject !== "groupAccess" || operation !== "up") return [];
    const tenth = all.find(
      (each) =>
        each.subject === subject &&
        each.operation === operation &&
        each.latencyMs === latencyMs &&
        each.n * 10 === n,
    );
    if (!tenth) return [];
    const value = one.figures.wallMs / tenth.figures.wallMs;
    const limit = {
      subject,
      operations: [operation],
      figure: "wallMs",
      against: `N = ${tenth.n}`,
      atMost: 12,
    };
    return [{ limit, n, latencyMs, operation, value, holds: value <= limit.atMost }];
  });
}

/** @param {readonly string[][]} rows The head first. */
function table(rows) {
  const [head = [], ...body] = rows;
  return [head, head.map(() => "---"), ...body].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

/** @param {number | undefined} value @param {number | undefined} base */
function ratio(value, base) {
  return value === undefined || base === undefined || base === 0 ? "" : `${(value / base).toFixed(2)}x`;
}

const HEAD = [
  "N",
  "latency",
  "operation",
  "subject",
  "wall",
  "CPU engine",
  "CPU program",
  "CPU provider",
  "memory program",
  "memory provider",
  "requests",
  "connections",
  "state bytes per binding (ours)",
];

/** What is shown as ratios. */
const RATIOS = /** @type {const} */ ([
  "wallMs",
  "engineCpuMs",
  "programCpuMs",
  "providerCpuMs",
  "programBytes",
  "providerBytes",
]);

/** @param {Median} median @param {Figures | undefined} base */
function formatMeasurement({ n, latencyMs, operation, subject, figures }, base) {
  const methods = Object.entries(figures.byMethod).map(([method, count]) => `${count} ${method}`);
  return [
    String(n),
    `${latencyMs} ms`,
    operation,
    subject,
    ...RATIOS.map((name) => ratio(figures[name], base?.[name])),
    methods.join(" + ") || "0",
    String(figures.connections),
    `${Math.round(figures.storedBytes)} (${Math.round(figures.ourBytes)})`,
  ];
}

/** Times and memory as ratios to the first subject measured beside it; counts as counts. @param {readonly Median[]} all @param {readonly { name: string }[]} subjects */
export function resultTable(all, subjects) {
  const order = subjects.map(({ name }) => name);
  /** @type {Map<string, Median[]>} */
  const groups = new Map();
  for (const one of all) {
    const key = JSON.stringify([one.n, one.latencyMs, one.operation]);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const rows = [...groups.values()].flatMap((group) => {
    group.sort((one, other) => order.indexOf(one.subject) - order.indexOf(other.subject));
    return group.map((each) => formatMeasurement(each, group[0]?.figures));
  });
  return table([HEAD, ...rows]);
}

/** @param {ReturnType<typeof compare>} comparisons */
export function limitTable(comparisons) {
  return table([
    ["N", "latency", "figure", "against", "measured", "at most", "holds"],
    ...comparisons.map(({ limit, n, latencyMs, operation, value, holds }) => [
      String(n),
      `${latencyMs} ms`,
      `${limit.subject} ${operation} ${limit.figure}`,
      limit.against ?? "each binding",
      value.toFixed(3),
      String(limit.atMost),
      holds ? "yes" : "no",
    ]),
  ]);
}
