import fc from "fast-check";

/** Whether this is `npm test` without arguments, which tries a few of the cases that `npm run test:all` tries. */
export const isQuick = process.env["PULUMI_PLATFORM_TESTS"] === "quick";

/** How many of so many generated cases this run tries: a tenth in `npm test`, and two at least. */
export const casesOf = (count: number): number => (isQuick ? Math.max(2, Math.ceil(count / 10)) : count);

/** Those of many alike cases that this run tries: in `npm test` about as many as `few`, others for another offset. */
export const spreadOf = <T>(cases: readonly T[], few: number, offset: number): readonly T[] => {
  const step = isQuick ? Math.max(1, Math.floor(cases.length / few)) : 1;
  return cases.filter((_, i) => i % step === offset % step);
};

/*
 * The same cases in every run, so that a run tells about the change and not about luck. PROPERTY_SEED=random tries
 * others (a failure names its seed), PROPERTY_SEED=123 those of that seed. 100 is fast-check's own number of cases.
 */
const wanted = process.env["PROPERTY_SEED"] ?? "1";
fc.configureGlobal({
  numRuns: casesOf(100),
  ...(wanted === "random" ? {} : { seed: Number.parseInt(wanted, 10) }),
});

export { default } from "fast-check";
