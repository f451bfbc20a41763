import fc from "fast-check";

/** Whether this is `npm test` without arguments, which tries a few of the cases that `npm run test:all` tries. */
export const isQuick = process.env["PULUMI_PLATFORM_TESTS"] === "quick";

/*
 * The same cases in every run, so that a run tells about the change and not about luck. PROPERTY_SEED=random tries
 * others (a failure names its seed), PROPERTY_SEED=123 those of that seed.
 */
const wanted = process.env["PROPERTY_SEED"];

/** Whether all of many alike cases are tried, as the nightly suites and the mutants do: they set PROPERTY_SEED. */
export const isThorough = wanted !== undefined;

/**
 * How many of so many generated cases this run tries: a tenth in `npm test`, and two at least; half in `npm run test:all`;
 * all at night, where each run has other cases.
 */
export const casesOf = (count: number): number =>
  isQuick ? Math.max(2, Math.ceil(count / 10)) : isThorough ? count : Math.ceil(count / 2);

/** Seeds of so many random cases, of which a run tries as many as `casesOf` says. */
export const seedsOf = (count: number): number[] => {
  const first =
    wanted === "random" ? Math.floor(Math.random() * 1e6) : Number.parseInt(wanted ?? "1", 10) - 1;
  return Array.from({ length: casesOf(count) }, (_, i) => first + i);
};

/** Those of many alike cases that this run tries: in `npm test` about as many as `few`, others for another offset. */
export const spreadOf = <T>(cases: readonly T[], few: number, offset: number): readonly T[] => {
  const step = isQuick ? Math.max(1, Math.floor(cases.length / few)) : 1;
  return cases.filter((_, i) => i % step === offset % step);
};

/** One of so many alike cases, other ones for another offset; at night all. */
export const oneIn = <T>(step: number, cases: readonly T[], offset = 0): readonly T[] =>
  isThorough ? cases : cases.filter((_, i) => i % step === offset % step);

// 100 is fast-check's own number of cases.
fc.configureGlobal({
  numRuns: casesOf(100),
  ...(wanted === "random" ? {} : { seed: Number.parseInt(wanted ?? "1", 10) }),
});

export { default } from "fast-check";
