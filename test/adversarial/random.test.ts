import { runCorpus, stopsChange } from "../support/adversarial";
import type { Outcome } from "../support/adversarial";
import { randomHostility } from "../support/randomHostility";

/*
 * Random hostile programs: honest values wrapped in secrets, in values that are known in the update only, or in
 * questions about the run; hostile names; providers of the program's own.
 * ADVERSARIAL_RANDOM=100 runs as many, ADVERSARIAL_SEED others.
 */
const count = Number(process.env["ADVERSARIAL_RANDOM"] ?? "4");
const seed = Number(process.env["ADVERSARIAL_SEED"] ?? "1");

test(`no random hostile program grants access that no layer reports (${count} programs, seed ${seed})`, async () => {
  jest.spyOn(console, "error").mockImplementation(() => undefined);
  const programs = randomHostility(seed, count);
  const outcomes = await runCorpus(programs);
  const isHidden = ({ applied, gained, remaining, review, verify }: Outcome): boolean =>
    applied && gained.length + remaining.length > 0 && !stopsChange(review) && !stopsChange(verify);
  const hidden = programs.flatMap(({ id, text }) => {
    const outcome = outcomes.get(id);
    if (outcome === undefined || !isHidden(outcome)) return [];
    const { gained, remaining, said } = outcome;
    return [{ text, gained, remaining, said }];
  });
  expect(hidden).toEqual([]);
});
