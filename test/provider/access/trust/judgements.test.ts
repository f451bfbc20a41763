import fc, { casesOf } from "../../../support/properties";
import { RE2JS } from "re2js";
import { sharedIssuerOf } from "../../../../provider/access/trust/issuers";
import type { PatternJudgement } from "../../../../provider/access/trust/judgement";
import { PatternComparer } from "../../../../provider/access/trust/patternComparer";
import { judgeIssuer } from "../../../../provider/access/trust/ownedIssuers";
import { judgeSubject } from "../../../../provider/access/trust/ownedSubjects";

const github = sharedIssuerOf("https://token.actions.githubusercontent.com")!;

const atGithub = (pattern: string, comparer = new PatternComparer()): PatternJudgement =>
  judgeSubject(comparer, pattern, [github]);
const ofIssuer = (pattern: string): PatternJudgement => judgeIssuer(new PatternComparer(), pattern);

/** The names of the owners that a judgement pins. */
const namesOf = (judged: PatternJudgement): readonly string[] | PatternJudgement =>
  judged.kind === "pinned" ? judged.owners.map(({ name }) => name) : judged;

/** The example of a judgement that must be open; re2js itself must accept it. */
function exampleIn(pattern: string, judged: PatternJudgement): string {
  if (judged.kind !== "open") throw new Error(`${pattern}: ${JSON.stringify(judged)}`);
  expect([pattern, judged.example, RE2JS.compile(pattern).test(judged.example)]).toEqual([
    pattern,
    judged.example,
    true,
  ]);
  return judged.example;
}

describe("a subject pattern at GitHub Actions", () => {
  it.each([
    [".*", "repo:intruder/intruder:ref:refs/heads/main"],
    ["?*", undefined],
    ["^repo:[^/]+/pay:ref:refs/heads/main$", "repo:intruder/pay:"],
    ["^repo:acme.*$", "repo:acme-intruder/"],
    ["^repo:acme-[a-z]+/pay:.*$", "repo:acme-intruder/pay:"],
    ["repo:acme/pay:ref:refs/heads/main", "repo:intruder/"],
    ["^repo:acme/pay:pull_request|repo:acme/ops:ref:refs/heads/main$", "repo:intruder/"],
    ["^repo:(acme|.*)/pay:.*$", "repo:intruder/pay:"],
    ["^repo:acme.io/pay:ref:refs/heads/main$", "repo:acme.io/pay:"],
    ["^repo:acme[0-9]*/pay:.*$", "repo:acme0/pay:"],
    ["(?i)^REPO:[^I].*$", "repo:[a-z0-9-]*intruder"],
    ["^environment:(?:production|staging)$", "environment:"],
    ["^repo:\\pL+/pay:.*$", "repo:intruder/pay:"],
    ["^repo:\\bacme\\b", undefined],
    ["^repo:[^/@]+@[0-9]+/pay", "repo:"],
  ])("%s lets %s… in", (pattern, start) => {
    if (start === undefined) expect(atGithub(pattern).kind).toBe("unjudged");
    else expect(exampleIn(pattern, atGithub(pattern))).toMatch(new RegExp(`^${start}`));
  });

  it.each([
    ["^repo:acme/pay", ["acme"]],
    ["^repo:acme/(pay|ops):ref:refs/heads/(main|release-[0-9]+)$", ["acme"]],
    ["\\Arepo:acme/pay:.*\\z", ["acme"]],
    ["(?i)^repo:acme-and-all-of-its-friends/.*$", ["acme-and-all-of-its-friends"]],
    ["^repo:(?:acme|globex)(?:@[0-9]+)?/.*$", ["acme", "globex"]],
    ["^repo:[^/@]+@4711/pay@[0-9]+:.*$", ["4711"]],
    ["^repo:acme@4711/pay@[0-9]+:.*$", ["acme@4711"]],
    ["^repo:acme@(?:4711|4712)/pay@[0-9]+:.*$", ["acme"]],
  ])("%s names %j", (pattern, names) => {
    expect(namesOf(atGithub(pattern))).toEqual(names);
  });
});

describe("an issuer pattern", () => {
  it.each([
    [".*", "https://intruder.example"],
    ["https://*.mycompany\\.com", "intruder.example"],
    ["^https://[^/]+\\.mycompany\\.com$", "https://intruder.example"],
    ["^https://ci.acme\\.com$", "acme.com"],
    ["^https://gitlab\\.com", "https://gitlab.com.intruder.example"],
    ["https://gitlab\\.com$", "https://intruder.example/https://gitlab.com"],
    ["^https://gitlab\\.com|https://token\\.actions\\.githubusercontent\\.com$", "https://"],
    ["^https://oidc\\.eks\\.[a-z0-9-]+\\.amazonaws\\.com/id/.*$", "https://oidc.eks."],
    ["^https://(?:sso\\.acme\\.com|[a-z]{3}\\.ru)$", ".ru"],
    ["^https://[0-9.]+$", "https://203.0.113.1"],
    ["^https://[a-z]+\\.github\\.io$", ".github.io"],
    ["^https://acme\\.[a-z]+$", "https://acme."],
    ["^https://[a-z]+\\.okta\\.com$", ".okta.com"],
    ["^https://login\\.microsoftonline\\.com/.*/v2\\.0$", "https://login.microsoftonline.com/"],
    ["^https://container\\.googleapis\\.com/v1/projects/.*$", "projects/intruder"],
  ])("%s lets an issuer like %s in", (pattern, part) => {
    expect(exampleIn(pattern, ofIssuer(pattern))).toContain(part);
  });

  it.each([
    "^https://container\\.googleapis\\.com/v1/projects/acme/locations/.*$",
    "^https://oidc\\.eks\\.eu-west-1\\.amazonaws\\.com/id/0123456789ABCDEF0123456789ABCDEF$",
  ])("%s lets no other in", (pattern) => {
    expect(ofIssuer(pattern).kind).toBe("pinned");
  });
});

it("shows an example of an issuer pattern that lets no stranger in, and is not written out", () => {
  const judged = ofIssuer("^https://[a-z]+\\.acme\\.com$");
  expect(judged).toMatchObject({ kind: "unproven", example: "https://x.acme.com" });
});

/** Patterns of subjects at GitHub, with the owners that a stranger cannot have. */
const part = fc.constantFrom(
  ...[
    "acme",
    "[a-z]{4}",
    "acme[0-9]*",
    ".*",
    "(?:acme|globex)",
    "[^/]+",
    "acme-.*",
    "(?i:ACME)",
    "[^:]*",
    "\\w+",
  ],
);
const rest = fc.constantFrom(
  ...["/pay:.*", "/.*:ref:refs/heads/main", "/pay:pull_request", ".*", "/pay:environment:[a-z]+"],
);
const anchors = fc.tuple(fc.constantFrom("^", "", "\\A"), fc.constantFrom("$", "", "\\z"));
const own = new Set(["acme", "globex"]);

it("prints subjects of strangers alone, and leaves out none that a stranger can have", () => {
  fc.assert(
    fc.property(
      anchors,
      part,
      rest,
      fc.constantFrom("evil", "acme7", "acme-x", "x", "ACMEX"),
      ([start, end], owner, after, stranger) => {
        const pattern = `${start}repo:${owner}${after}${end}`;
        const judged = atGithub(pattern);
        if (judged.kind === "open") {
          const example = exampleIn(pattern, judged);
          expect(own.has(/^repo:([^/@:]+)/.exec(example)?.[1]?.toLowerCase() ?? "")).toBe(false);
        } else {
          const regex = RE2JS.compile(pattern);
          const subjects = ["pull_request", "ref:refs/heads/main", "environment:prod"];
          const met = subjects.filter((end) => regex.test(`repo:${stranger}/pay:${end}`));
          expect([pattern, stranger, met]).toEqual([pattern, stranger, []]);
        }
      },
    ),
    { numRuns: casesOf(150) },
  );
});
