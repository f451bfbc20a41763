import { readCorpus, runCorpus, stopsChange } from "./corpus";
import { isThorough } from "../support/properties";
import type { HostileProgram, Outcome } from "./corpus";

/*
 * Hostile edits of an honest program, each through the real engine: preview, review, update, what the server holds,
 * verify. No grant may exist after the update that the review did not stop and that verify does not find.
 * ADVERSARIAL=<part of an id> runs some.
 */
const chosen = process.env["ADVERSARIAL"] ?? "";
const corpus = readCorpus().filter(({ id }) => id.includes(chosen));
if (corpus.length === 0)
  throw new Error(`ADVERSARIAL=${chosen} selects no program of test/adversarial/programs`);

/** Everyday edits: new objects that refer to one another, in a program with a name and an order of its own. */
const HONEST: HostileProgram = {
  id: "honest",
  title: "Adds a team with its role, its pipeline and its bindings",
  caughtBy: "none",
  isUpdatedAlone: true,
  runsAlone: false,
  approvedReport: "accepts",
  text: `
const { declare, ids, GITHUB, platform, pulumi } = require("./base");
const r = declare();
const team = new platform.Group("new-team", { parentUid: r.team.id, name: "new-team" });
const role = (name, capabilities) => new platform.Role(name, { parentUid: team.id, name, capabilities });
const [reads, lists] = [role("reads", ["CAP_REPO_LIST"]), role("lists", ["CAP_TAG_LIST"])];
const pipeline = new platform.Identity("new-pipeline", { parentUid: team.id, name: "new-pipeline",
  claimMatch: { issuer: GITHUB, subject: "repo:acme/pay:ref:refs/heads/main" } });
new platform.RoleBinding("new-reads", { parentUid: team.id, identityUid: pipeline.id, roleUid: reads.id });
const inner = new platform.Group("inner", { parentUid: team.id, name: pulumi.interpolate\`inner\` });
new platform.GroupAccess("inner-access", { parentUid: inner.id, bindings: {
  lists: { identityUid: r.deployer.id, roleUid: lists.id.apply((id) => id) },
} });
`,
};

/** `test.each` of a part of the selection, which may be empty: it is then skipped by name. */
const testEach = (programs: readonly HostileProgram[]) =>
  programs.length > 0
    ? test.each(programs)
    : (title: string) => test.skip(`${title} (none is selected)`, () => undefined);

function summaryOf({ review, verify, gained, remaining, said, report, verified }: Outcome) {
  const messages = [...(report?.findings ?? []), ...(verified?.findings ?? [])].map(({ message }) => message);
  const incomplete = [...(report?.incomplete ?? []), ...(verified?.incomplete ?? [])];
  return { review, verify, gained, remaining, messages, incomplete, said };
}

describe("a hostile program", () => {
  let outcomes: ReadonlyMap<string, Outcome>;
  const outcomeOf = ({ id }: HostileProgram): Outcome => {
    const outcome = outcomes.get(id);
    if (outcome === undefined) throw new Error(`${id} was not run`);
    return outcome;
  };

  beforeAll(async () => {
    // The commands say their verdict there.
    jest.spyOn(console, "error").mockImplementation(() => undefined);
    outcomes = await runCorpus([...corpus, HONEST]);
  });

  test("has a file that says what it does and what catches it, and there are at least 60", () => {
    const all = readCorpus();
    expect(all.length).toBeGreaterThanOrEqual(60);
    expect(all.filter(({ title }) => title === "")).toEqual([]);
    for (const { id, caughtBy, plan } of all) {
      expect({ id, caughtBy }).toEqual({
        id,
        caughtBy: expect.stringMatching(/^(review|verify|none)$/) as string,
      });
      expect({ id, isPlanTold: plan !== undefined }).toEqual({ id, isPlanTold: caughtBy === "verify" });
    }
  });

  test.each(corpus)("$id grants no access that no layer reports", (program) => {
    const outcome = outcomeOf(program);
    const { applied, gained, remaining, review, verify } = outcome;
    const isHidden =
      applied && gained.length + remaining.length > 0 && !stopsChange(review) && !stopsChange(verify);
    expect({ isHidden, ...(isHidden ? summaryOf(outcome) : {}) }).toEqual({ isHidden: false });
  });

  test.each(corpus)("$id is caught by what the guide says: $caughtBy", (program) => {
    const outcome = outcomeOf(program);
    const caughtBy = stopsChange(outcome.review) ? "review" : stopsChange(outcome.verify) ? "verify" : "none";
    const isAsTold = caughtBy === program.caughtBy;
    expect({ caughtBy, ...(isAsTold ? {} : summaryOf(outcome)) }).toEqual({ caughtBy: program.caughtBy });
  });

  const planned = corpus.filter(({ plan, isUpdatedAlone }) => plan === "accepts" || (plan && isUpdatedAlone));
  testEach(planned)("$id meets an update plan as the guide says: $plan", (program) => {
    expect(outcomeOf(program).planRefuses).toBe(program.plan === "refuses");
  });

  const held = corpus.filter(({ approvedReport, isUpdatedAlone }) => approvedReport && isUpdatedAlone);
  testEach(held)("$id is refused before its request by a pack that is bound to the report", (program) => {
    const { up, verify, said = "" } = outcomeOf(program).held ?? {};
    const isRefused = up !== 0 && said.includes("not-announced") && verify !== 5;
    expect({ isRefused, ...(isRefused ? {} : { up, verify, said }) }).toEqual({ isRefused: true });
  });

  test("an honest change is made by a pack that is bound to the report", () => {
    const { review, held: { up, verify, said } = {} } = outcomeOf(HONEST);
    expect({ review, up, verify, ...(up === 0 ? {} : { said }) }).toEqual({ review: 0, up: 0, verify: 0 });
  });

  test("what only verify catches sends requests of its own", () => {
    const left = readCorpus().filter(
      ({ caughtBy, approvedReport }) => caughtBy === "verify" && approvedReport === undefined,
    );
    expect(left.length).toBeGreaterThan(0);
    expect(left.filter(({ text }) => !/\brequest\(/.test(text)).map(({ id }) => id)).toEqual([]);
  });

  const aimed = corpus.filter(({ text }) => text.includes('bind("accepted"'));
  testEach(aimed)("$id aims at an exception that suppresses what it is meant for", (program) => {
    const suppressed = outcomeOf(program).report?.suppressed ?? [];
    expect(suppressed.map(({ id, grant }) => `${id} ${grant?.group.path}`)).toEqual([
      "G6 acme / sandbox",
      "G9 acme / sandbox",
    ]);
  });

  const together = corpus.filter(({ caughtBy, runsAlone }) => caughtBy === "review" && !runsAlone);
  testEach(together)("$id is caught where its preview hides it and the plan is true", (program) => {
    const { review, forgedPreviews = {} } = outcomeOf(program);
    const passing = Object.entries(forgedPreviews).filter(([, code]) => !stopsChange(code));
    expect({ passing, forged: Object.keys(forgedPreviews).length }).toEqual({
      passing: [],
      forged: review === 0 ? 0 : isThorough ? 6 : 2,
    });
  });

  test.each(corpus)("$id is reviewed within five seconds of CPU time", (program) => {
    expect(outcomeOf(program).reviewSeconds).toBeLessThan(5);
  });
});
