import fc from "../../../support/properties";
import { applyPolicy, matchesEntry } from "../../../../provider/access/suppressions/applyPolicy";
import { limitsOf, parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import { appendEntries, entryText, entryFor } from "../../../../provider/access/suppressions/writeEntries";
import { defaultRuleOptions, findingsOf } from "../../../../provider/access/rules";
import type { Finding } from "../../../../provider/access/review/finding";
import {
  acme,
  binding,
  claims,
  compareResources,
  groups,
  identity,
  owner,
  payments,
  pinned,
  pusher,
} from "../../../support/access";
import { NOW } from "../rules/support";
import { cpuSeconds } from "../../../support/cpu";

const FILE = "access-policy.yaml";

function problemsOf(text: string): string {
  try {
    parsePolicy(text, FILE);
  } catch (error) {
    expect(error).toMatchObject({ code: "USAGE", errorCode: "PP6101", stack: "" });
    return (error as Error).message;
  }
  return "";
}

const entry = (...lines: string[]): string => `allow:\n  - ${lines.join("\n    ")}\n`;
const good = ["rule: G6", "match: { name: ci }", "reason: it builds", "expires: 2027-01-31"];
/** A good entry but for what it matches, and a good one but for its rule. */
const matching = (match: string): string => entry("rule: G6", `match: ${match}`, ...good.slice(2));
const ruled = (rule: string): string => entry(rule, ...good.slice(1));

describe("a policy file", () => {
  it("is read with the line of each entry", () => {
    const text = `# why\nallow:\n  - rule: owner-grant\n    match: { uid: "${acme}", role: owner }\n    reason: |\n      break glass\n    expires: 2027-01-31\n  - kind: changed\n    type: Repo\n    match: { group: acme / * }\n    fields: [description]\n    reason: set by hand\n`;
    expect(parsePolicy(text, FILE).entries).toEqual([
      {
        rule: "owner-grant",
        match: { uid: acme, role: "owner" },
        reason: "break glass\n",
        expires: "2027-01-31",
        line: 3,
      },
      {
        kind: "changed",
        type: "Repo",
        match: { group: "acme / *" },
        fields: ["description"],
        reason: "set by hand",
        line: 8,
      },
    ]);
  });

  it.each([["allow: []"], ["allow: []\r\n"], ["\ufeffallow: []"], ["---\nallow: []\n"]])(
    "%j allows nothing",
    (text) => {
      expect(parsePolicy(text, FILE).entries).toEqual([]);
    },
  );

  it.each([
    ["", "access-policy.yaml:1: the policy must be an object"],
    ["- a", "the policy must be an object"],
    ["allow: {}", "allow must be a list of suppressions; write allow: [] for none"],
    [
      "allow: []\nsettings: { sinkAllow: [a.example, a.*] }",
      'access-policy.yaml:2: settings.sinkAllow must be a host, as in hooks.acme.example or *.acme.example:8443, or an https address with a path, not "a.*"',
    ],
    ["settings: { issuerAllow: a.example }", "settings.issuerAllow must be the https address of an issuer"],
    ["allow:", "allow must be a list of suppressions; write allow: [] for none"],
    [
      "separate: [{ name: a, on: acme, duties: [CAP_A, { b: c }] }]",
      "access-policy.yaml:1: separate[0].duties[1] must be a list or a string",
    ],
    [
      "forbidd:\n  - name: x\nallow: []",
      'access-policy.yaml:1: forbidd is an unknown property; did you mean "forbid"?',
    ],
    ["alow: []", 'access-policy.yaml:1: alow is an unknown property; did you mean "allow"?'],
    [
      "allow: []\nversion: 1",
      "access-policy.yaml:2: version is an unknown property; known are forbid, require, separate, rules, settings, allow, types",
    ],
    [ruled("rule: G0"), 'allow[0].rule is "G0", which is unknown; did you mean'],
    [ruled("rule: unlike-all"), 'allow[0].rule is "unlike-all", which is unknown; known are '],
    [ruled("rule: owner_grant"), 'did you mean "owner-grant"?'],
    [ruled("type: role-binding"), "allow[0].type must be a kind of resource"],
    [
      entry(...good.slice(0, 1), ...good.slice(2)),
      "allow[0].match is missing: name what is accepted, or give the fingerprint of the finding",
    ],
    [matching("{}"), "allow[0].match must name at least one of uid, name"],
    [matching("{ uid: 12 }"), 'allow[0].match.uid must be a string, in quotes: "12"'],
    [matching("{ name: 'a[b]' }"), "allow[0].match.name must not hold [ ] { }"],
    [matching("{ name: 'a\\' }"), "allow[0].match.name must not end in a single"],
    [matching(`{ name: ${"x".repeat(513)} }`), "allow[0].match.name must have at most 512 characters"],
    [matching("{ name: '' }"), "allow[0].match.name must not be empty"],
    [
      entry(...good.slice(0, 2), "expires: 2027-01-31"),
      "allow[0].reason is missing: it must say why the finding is accepted",
    ],
    [entry(...good.slice(0, 2), "reason: ' '"), "allow[0].reason must say why the finding is accepted"],
    [entry(...good.slice(0, 2), 'reason: "\\u200b"'), "allow[0].reason must say why the finding is accepted"],
    [entry(...good.slice(0, 2), "reason: '…'"), "allow[0].reason must say why the finding is accepted"],
    [entry(...good.slice(0, 2), "reason:"), "allow[0].reason must be a string"],
    [
      entry(...good.slice(0, 3), "expires: 2027-02-29"),
      'allow[0].expires must be a day, as in 2027-01-31, not "2027-02-29"',
    ],
    [entry(...good.slice(0, 3), "expires: 2027"), 'allow[0].expires must be a string, in quotes: "2027"'],
    [
      entry("rule: G1", ...good.slice(1, 3)),
      "allow[0].expires is missing: findings of this rule are high or critical, so the suppression must end",
    ],
    ...["*", "**", "?*", "*?", "?", "???", "* / *", "\\**", "-*", " *", "?\\?", "\\[*"].flatMap((glob) =>
      ["rule: X2", "rule: G1", "type: Role", "reason: x"].map((line): [string, string] => [
        entry(
          line,
          `match: { name: '${glob}', group: '**' }`,
          ...(line === "reason: x" ? [] : ["reason: x"]),
        ),
        "access-policy.yaml:3: allow[0].match restricts nothing: write a uid, or a part of a name beside",
      ]),
    ),
    ...["a\\u200bb", "\\ufeffa", "a\\u202e", "\\u00ad", "a\\ufe0f", "\\u2028", "a\\U000e0041"].map(
      (name): [string, string] => [
        matching(`{ name: "${name}" }`),
        "access-policy.yaml:3: allow[0].match.name must not hold control characters or others that nobody sees",
      ],
    ),
    ...[
      "*",
      "*.acme.example",
      "https://*",
      "https://acme.*",
      "HTTPS://*.acme.example",
      "https://*.Acme.example",
    ].map((issuer): [string, string] => [
      matching(`{ name: ci, issuer: "${issuer}" }`),
      "access-policy.yaml:3: allow[0].match.issuer must be the address of an issuer, as in https://*.acme.example",
    ]),
    [
      matching('{ subject: "spiffe://*" }'),
      "allow[0].match.subject must have the scheme and host of its address in small letters",
    ],
    [entry(...good, "fields: []"), "allow[0].fields must be a property or a list of them"],
    [entry(...good, "fields: 'a[b]'"), "allow[0].fields must not hold [ ] { }"],
    [entry(...good, "for: reviw"), 'allow[0].for is "reviw", which is unknown; did you mean "review"?'],
    ...["match: { name: ci, group: acme / payments }", "match: { uid: '1*' }"].map(
      (match): [string, string] => [
        entry("rule: G1", match, "reason: x", "expires: 2027-01-31"),
        "access-policy.yaml:2: allow[0].fingerprint is missing: findings of this rule are high or critical: without the entry, the report has one with it",
      ],
    ),
    ...[
      ["forbid", 'can: ["*_CREATE", CAP_TAGS_CREATE]', "can[1]", "CAP_TAGS_CREATE", "CAP_TAG_CREATE"],
      ["require", "can: TAG_CREATE, atLeast: 1", "can[0]", "TAG_CREATE", "CAP_TAG_CREATE"],
      ["forbid", "can: CAP_GROUP_LIST", "can[0]", "CAP_GROUP_LIST", "CAP_IAM_GROUPS_LIST"],
      ["separate", "duties: [CAP_*, [CAP_MANIFST_*]]", "duties[1][0]", "CAP_MANIFST_*", "CAP_MANIFEST_*"],
    ].map(([list = "", members = "", at = "", written = "", meant = ""]): [string, string] => [
      `${list}:\n  - { name: n, on: [acme], ${members} }`,
      `access-policy.yaml:2: ${list}[0].${at} "${written}" matches no capability that this version knows; did you mean ${meant}?`,
    ]),
    ["forbid: [{ name: n, on: [acme], can: [CAP_QUARK] }]", "Role.md lists them"],
    [entry(...good, "rule: G6"), "Map keys must be unique"],
    [`${entry(...good)}allow: []`, "access-policy.yaml:6: Map keys must be unique"],
    [ruled("rule: &r G6"), "anchors and aliases"],
    [matching("{ name: *ci }"), "access-policy.yaml:3:"],
    [ruled("rule: !!str G6"), "YAML tags are not used here"],
    ["%YAML 1.1\n---\nallow: []", "YAML directives are not used here"],
    ["# none\nallow: []\n# pasted\n  - rule: G6", ":2: take the [] out of this line: entries follow it"],
    ["allow: []\n- rule: G6", ":1: take the [] out of this line: entries follow it"],
    ["allow: []\n---\nallow: []", "multiple documents"],
    ["allow: [", "access-policy.yaml:1:"],
    ["\tallow: []", "access-policy.yaml:1:"],
    [`allow: ${"[".repeat(20_000)}`, "access-policy.yaml"],
    ["a".repeat(1_000_001), "is larger than"],
    [
      `allow:\n${"  - { match: { name: a }, reason: x }\n".repeat(1_001)}`,
      "1001 entries have neither a fingerprint nor a whole uid, and at most 1000 may have",
    ],
  ])("%j is refused: %s", (text, problem) => {
    expect(problemsOf(text)).toContain(problem);
  });

  it.each([
    [
      "forbid:\n  - { name: n, on: [acme], cann: [CAP_TAG_CREATE] }",
      'forbid[0].cann is an unknown property; did you mean "can"?',
    ],
    [
      "require:\n  - { name: n, on: [acme], can: [CAP_TAG_CREATE], atleast: 1 }",
      'require[0].atleast is an unknown property; did you mean "atLeast"?',
    ],
    [
      entry("rule: G6", "match: { nam: x }", "reson: x"),
      'allow[0].match.nam is an unknown property; did you mean "name"?\naccess-policy.yaml:4: allow[0].reson is an unknown property; did you mean "reason"?',
    ],
    [
      "forbid: [}\n  - a: b: c\n",
      "Flow sequence in block collection must be sufficiently indented and end with a ]: check the indentation, the hyphens and the colons here and in the line above",
    ],
  ])("%j is one mistake: %s", (text, problem) => {
    expect(problemsOf(text).replace(/^access-policy\.yaml:\d+: /, "")).toBe(problem);
  });

  it.each([
    "*a",
    "a",
    "-",
    "\\*",
    "acme / *",
    "1?",
    "*é*",
    "*😀",
    "\\a*",
    "\\[a\\]",
    "a\\\\",
    "repo:acme/*:ref:*",
  ])("accepts %j, which restricts the entry", (glob) => {
    expect(problemsOf(entry("rule: X2", `match: { name: '${glob}' }`, "reason: x"))).toBe("");
  });

  it("lists all mistakes at once, up to a limit", () => {
    expect(problemsOf(`allow:\n${"  - { rule: G99 }\n".repeat(3)}`).split("\n")).toHaveLength(9);
    const many = problemsOf(`allow:\n${"  - { rule: G99 }\n".repeat(30)}`).split("\n");
    expect(many).toHaveLength(21);
    expect(many.at(-1)).toBe("access-policy.yaml: and 70 more mistakes");
  });

  it("refuses many mistakes in a time that grows with their number", () => {
    const secondsOf = (mistakes: number): number => {
      const text = `allow:\n${"- {}\n".repeat(mistakes)}`;
      return cpuSeconds(() => expect(problemsOf(text)).toContain("more mistakes"));
    };
    secondsOf(2_000);
    // Twenty times as many take about twenty times as long, and some more to free memory; 400 times if each were compared with each.
    expect(secondsOf(40_000)).toBeLessThan(60 * secondsOf(2_000));
  });

  it("refuses nested YAML aliases that would expand without bound", () => {
    const levels = Array.from(
      { length: 20 },
      (_, i) => `a${i}: &a${i} [${`*a${i - 1},`.repeat(i === 0 ? 0 : 9)}]`,
    );
    const refuse = () => expect(problemsOf(levels.join("\n"))).toContain("anchors and aliases");
    expect(cpuSeconds(refuse)).toBeLessThan(5);
  });

  it.each<[string, object]>([
    ["strict: true", { strict: true }],
    ["minOwners: 3", { minOwners: 3 }],
    ["requiredOwners: [ada]", { requiredOwner: ["ada"] }],
    ["maxRemoval: 40%", { maxRemoval: 0.4 }],
    ["issuerAllow: [https://ci.acme.example]", { issuerAllow: ["https://ci.acme.example"] }],
    ["sinkAllow: [hooks.acme.example]", { sinkAllow: ["hooks.acme.example"] }],
    [`selfIdentity: "${acme}"`, { self: acme }],
  ])("sets what the rules measure by: %s", (setting, limits) => {
    const policy = parsePolicy(`settings: { ${setting} }`, FILE);
    expect(limitsOf(policy)).toEqual({ assertions: policy.assertions, ...limits });
  });

  it("puts no terminal control sequence into an error", () => {
    expect(problemsOf('allow: [{ "\\e[31mred": 1 }]')).not.toMatch(/[^\n\P{Cc}]/u);
  });
});

const ci = identity("ci", pinned);
const open = identity("open", {
  parentUid: acme,
  ...claims({ issuer: "https://sso.acme.example", subjectPattern: "^team-.*$" }),
});
const base = [...groups, owner, pusher];
const there = [...base, ci, open];
const change = compareResources(there, [...there, binding(ci, owner, payments), binding(open, pusher, acme)]);
// Rules of trust report the identities themselves.
const findings = findingsOf(change, defaultRuleOptions(NOW))
  .filter(({ id }) => id.startsWith("G"))
  .sort((a, b) => a.id.localeCompare(b.id));
const apply = (text: string, now = NOW, command?: "review" | "drift", all: readonly Finding[] = findings) =>
  applyPolicy(all, parsePolicy(text, FILE), now, command, true, change);
/** The same findings of a severity that an entry may accept by a name. */
const milder = findings.map((finding): Finding => ({ ...finding, severity: "medium" }));
/** The entry that accepts the finding of G1 by its fingerprint, or names another subject with it. */
const accepted = (subject = ci.uid): string[] => [
  "rule: G1",
  `match: { subject: ${subject} }`,
  `fingerprint: ${findings[0]?.fingerprint ?? ""}`,
];
const only = (...lines: string[]) =>
  apply(entry(...lines, "reason: it is meant", "expires: 2026-12-31"), NOW, undefined, milder);

describe("exceptions", () => {
  it.each([
    [["rule: supply-chain-write", "match: { group: acme }"], ["G6"]],
    [["rule: G6", "match: { group: acme / payments }"], []],
    [["rule: G6", "match: { role: registry* }"], ["G6"]],
    [
      ["type: RoleBinding", "match: { group: 'acme*' }"],
      ["G1", "G6"],
    ],
    [["type: Identity", "match: { group: 'acme*' }"], []],
    [["kind: changed", "match: { name: '*' }"], []],
    [["match: { issuer: 'https://*.acme.example' }"], ["G6"]],
    [["match: { subject: 'repo:acme/pay:*' }"], ["G1"]],
    [["match: { subject: 'repo:acme/pay:*', role: registry.push }"], []],
    [[`match: { uid: "${ci.uid}" }`], ["G1"]],
    [["rule: G6", "match: { name: open }", "fields: [parentUid]"], []],
  ])("%j means %j", (lines, ids) => {
    expect(only(...lines).suppressed.map(({ id }) => id)).toEqual(ids);
  });

  it.each([
    ["2026-06-01", NOW, true],
    ["2026-06-01", NOW + 86_399_999, true],
    ["2026-06-01", NOW + 86_400_000, false],
    ["2026-05-31", NOW, false],
  ])("that end on %s, at %i: %s", (expires, now, counts) => {
    const text = entry(...accepted(), "reason: x", `expires: ${expires}`);
    const { suppressed, expired, findings: left, unused } = apply(text, now);
    expect(suppressed).toHaveLength(counts ? 1 : 0);
    expect(left).toHaveLength(counts ? 1 : 2);
    expect(expired).toEqual(
      counts
        ? []
        : [`access-policy.yaml:2: expired on ${expires}; 1 finding (G1) back: renew it or fix them`],
    );
    expect(unused).toEqual([]);
  });

  it("that are several for one finding: the first of the file suppresses it, and the others are unused", () => {
    const more = ["reason: first", "expires: 2026-12-31"];
    const text = `${entry(...accepted(), ...more)}  - match: { name: ci }\n    reason: second\n`;
    const { suppressed, unused } = apply(text, NOW, undefined, milder);
    expect(suppressed).toMatchObject([{ id: "G1", suppression: { reason: "first" } }]);
    expect(unused).toEqual([expect.stringContaining(":7: matches no finding: remove it")]);
  });

  it("that have expired and match no finding are reported for removal", () => {
    const text = entry("rule: G6", "match: { name: nobody }", "reason: x", "expires: 2026-01-01");
    expect(apply(text).expired).toEqual([
      "access-policy.yaml:2: expired on 2026-01-01; it matches no finding any more: remove it",
    ]);
  });

  it.each(findings.map((finding) => [finding.id, finding] as const))(
    "suppress %s, which is high, by its fingerprint alone",
    (id, finding) => {
      const more = ["reason: x", "expires: 2026-12-31"];
      const { subject, role, group } = finding.grant!;
      for (const match of [`role: ${role.name!}`, `uid: ${subject.uid!}`, `group: ${group.uid!}`]) {
        const { suppressed, unused } = apply(entry(`match: { ${match} }`, ...more), NOW, "review");
        expect(suppressed).toEqual([]);
        expect(unused).toEqual([
          `access-policy.yaml:2: has no fingerprint, so it does not suppress 1 finding (${id}), high or critical: add fingerprint: ${finding.fingerprint} (${id}), in an entry for each`,
        ]);
      }
      const print = [`match: { role: ${role.name!} }`, `fingerprint: "${finding.fingerprint}"`];
      const { suppressed, unused } = apply(entry(`rule: ${id}`, ...print, ...more), NOW, "review");
      expect([suppressed.map((each) => each.id), unused]).toEqual([[id], []]);
      const other = [`match: { role: ${role.name!} }`, `fingerprint: "${"0".repeat(32)}"`];
      expect(apply(entry(`rule: ${id}`, ...other, ...more)).suppressed).toEqual([]);
      expect(matchesEntry({ fingerprint: "0".repeat(32), reason: "x" }, finding)).toBe(false);
    },
  );

  it.each([
    ["review", "for: [review]", "a finding", 1, 0],
    ["review", "for: [drift]", "a finding", 0, 0],
    ["review", "", "a finding", 1, 0],
    ["drift", "for: [review, drift]", "a finding", 1, 0],
    ["drift", "for: [review]", "a finding", 0, 0],
    ["review", "for: [review]", "nothing", 0, 1],
    ["review", "for: [drift]", "nothing", 0, 0],
    ["drift", "for: [drift]", "nothing", 0, 1],
    ["drift", "", "nothing", 0, 0],
  ] as const)("in %s with %j, naming %s, suppress %i and are called unused %i times", (...row) => {
    const [command, commands, what, suppresses, unused] = row;
    const lines = [...accepted(what === "nothing" ? open.uid : ci.uid), "reason: x", "acceptedBy: ada"];
    const more = commands === "" ? [] : [commands];
    const result = apply(entry(...lines, ...more, "expires: 2026-12-31"), NOW, command);
    expect(result.suppressed).toHaveLength(suppresses);
    expect(result.unused).toHaveLength(unused);
  });

  it("that name what is not called so are told, whichever commands they are for", () => {
    const urn = "urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:Subscription::shop-events";
    const [first] = findings;
    const found = {
      ...first!,
      id: "X1",
      rule: "event-sink",
      severity: "medium",
      name: undefined,
      grant: undefined,
      urn,
    } as const;
    const noted = (name: string): readonly string[] =>
      apply(entry("rule: X1", `match: { name: ${name} }`, "reason: x"), NOW, "review", [found]).unused;
    const called = `:2: does not match 1 finding (X1): "shop-events" is the name of its resource in the program, and no name of an object: give a uid, or fingerprint: ${found.fingerprint}`;
    expect(noted("shop-events")).toEqual([expect.stringContaining(called)]);
    expect(noted("shop-evnts")).toEqual([
      expect.stringContaining(`:2: does not match 1 finding (X1); did you mean the name "shop-events"?`),
    ]);
    // What may serve drift alone is not told.
    for (const name of ["other", "shop-deployments"]) expect(noted(name)).toEqual([]);
  });

  it("that match no finding are reported, except those for the other command", () => {
    const text = entry("kind: unmanaged", "match: { name: x }", "reason: x");
    expect(apply(text).unused).toEqual([
      "access-policy.yaml:2: matches no finding: remove it, or correct what it names",
    ]);
    expect(apply(text, NOW, "review").unused).toEqual([]);
    expect(apply(text, NOW, "drift").unused).toHaveLength(1);
    // A rule that judges an update finds no drift: what accepts it serves a review alone.
    const update = entry("rule: T7", "match: { name: x }", "reason: x");
    expect(apply(update, NOW, "review").unused).toHaveLength(1);
    expect(apply(update, NOW, "drift").unused).toEqual([]);
    // It serves both, so neither knows what it is to the other.
    const rule = entry("rule: X1", "match: { name: x }", "reason: x");
    for (const command of ["review", "drift"] as const) expect(apply(rule, NOW, command).unused).toEqual([]);
  });
});

describe("a baseline", () => {
  const drifted: Finding = {
    id: "drift-changed",
    rule: "drift-changed",
    severity: "medium",
    message: "changed",
    details: [],
    kind: "Repo",
    name: "api [*] {x}",
    group: { key: acme, path: "acme", isRoot: true },
    fingerprint: "0".repeat(32),
    drift: { kind: "changed", direction: "neutral", paths: ['customOverlay.environment["A"]'] },
  };

  it.each([...findings, drifted].map((finding) => [finding.id, finding] as const))(
    "contains an entry that matches %s and no other finding",
    (_, finding) => {
      const made = entryFor(finding, "drift", "was there before", NOW);
      const { entries } = parsePolicy(appendEntries(undefined, [{ entry: made }]), FILE);
      expect(entries).toMatchObject([made]);
      expect([...findings, drifted].filter((each) => matchesEntry(made, each))).toEqual([finding]);
    },
  );

  it.each([
    ["drift", "high", undefined, 0],
    ["drift", "critical", undefined, 0],
    ["drift", "high", "ada@acme.example", 1],
    ["drift", "critical", "ada@acme.example", 1],
    ["drift", "medium", undefined, 1],
    ["drift", "low", undefined, 1],
    ["review", "high", undefined, 1],
    ["review", "critical", undefined, 1],
  ] as const)(
    "in %s of a %s finding, accepted by %s, suppresses %i",
    (command, severity, acceptedBy, count) => {
      const [finding] = findings.map((one) => ({ ...one, severity }));
      const person = acceptedBy === undefined ? [] : [`acceptedBy: ${acceptedBy}`];
      const text = entry(...accepted(), "reason: x", ...person, "expires: 2026-12-31");
      const { suppressed, unused } = apply(text, NOW, command, [finding!]);
      expect(suppressed).toHaveLength(count);
      expect(unused).toEqual(
        count === 1
          ? []
          : [
              "access-policy.yaml:2: has no acceptedBy, so it does not suppress 1 finding (G1) of drift, high or critical: name the person who accepted it",
            ],
      );
    },
  );

  it("is added to no file without a list of exceptions", () => {
    expect(() => appendEntries("settings: { strict: true }\n", [], FILE)).toThrow(
      `${FILE}: allow must be a list`,
    );
  });

  it("below an empty list says how to enable an entry that is a comment", () => {
    const block = entryText({ rule: "G1", match: { uid: acme }, reason: "agreed", expires: "2027-01-31" });
    const written = appendEntries(undefined, [], "access-policy.yaml", [block]);
    expect(parsePolicy(written, "access-policy.yaml").entries).toEqual([]);
    expect(written).toContain("remove the [] of allow, and the # before the lines of the entry");
    const completed = written.replace("allow: []", "allow:").replace(/^ {2}# (?=- rule| {2})/gm, "  ");
    expect(parsePolicy(completed, "access-policy.yaml").entries).toMatchObject([
      { rule: "G1", match: { uid: acme }, reason: "agreed" },
    ]);
  });

  it("accepts names with any characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 700 }), (name) => {
        const finding = { ...drifted, name };
        const entry = entryFor(finding, "drift", "x", NOW);
        const { entries } = parsePolicy(appendEntries(undefined, [{ entry, finding }]), FILE);
        expect(matchesEntry(entries[0]!, finding)).toBe(true);
      }),
    );
  });
});

describe("types of other packages that were judged", () => {
  const types = (...lines: string[]): string => `allow: []\ntypes:\n  - ${lines.join("\n    ")}\n`;
  const bucket = ["type: aws:s3/bucket:Bucket", 'version: "6.83.0"', "reason: it holds logs"];
  const finding = (packageVersion?: string, kind = "aws:s3/bucket:Bucket"): Finding => ({
    id: "X4",
    rule: "not-reviewed",
    severity: "high",
    message: `${kind} is not reviewed`,
    details: [],
    kind,
    name: "logs",
    fingerprint: "0".repeat(32),
    ...(packageVersion === undefined ? {} : { packageVersion }),
  });
  const apply = (lines: string[], one: Finding) =>
    applyPolicy([one], parsePolicy(types(...lines), FILE), NOW, "review");

  it("are suppressed at their exact version, with the reason", () => {
    const { findings, suppressed, unused } = apply(bucket, finding("6.83.0"));
    expect([findings, unused]).toEqual([[], []]);
    expect(suppressed).toMatchObject([{ suppression: { reason: "it holds logs" } }]);
  });

  it.each<[string, string[], Finding, string]>([
    ["another version", bucket, finding("6.84.0"), "does not apply to version 6.84.0"],
    ["an unknown version", bucket, finding(), "no document shows the version of its plugin"],
    [
      "another type",
      ["type: aws:s3/bukcet:Bucket", ...bucket.slice(1)],
      finding("6.83.0"),
      'did you mean "aws:s3/bucket:Bucket"?',
    ],
    ["a past day", [...bucket, "expires: 2020-01-31"], finding("6.83.0"), "expired on 2020-01-31: renew it"],
  ])("do not apply to %s, and a line says why", (_, lines, one, note) => {
    const { findings, suppressed, unused } = apply(lines, one);
    expect([findings, suppressed]).toEqual([[one], []]);
    expect(unused).toEqual([expect.stringContaining(note)]);
    expect(unused[0]).toMatch(/^access-policy\.yaml:3: type aws:/);
  });

  it.each<[string[], string]>([
    [["type: aws:*", ...bucket.slice(1)], "must be the exact type token"],
    [["type: command:local:Command", ...bucket.slice(1)], "must be the exact type token"],
    [["type: pulumi-nodejs:dynamic:Resource", ...bucket.slice(1)], "must be the exact type token"],
    [[bucket[0]!, 'version: "6.x"', bucket[2]!], "must be an exact version"],
    [[bucket[0]!, bucket[1]!], "reason"],
    [[...bucket, "verison: 1"], 'did you mean "version"?'],
  ])("are refused if they are %j", (lines, message) => {
    expect(problemsOf(types(...lines))).toContain(message);
  });
});
