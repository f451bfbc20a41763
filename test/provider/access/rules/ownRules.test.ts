import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineRule, findingsOf, reviewOf, rules } from "../../../../provider/access";
import { Facts } from "../../../../provider/access/rules/facts";
import type { ProgramResource, RuleDefinition } from "../../../../provider/access";
import { defaultRuleOptions } from "../../../../provider/access/rules";
import { loadRules, toRules } from "../../../../provider/access/rules/ownRules";
import {
  acme,
  binding,
  cards,
  compareResources,
  groups,
  identity,
  payments,
  pinned,
  role,
  edit,
} from "../../../support/access";

const noEditor: RuleDefinition = {
  id: "ACME1",
  name: "no-editor-in-production",
  severity: "medium",
  why: "production is changed by its own pipelines",
  fix: "bind a role that only reads",
  find: (facts) =>
    facts
      .grantsToJudge()
      .filter((grant) => grant.role.name === "editor" && grant.group.path.includes("prod"))
      .map((grant) => ({
        message: `${grant.subject.displayName} holds editor at ${grant.group.path}`,
        grant,
      })),
};

const organisation: ProgramResource[] = [
  { kind: "Group", name: "acme" },
  { kind: "Group", name: "prod", parentUid: "acme" },
  { kind: "Group", name: "staging", parentUid: "acme" },
  { kind: "Role", name: "editor", builtIn: true, capabilities: ["CAP_REPO_UPDATE"] },
  {
    kind: "Identity",
    name: "ci",
    parentUid: "acme",
    claimMatch: { issuer: "https://ci.acme.example", subject: "x" },
  },
];
const editorAt = (group: string): ProgramResource => ({
  kind: "RoleBinding",
  parentUid: group,
  identityUid: "ci",
  roleUid: "editor",
});

/** What is thrown, as one line. */
function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("nothing was thrown");
}

describe("a definition", () => {
  const wrong: [keyof RuleDefinition | "sevrity" | "colour", unknown, RegExp][] = [
    ["id", "G10", /^rule G10: id must be two to twelve capital letters and a number/],
    ["id", "PP1001", /id must be/],
    ["id", undefined, /^id must be/],
    ["name", "editor", /name must be at least two words joined by hyphens/],
    ["name", "owner-grant", /name is that of the built-in rule G1$/],
    ["name", "not-judged", /name is taken by the policy pack/],
    ["severity", "hihg", /severity must be one of critical, high, medium, low; did you mean "high"\?$/],
    ["severity", 5, /severity must be one of critical, high, medium, low$/],
    ["why", " ", /why must be a string that is not empty$/],
    ["fix", undefined, /fix must be a string that is not empty$/],
    ["what", 5, /what must be a string that is not empty$/],
    ["needsWhole", false, /needsWhole must be true or left out$/],
    ["find", [], /find must be a function/],
    ["sevrity", "high", /^rule ACME1: sevrity is an unknown property; did you mean severity\?$/],
    ["colour", "red", /^rule ACME1: colour is an unknown property; known are id, name, severity, why, /],
  ];

  it.each(wrong)(
    "whose %s is %p is refused, and the message names the property",
    (property, value, message) => {
      expect(messageOf(() => defineRule({ ...noEditor, [property]: value }))).toMatch(message);
    },
  );

  it("is taken with an id that no built-in rule can have", () => {
    expect(defineRule(noEditor)).toBe(noEditor);
    expect(rules.map(({ id }) => messageOf(() => defineRule({ ...noEditor, id })))).toEqual(
      rules.map(() => expect.stringMatching(/id must be/) as string),
    );
  });

  it("is an object, and has an id and a name of its own in its list", () => {
    expect(messageOf(() => toRules(["x" as never], "rules.mjs"))).toMatch(
      /: item 1: a rule must be an object/,
    );
    expect(messageOf(() => toRules([noEditor, noEditor], "rules.mjs"))).toBe(
      "rules.mjs: item 2: ACME1 is that of another rule of this list",
    );
  });
});

const runForEver = (): never => {
  for (;;);
};

describe("a rule that does not answer", () => {
  const grant = { subject: { key: "a" }, role: { key: "b" }, group: { key: "c" } };
  const withMore = (more: object) => () => [{ message: "x", ...more }];
  const failures: [string, (facts: Facts) => unknown, RegExp][] = [
    ["throws an error", () => (null as unknown as Facts).comparison, /: TypeError: Cannot read prop.*$/],
    [
      "throws a text",
      () => {
        // eslint-disable-next-line @typescript-eslint/only-throw-error -- What a rule of somebody else may do.
        throw "no";
      },
      /: it threw something that is no error$/,
    ],
    ["returns nothing", () => undefined, /: must return a list of findings$/],
    ["is async", () => Promise.resolve([]), /: returned a promise: find must not be async$/],
    ["returns texts", () => ["no"], /: finding 1 is not an object with a message$/],
    ["says nothing", () => [{ message: "" }], /: finding 1 has no message/],
    ["invents a grant", withMore({ grant: {} }), /: finding 1 has a grant that is none of the facts$/],
    ["invents an entity", withMore({ entity: {} }), /: finding 1 has an entity that is none of the facts$/],
    ["invents a kind", withMore({ entity: { key: "a" } }), / an entity that is none of the facts$/],
    [
      "is about two",
      withMore({ grant, entity: { key: "a", kind: "b" } }),
      / is about a grant and an entity: /,
    ],
    ["names no field", withMore({ field: 1 }), /: finding 1 has a field that is not a string$/],
    ["advises nothing", withMore({ advice: "" }), /: finding 1 has an advice that is not a string$/],
    ["returns more", withMore({ a: 1 }), /: finding 1 has the unknown property a; known are message,/],
    ["has numbers", withMore({ details: [1] }), /: finding 1 has details that are not a list of strings$/],
    ["runs for ever", runForEver, /: ran for longer than 0.5 seconds$/],
  ];
  const change = compareResources(groups, [...groups]);
  const ask = (find: RuleDefinition["find"], severity: RuleDefinition["severity"] = "low") =>
    findingsOf(
      change,
      defaultRuleOptions(0),
      toRules([{ ...noEditor, severity, find }], "rules.mjs", find === runForEver ? { ms: 500 } : {}),
    );

  it.each(failures)(
    "since it %s is a high finding that names the rule and the file",
    (_how, find, message) => {
      const found = ask(find as RuleDefinition["find"]);
      expect(found).toMatchObject([{ id: "ACME1", severity: "high" }]);
      expect(found[0]?.message).toMatch(message);
      expect(found[0]?.message).toMatch(/^rule ACME1 of rules\.mjs cannot judge this: /);
      expect(JSON.stringify(found)).not.toMatch(/ {2}at |node:/);
    },
  );

  it("has a fingerprint for each message about one resource", () => {
    const both = ask(({ comparison: { after } }) => {
      const [entity] = after.entities.values();
      return ["x", "y"].map((message) => ({ message, entity: entity! }));
    });
    expect(new Set(both.map(({ fingerprint }) => fingerprint)).size).toBe(2);
  });

  it("names the resource that its findings are about", () => {
    const about = ask(({ comparison: { after } }) =>
      [...after.entities.values()].map((entity) => ({ message: "x", entity })),
    );
    const names = groups.map(({ inputs }) => `Group ${inputs["name"] as string}`);
    expect(about.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual(names.sort());
  });

  it("judges the grants in a group, and of a role and a holder, that get another name, and no others", () => {
    const who = identity("ci", pinned);
    const lists = role("lists", ["REPO_LIST"]);
    const all = [...groups, lists, who, binding(who, lists, cards), binding(who, lists, acme)];
    const renamed = all.map((one) => (one.uid === payments ? edit(one, { name: "x" }) : one));
    const judge = (after: typeof all) =>
      new Facts(compareResources(all, after), defaultRuleOptions(0)).grantsToJudge();
    expect(judge(renamed).map(({ group }) => group.path)).toEqual(["acme / x / cards"]);
    for (const named of [lists, who]) {
      const after = all.map((one) => (one.uid === named.uid ? edit(one, { name: "x" }) : one));
      expect(judge(after)).toHaveLength(2);
    }
  });

  it("is critical where its findings are", () => {
    expect(ask(() => undefined as never, "critical")).toMatchObject([{ severity: "critical" }]);
  });
});

describe("reviewOf", () => {
  const review = (before: ProgramResource[], after: ProgramResource[], asked = [noEditor]) =>
    reviewOf(before, after, asked);

  it("reports what the change brings, as the rule says it", () => {
    const found = review(organisation, [...organisation, editorAt("prod")]);
    const expected = { id: "ACME1", rule: noEditor.name, severity: "medium", advice: noEditor.fix };
    expect(found).toMatchObject([{ ...expected, kind: "RoleBinding" }]);
    expect(found[0]?.message).toMatch(/ holds editor at acme \/ prod$/);
    // The uid of a group lies below that of its parent, as at the server.
    expect(found[0]?.grant?.group.uid).toMatch(/^\w{40}\/\w{16}$/);
    const entry = { identityUid: "ci", roleUid: "editor" };
    const all: ProgramResource = { kind: "GroupAccess", parentUid: "prod", bindings: { one: entry } };
    const byUid = { ...editorAt("prod"), identityUid: "f".repeat(40) };
    const kinds = [all, byUid].map((each) => review(organisation, [...organisation, each])[0]?.kind);
    expect(kinds).toEqual(["GroupAccess", "RoleBinding"]);
  });

  it("reports neither what was there before, nor what the rule does not mean", () => {
    const before = [...organisation, editorAt("prod")];
    expect(review(before, [...before, editorAt("staging")])).toEqual([]);
  });

  it("reports a role that gains what is judged, and a group that moves there", () => {
    const before = [...organisation, { kind: "Group", name: "team", parentUid: "staging" }, editorAt("team")];
    const after = before.map((each) => (each.name === "team" ? { ...each, parentUid: "prod" } : each));
    expect(review(before, after)).toHaveLength(1);
  });

  it("says what is wrong with a list, and which rule fails why", () => {
    const prod: ProgramResource = { kind: "Group", name: "prod", parentUid: "staging" };
    const refused: [ProgramResource[], string | RegExp][] = [
      [[{ kind: "Grup" }], 'after[0]: there is no kind Grup; did you mean "Group"?'],
      [[{ kind: "Group", nme: "x" }], 'after[0]: Group has no argument nme; did you mean "name"?'],
      [[...organisation, editorAt("none")], "after[5]: parentUid: the list has no Group named none: add it"],
      [
        [...organisation.filter(({ kind }) => kind !== "Role"), editorAt("prod")],
        /^after\[4\]: roleUid: the list has no Role named editor: add it, as in \{ kind: "Role"/,
      ],
      [
        [...organisation, prod, editorAt("prod")],
        /the list has more than one Group named prod: give them different names$/,
      ],
      [[organisation[0]!, organisation[0]!], "after has Group acme twice"],
    ];
    for (const [after, message] of refused) {
      const said = messageOf(() => review(organisation, after));
      if (typeof message === "string") expect(said).toBe(message);
      else expect(said).toMatch(message);
    }
    expect(messageOf(() => review([], []))).toMatch(/^the lists have no group without a parent/);
    const broken = { ...noEditor, find: () => undefined as never };
    expect(messageOf(() => review(organisation, organisation, [broken]))).toBe(
      "rule ACME1 of the given rules cannot judge this: must return a list of findings",
    );
  });
});

describe("a file of rules", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "pulumi-platform-rules-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const ENDLESS = "for (;;);";
  let count = 0;
  const load = (text: string, name = `rules-${(count += 1)}.cjs`) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return loadRules(path, text === ENDLESS ? { ms: 500 } : {});
  };
  const rule = (id: string, name: string) =>
    `{ id: "${id}", name: "${name}", severity: "low", why: "x", fix: "y", find: () => [] }`;

  it("gives its rules, with where they stand", () => {
    const loaded = load(`module.exports = [${rule("ACME1", "a-b")}, ${rule("ACME2", "c-d")}];`, "rules.cjs");
    expect(loaded.map(({ id, name, file }) => [id, name, file])).toEqual([
      ["ACME1", "a-b", join(folder, "rules.cjs")],
      ["ACME2", "c-d", join(folder, "rules.cjs")],
    ]);
  });

  it.each([
    ["exports no list", "module.exports = {};", /must export a list of rules/],
    ["exports an empty list", "module.exports = [];", /must export a list of rules/],
    ["imports a file", 'import x from "./x.mjs"', /must not import other files/],
    ["requires a file", 'const x = require("../x.cjs");', /must not import other files/],
    ["imports a file when it runs", 'const x = import("/x.mjs");', /must not import other files/],
    ["fails", 'throw new Error("no\\n    at x");', /: Error: no \(line 1\)$/],
    ["never ends", ENDLESS, /: ran for longer than 0.5 seconds$/],
    ["has a wrong rule", `module.exports = [${rule("G1", "a-b")}];`, /item 1: rule G1: id must be/],
  ])("that %s is refused in one line that names it", (_how, text, message) => {
    // Jest may keep the text of a file that is written again.
    const name = `wrong-${(count += 1)}.cjs`;
    const said = messageOf(() => load(text, name));
    expect(said).toMatch(message);
    expect(said.startsWith(join(folder, name))).toBe(true);
    expect(said).not.toContain("\n");
  });

  it("that is not there is refused", () => {
    expect(messageOf(() => loadRules(join(folder, "none.mjs")))).toMatch(
      /none\.mjs: the rules cannot be read: there is no such file in \S+$/,
    );
    expect(messageOf(() => loadRules(join(folder, "no", "x.mjs")))).toMatch(
      / there is no such file in \S+no$/,
    );
    expect(messageOf(() => loadRules(folder))).toMatch(/ cannot be read: it is a folder; name a file$/);
    writeFileSync(join(folder, "access-rules.mjs"), "");
    const options = { namedBy: "access-policy.yaml:3: rules" };
    expect(messageOf(() => loadRules(join(folder, "access-rule.mjs"), options))).toMatch(
      /^access-policy\.yaml:3: rules: \S+access-rule\.mjs: .*; did you mean "access-rules\.mjs"\?$/,
    );
  });
});
