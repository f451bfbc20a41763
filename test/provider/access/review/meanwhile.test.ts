import { parsePolicy } from "../../../../provider/access/suppressions/parsePolicy";
import type { Props } from "../../../../provider/fields/values";
import { failing, judge, preview, same, state, step, urn } from "../../../support/documents";

/*
 * An update takes its time, and one that fails stops half-way. What a grant gives while it runs is judged as well: a role
 * or a trust that is narrowed later, and a grant that is deleted last.
 */

const ROOT = "a".repeat(40);
const uid = (n: number): string => `${ROOT}/${n.toString(16).padStart(16, "0")}`;
const [TEAM, CI, ROLE, BINDING] = [uid(1), uid(2), uid(3), uid(4)] as const;
const WIDE = ["CAP_IAM_ROLES_UPDATE", "CAP_REPO_LIST"];
const NARROW = ["CAP_REPO_LIST"];
const trust = (part: Props): Props => ({ issuer: "https://token.actions.githubusercontent.com", ...part });
const exact = trust({ subject: "repo:acme/pay:ref:refs/heads/main" });
const pattern = trust({ subjectPattern: "^repo:acme/pay:ref:refs/heads/[a-z]+$" });
const elsewhere = trust({ subject: "repo:acme/web:ref:refs/heads/main" });

const root = state("Group", "root", { name: "acme" }, { id: ROOT });
const team = state("Group", "team", { parentUid: ROOT, name: "team" }, { id: TEAM });
const ci = (claimMatch: Props) =>
  state("Identity", "ci", { parentUid: TEAM, name: "ci", claimMatch }, { id: CI });
const role = (capabilities: string[]) =>
  state("Role", "role", { parentUid: ROOT, name: "role", capabilities }, { id: ROLE });
const grant = { parentUid: TEAM, identityUid: CI, roleUid: ROLE };
const sources = { roleUid: [urn("Role", "role")], identityUid: [urn("Identity", "ci")] };
const bound = (dependencies: Record<string, string[]>, kind = "RoleBinding") =>
  kind === "RoleBinding"
    ? state(kind, "binding", grant, { dependencies })
    : state(
        kind,
        "binding",
        { parentUid: TEAM, bindings: { a: grant } },
        {
          dependencies: { bindings: Object.values(dependencies).flat() },
        },
      );
const binding = state("RoleBinding", "binding", grant, { id: BINDING });

const found = (...steps: ReturnType<typeof step>[]): string[] =>
  failing(judge(preview(same(root), same(team), ...steps))).map((line) => line.slice(0, 2));
const changed = (old: ReturnType<typeof role>, now: ReturnType<typeof role>) => step("update", old, now);

describe.each(["RoleBinding", "GroupAccess"])("a new %s", (kind) => {
  it("of a role that the update narrows later has what the role allowed before", () => {
    const narrowed = changed(role(WIDE), role(NARROW));
    const anew = step("create", undefined, bound({ identityUid: sources.identityUid }, kind));
    const report = judge(preview(same(root), same(team), same(ci(exact)), narrowed, anew));
    expect(failing(report).map((line) => line.slice(0, 2))).toEqual(["G2"]);
    expect(report.grants.map(({ change, capabilitiesAdded }) => [change, capabilitiesAdded])).toEqual([
      ["gained", WIDE],
    ]);
    expect(report.findings.find(({ id }) => id === "G2")?.details).toContain(
      "new grant, made before this update narrows its role",
    );
  });

  it("that takes the uid from the role's resource is made after that", () => {
    const anew = step("create", undefined, bound(sources, kind));
    expect(found(same(ci(exact)), changed(role(WIDE), role(NARROW)), anew)).toEqual([]);
  });

  it("of an identity whose trust the update narrows later is held by whom it accepted before", () => {
    const narrowed = changed(ci(pattern), ci(exact));
    expect(found(same(role(NARROW)), narrowed, step("create", undefined, bound({}, kind)))).toEqual(["T5"]);
    expect(found(same(role(NARROW)), narrowed, step("create", undefined, bound(sources, kind)))).toEqual([]);
  });
});

it("a grant of another role in the place of an old one is new too", () => {
  const wide = state("Role", "wide", { parentUid: ROOT, name: "wide", capabilities: WIDE }, { id: uid(5) });
  const other = (dependencies: Record<string, string[]>) =>
    state("RoleBinding", "other", { ...grant, roleUid: uid(5) }, { dependencies });
  const steps = [same(role(NARROW)), same(wide), changed(ci(pattern), ci(exact)), step("delete", binding)];
  expect(found(...steps, step("create", undefined, other({})))).toEqual(["G2", "T5"]);
  const waiting = other({ identityUid: sources.identityUid });
  expect(found(...steps, step("create", undefined, waiting))).toEqual(["G2"]);
});

describe("what a policy file asserts", () => {
  const { assertions } = parsePolicy(`
forbid: [{ name: nobody changes roles, can: CAP_IAM_ROLES_UPDATE, on: acme }]
separate: [{ name: apart, duties: [CAP_IAM_ROLES_UPDATE, CAP_REPO_LIST], on: acme }]
require: [{ name: none, can: CAP_IAM_ROLES_UPDATE, on: acme / team, atMost: 0 }]
`);
  const broken = (...steps: ReturnType<typeof step>[]): string[] =>
    judge(preview(same(root), same(team), same(ci(exact)), ...steps), {}, { assertions })
      .findings.map(({ id }) => id)
      .filter((id) => id.startsWith("P"));
  const narrowed = changed(role(WIDE), role(NARROW));

  it("is judged by what a new grant gives until the update narrows its role", () => {
    const early = step("create", undefined, bound({ identityUid: sources.identityUid }));
    expect(broken(narrowed, early)).toEqual(["P1", "P3"]);
    expect(broken(narrowed, step("create", undefined, bound(sources)))).toEqual([]);
  });

  it("is not broken by a grant that was there before", () => {
    expect(broken(narrowed, same(binding))).toEqual([]);
  });
});

describe("a grant that the update deletes, which it does last", () => {
  const gone = step("delete", binding);

  it("is one of a role that gains capabilities", () => {
    expect(found(same(ci(exact)), changed(role(NARROW), role(WIDE)), gone)).toEqual(["G4"]);
    expect(found(same(ci(exact)), changed(role(WIDE), role(NARROW)), gone)).toEqual([]);
  });

  it("is one of an identity that trusts somebody else", () => {
    expect(found(same(role(NARROW)), changed(ci(exact), ci(elsewhere)), gone)).toEqual(["T5"]);
    expect(found(same(role(NARROW)), changed(ci(pattern), ci(exact)), gone)).toEqual([]);
  });
});
