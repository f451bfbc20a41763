import { sharedIssuerOf } from "../../../provider/access/issuers";
import { readPattern } from "../../../provider/access/pattern";
import type { Pattern } from "../../../provider/access/pattern";
import {
  foreignAudience,
  foreignIssuer,
  foreignPrincipal,
  foreignSubject,
  foreignUserId,
  likelyTexts,
  proposals,
} from "../../../provider/access/witness";

const github = sharedIssuerOf("https://token.actions.githubusercontent.com")!;
const gitlab = sharedIssuerOf("https://gitlab.com/")!;
const google = sharedIssuerOf("https://accounts.google.com")!;

function pattern(text: string): Pattern {
  const read = readPattern(text);
  if (read === undefined) throw new Error(`not a pattern: ${text}`);
  return read;
}

describe("a subject pattern at an issuer that serves everybody", () => {
  it.each([
    [".*", "repo:intruder/"],
    [".+", "repo:intruder/"],
    ["^.*$", "repo:intruder/"],
    ["^repo:.*$", "repo:intruder/"],
    ["^repo:[^/]+/pay:ref:refs/heads/main$", "repo:intruder/pay:"],
    ["^repo:acme.*$", "repo:acme-intruder/"],
    ["^repo:acme[^:]*:ref:refs/heads/main$", "repo:acme-intruder/"],
    ["^repo:acme", "repo:acme-intruder/"],
    ["^repo:acme-[a-z]+/pay:.*$", "repo:acme-intruder/pay:"],
    ["repo:acme/pay:ref:refs/heads/main", "repo:intruder/"],
    ["acme/pay:ref:refs/heads/main$", "repo:intruder"],
    ["^repo:acme/pay:pull_request|repo:acme/ops:ref:refs/heads/main$", "repo:intruder/"],
    ["^repo:(acme|.*)/pay:.*$", "repo:intruder/pay:"],
    [":environment:production$", "repo:intruder/"],
    ["(?i)^REPO:.*/PAY:", "repo:intruder/"],
    ["^repo:acme.io/pay:ref:refs/heads/main$", "repo:acme-io/pay:"],
  ])("%s lets %s… in", (text, start) => {
    const found = foreignSubject(pattern(text), github);
    expect(found?.text).toMatch(new RegExp(`^${start}`));
    expect(pattern(text).accepts(found!.text)).toBe(true);
  });

  it.each([
    "^repo:acme/pay:ref:refs/heads/main$",
    "^repo:acme/.*$",
    "^repo:acme/pay:.*$",
    "^repo:acme/(pay|ops):ref:refs/heads/(main|release-[0-9]+)$",
    "^(?:repo:acme/pay:ref:refs/heads/main|repo:acme/ops:pull_request)$",
    "^repo:acme/[a-z-]+:environment:[a-z]+$",
    "^repo:acme/pay",
    "\\Arepo:acme/pay:.*\\z",
  ])("%s lets nobody else in", (text) => {
    expect(foreignSubject(pattern(text), github)).toBeUndefined();
  });

  it("knows the subjects of other issuers", () => {
    expect(foreignSubject(pattern("^project_path:.*$"), gitlab)?.text).toMatch(/^project_path:intruder/);
    expect(foreignSubject(pattern("^project_path:acme/.*$"), gitlab)).toBeUndefined();
    expect(foreignSubject(pattern("^[0-9]+$"), google)?.text).toBe("100000000000000000000");
    expect(foreignSubject(pattern("^103456789012345678901$"), google)).toBeUndefined();
  });
});

describe("a subject pattern at an issuer of one's own", () => {
  it.each([
    [".*", "intruder"],
    ["^[a-z]+$", "intruder"],
    ["^[0-9]+$", "100000000000000000000"],
    ["deployer", "intruderdeployer"],
    ["^deployer", "deployer-intruder"],
    ["^a|b$", "a-intruder"],
    ["^[^@]+@mail.acme.com$", "x@mailxacme.com"],
    ["^.*@acme\\.com", "x@acme.com-intruder"],
    ["^system:serviceaccount:.*$", "system:serviceaccount:intruder:intruder"],
  ])("%s lets %s in", (text, witness) => {
    expect(foreignSubject(pattern(text), undefined)?.text).toBe(witness);
  });

  it.each([
    "^deployer$",
    "^user-.*$",
    "^(a|b)$",
    "^.*@acme\\.com$",
    "@acme\\.com$",
    "^system:serviceaccount:ci:[a-z]+$",
  ])("%s is as open as it says", (text) => {
    expect(foreignSubject(pattern(text), undefined)).toBeUndefined();
  });
});

describe("an issuer pattern", () => {
  it.each([
    [".*", "https://intruder.example"],
    ["https://*.mycompany\\.com", "https://intruder.example/"],
    ["^https://.*mycompany\\.com$", "mycompany.com"],
    ["^https://.*\\.mycompany\\.com$", "https://intruder.example/.mycompany.com"],
    ["^https://token.actions.githubusercontent.com$", "https://token"],
    ["^https://ci.acme\\.com$", "https://ci-acme.com"],
    ["^https://gitlab\\.com", "https://gitlab.com.intruder.example"],
    ["https://gitlab\\.com$", "https://intruder.example/https://gitlab.com"],
    ["^https://gitlab\\.com|https://token\\.actions\\.githubusercontent\\.com$", "https://"],
    ["gitlab\\.com", "https://"],
  ])("%s lets an issuer like %s in", (text, witness) => {
    const found = foreignIssuer(pattern(text));
    expect(found?.text).toContain(witness);
    expect(pattern(text).accepts(found!.text)).toBe(true);
  });

  it.each([
    "^https://gitlab\\.com$",
    "^https://[a-z0-9-]+\\.mycompany\\.com$",
    "^https://(gitlab|github)\\.acme\\.com$",
    "^https://[a-z0-9-]+-ci\\.mycompany\\.co\\.uk$",
    "^https://gitlab\\.acme\\.com/.*$",
    "^https://container\\.googleapis\\.com/v1/projects/acme/locations/.*$",
  ])("%s lets no other in", (text) => {
    expect(foreignIssuer(pattern(text))).toBeUndefined();
  });
});

describe("patterns of AWS principals", () => {
  const account = "123456789012";

  it.each([
    [".*", "arn:aws:sts::123456789012:assumed-role/intruder/intruder"],
    [`^arn:aws:iam::${account}:role/.*$`, "arn:aws:iam::123456789012:role/intruder"],
    [
      `^arn:aws:sts::${account}:assumed-role/deploy`,
      "arn:aws:sts::123456789012:assumed-role/deploy-intruder",
    ],
    [
      `^arn:aws:sts::${account}:assumed-role/deploy.*$`,
      "arn:aws:sts::123456789012:assumed-role/deploy-intruder",
    ],
    ["role/deploy$", "arn:aws:sts::123456789012:assumed-role/intruder/intruder/role/deploy"],
  ])("%s lets %s in", (text, witness) => {
    expect(foreignPrincipal(pattern(text), account)?.text).toContain(witness);
  });

  it.each([
    `^arn:aws:sts::${account}:assumed-role/deploy/.*$`,
    `^arn:aws:iam::${account}:role/team-.*$`,
    `^arn:aws:iam::${account}:(role|user)/deploy$`,
  ])("%s lets no other in", (text) => {
    expect(foreignPrincipal(pattern(text), account)).toBeUndefined();
  });

  it("reads user ids", () => {
    expect(foreignUserId(pattern(".*"))?.text).toBe("AROAINTRUDER000000000:intruder");
    expect(foreignUserId(pattern("^AROA[A-Z0-9]+:.*$"))?.text).toMatch(/^AROAINTRUDER/);
    expect(foreignUserId(pattern("AROAEXAMPLE0000000000"))?.text).toBe(
      "AROAINTRUDER000000000:AROAEXAMPLE0000000000",
    );
    expect(foreignUserId(pattern("^AROAEXAMPLE0000000000:.*$"))).toBeUndefined();
  });
});

it("says of an audience pattern only whether it takes anything", () => {
  expect(foreignAudience(pattern(".*"))).toBeDefined();
  expect(foreignAudience(pattern("^https://.*$"))).toBeDefined();
  expect(foreignAudience(pattern("^sts\\.acme\\.com$"))).toBeUndefined();
});

it.each([
  ["^repo:acme/pay:.*$", ["any pull request", "any branch"]],
  ["^repo:acme/pay:ref:refs/heads/.*$", ["any branch"]],
  ["^repo:acme/pay:pull_request$", ["any pull request"]],
  ["^repo:acme/pay:ref:refs/heads/main", ["any branch whose name begins like that"]],
  ["^repo:acme/pay:ref:refs/heads/main$", []],
  ["^repo:acme/pay:environment:production$", []],
  ["^repo:acme/pay:ref:refs/heads/release-[0-9]+$", []],
])("of %s it finds %j", (text, whats) => {
  const read = pattern(text);
  expect(proposals(github, read.accepts, likelyTexts(read)).map(({ what }) => what)).toEqual(whats);
});

describe("a pattern that is meant to do harm", () => {
  it.each(["(x+x+)+y", "(a*)*b", "((a|a)*)*c", "(.*){1,32}[bc]", `${"(".repeat(60)}a${")".repeat(60)}`])(
    "%s is judged at once",
    (text) => {
      const started = performance.now();
      const read = readPattern(text);
      if (read) foreignSubject(read, github);
      expect(performance.now() - started).toBeLessThan(1000);
    },
  );

  it.each([
    ["too long", "a".repeat(1001)],
    ["too large", "((?:\\pL|x){1,30}(?:\\pN|y){1,30}){1,30}".repeat(8)],
    ["no pattern of RE2", "(?=a)"],
  ])("%s is not judged", (_, text) => {
    expect(readPattern(text)).toBeUndefined();
  });
});
