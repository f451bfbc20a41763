import type { Props } from "../../../../provider/fields/values";
import { failing, judge, preview, same, state, step, urn } from "../../../support/documents";

/*
 * An update takes its time, and one that fails stops half-way. What a grant gives while it runs is judged as well: a role
 * or a trust that is narrowed later, and a grant that is deleted last.
 */

const ROOT = "a".repeat(40);
const uid = (n: number): string => `${ROOT}/${n.toString(16).padStart(16, "0")}`;
const [TEAM, CI, ROLE] = [uid(1), uid(2), uid(3)] as const;
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
