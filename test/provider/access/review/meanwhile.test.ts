import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import { compare } from "../../../../provider/access/review/compare";
import { defaultRuleOptions, findingsOf } from "../../../../provider/access/rules";
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
const pattern = trust({ subjectPattern: "^repo:(?:acme|globex)/pay:ref:refs/heads/main$" });
const elsewhere = trust({ subject: "repo:globex/web:ref:refs/heads/main" });

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
        { dependencies: { bindings: Object.values(dependencies).flat() } },
      );
const binding = state("RoleBinding", "binding", grant, { id: BINDING });
/** Another object of the program, and another grant at the team. */
const made = (kind: string, name: string, n: number, inputs: Props) =>
  state(kind, name, { parentUid: ROOT, name, ...inputs }, { id: uid(n) });
const bind = (name: string, n: number, inputs: Props) =>
  state("RoleBinding", name, { ...grant, ...inputs }, { id: uid(n) });

const found = (...steps: ReturnType<typeof step>[]): string[] =>
  failing(judge(preview(same(root), same(team), ...steps))).map((line) => line.slice(0, 2));
const changed = (old: ReturnType<typeof role>, now: ReturnType<typeof role>) => step("update", old, now);

/** That an argument comes from a resource proves no order: a program can write such a dependency without waiting for it. */
describe.each([
  ["RoleBinding", {}],
  ["RoleBinding", sources],
  ["GroupAccess", {}],
  ["GroupAccess", sources],
])("a new %s with the dependencies %j", (kind, dependencies) => {
  const anew = step("create", undefined, bound(dependencies, kind));

  it("of an identity whose trust the update narrows later is held by whom it accepted before", () => {
    expect(found(same(role(NARROW)), changed(ci(pattern), ci(exact)), anew)).toEqual(["T5"]);
  });
});

it("a grant of another role in the place of an old one is new too", () => {
  const wide = made("Role", "wide", 5, { capabilities: WIDE });
  const other = state("RoleBinding", "other", { ...grant, roleUid: uid(5) });
  const steps = [same(role(NARROW)), same(wide), changed(ci(pattern), ci(exact)), step("delete", binding)];
  expect(found(...steps, step("create", undefined, other))).toEqual(["G2", "T5"]);
});

it("a role that gains capabilities gives them to whom the trust accepts until the update narrows it", () => {
  const reads = ["CAP_REPO_LIST", "CAP_REPO_BLOBS_GET"];
  const widened = changed(role(NARROW), role(reads));
  expect(found(widened, changed(ci(pattern), ci(exact)), same(binding))).toEqual(["T5"]);
  expect(found(widened, same(ci(pattern)), same(binding))).toEqual([]);
  const steps = [changed(role(WIDE), role(reads)), changed(ci(exact), ci(pattern)), same(binding)];
  const { grants } = judge(preview(same(root), same(team), ...steps));
  const reason = expect.stringContaining("perhaps after its holder changes") as string;
  expect(grants).toMatchObject([{ change: "widened", reason }]);
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
    const anew = step("create", undefined, bound(sources));
    expect(broken(narrowed, anew)).toEqual(["P1", "P3"]);
    const claimMatch = trust({ subject: "repo:acme/a:ref:refs/heads/main" });
    const guest = made("Identity", "a", 6, { parentUid: TEAM, claimMatch });
    const guests = bind("a", 7, { identityUid: uid(6) });
    expect(broken(narrowed, same(guest), same(guests), anew)).toEqual(["P1", "P3"]);
  });

  it("is judged by whom an identity accepts until the update narrows its trust", () => {
    const reads = made("Role", "reads", 8, { capabilities: NARROW });
    const writes = made("Role", "writes", 5, { capabilities: ["CAP_IAM_ROLES_UPDATE"] });
    const claimMatch = trust({ subject: "repo:globex/pay:ref:refs/heads/main" });
    const guest = made("Identity", "a", 6, { parentUid: TEAM, claimMatch });
    const anew = state("RoleBinding", "r", { ...grant, identityUid: uid(6), roleUid: uid(8) });
    const apart = (now: ReturnType<typeof step>): string[] => {
      const held = [bind("w", 9, { roleUid: uid(5) }), guest].map(same);
      const steps = [...[root, team, reads, writes].map(same), now, ...held, step("create", undefined, anew)];
      return judge(preview(...steps), {}, { assertions })
        .findings.map(({ id }) => id)
        .filter((id) => id === "P3");
    };
    expect(apart(changed(ci(pattern), ci(exact)))).toEqual(["P3"]);
    expect(apart(same(ci(exact)))).toEqual([]);
  });

  it("is judged by what a grant gives until the update deletes it", () => {
    const widened = changed(role(NARROW), role(WIDE));
    expect(broken(widened, step("delete", binding))).toEqual(["P1", "P3"]);
    expect(broken(same(role(WIDE)), step("delete", binding))).toEqual([]);
  });

  it("is asked of a group that is not there only where drift compares the whole organisation", () => {
    const nowhere = parsePolicy(`forbid: [{ name: nobody, can: CAP_TAG_CREATE, on: nowhere }]`).assertions;
    const steps = [same(root), same(team)];
    const given = { ...compare({ preview: preview(...steps) }), drift: true } as const;
    const asked = [true, false].map((complete) =>
      findingsOf({ ...given, complete }, { ...defaultRuleOptions(0), assertions: nowhere }).map(
        ({ id }) => id,
      ),
    );
    expect(asked).toEqual([["P1"], []]);
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

it("a service that an association names until the update deletes it gets what its identity gets", () => {
  const association = state("AccountAssociation", "services", {
    parentUid: TEAM,
    name: "services",
    chainguard: { serviceBindings: { INGESTER: CI } },
  });
  const all = [same(role(WIDE)), same(ci(exact)), step("create", undefined, bound({}))];
  const gained = (...steps: ReturnType<typeof step>[]) =>
    judge(preview(same(root), same(team), ...all, ...steps))
      .grants.filter(({ change }) => change === "gained")
      .map(({ grant: { subject }, reason }) => [subject.type, reason]);
  expect(gained()).toEqual([["identity", "new grant"]]);
  expect(gained(step("delete", association))).toEqual([
    ["identity", "new grant"],
    ["service", "new grant, until this update takes it away"],
  ]);
});

it("whoever may change an identity until the update deletes the grant can take what the identity gets", () => {
  const lower = made("Group", "lower", 6, { parentUid: TEAM });
  const own = made("Identity", "own", 7, { parentUid: uid(6), claimMatch: exact });
  const admin = made("Role", "admin", 8, { capabilities: ["CAP_IAM_IDENTITY_UPDATE"] });
  const administers = bind("administers", 9, { parentUid: uid(6), roleUid: uid(8) });
  const writes = made("Role", "writes", 10, { capabilities: ["CAP_TAG_UPDATE"] });
  const gets = state("RoleBinding", "gets", { parentUid: TEAM, identityUid: uid(7), roleUid: uid(10) });
  const steps = [root, team, lower, own, admin, writes].map(same);
  const told = (...more: ReturnType<typeof step>[]): string[] =>
    judge(preview(...steps, ...more, step("create", undefined, gets)))
      .findings.filter(({ id }) => id === "G3")
      .map(({ message }) => message);
  expect(told(same(ci(elsewhere)), step("delete", administers))).toEqual([
    expect.stringContaining("GitHub Actions of globex/web, branch main can change who has it"),
  ]);
  // The same administrator, whom the update pins only later.
  expect(told(changed(ci(pattern), ci(elsewhere)), same(administers))).toEqual([
    expect.stringContaining("(until the update: "),
  ]);
});

it("a run that nobody reviewed has what a role allows until the update narrows it", () => {
  const writes = ["CAP_REPO_LIST", "CAP_TAG_UPDATE"];
  const unreviewed = same(ci(trust({ subject: "repo:acme/pay:pull_request" })));
  const report = judge(
    preview(
      ...[root, team].map(same),
      changed(role(writes), role(NARROW)),
      unreviewed,
      step("create", undefined, binding),
    ),
  );
  expect(report.findings.filter(({ id }) => id === "T4").map(({ severity }) => severity)).toEqual(["high"]);
});

it("a default role that the update narrows after it is given has what it allowed before", () => {
  const viewer = made("Role", "viewer", 5, { capabilities: NARROW });
  const oidc = { issuer: "https://login.acme.example", clientId: "platform" };
  const provider = (defaultRole: string) => made("IdentityProvider", "staff", 11, { defaultRole, oidc });
  const narrowed = changed(role(WIDE), role(NARROW));
  const given = step("update", provider(uid(5)), provider(ROLE));
  const report = judge(preview(same(root), same(team), same(viewer), narrowed, given));
  expect(report.grants.map(({ change, capabilitiesAdded }) => [change, capabilitiesAdded])).toEqual([
    ["widened", ["CAP_IAM_ROLES_UPDATE"]],
  ]);
  expect(failing(report)).not.toEqual([]);
});
