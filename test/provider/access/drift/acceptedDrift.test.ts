import { applyPolicy } from "../../../../provider/access/suppressions/applyPolicy";
import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import { headlineOf } from "../../../../provider/access/report/render/sections";
import type { DriftReport } from "../../../../provider/access/report/report";
import {
  bind,
  builtIn,
  driftBetween,
  edit,
  live,
  NOW,
  ofGitHub,
  root,
  stateOf,
} from "../../../support/driftDocuments";
import type { Live } from "../../../support/driftDocuments";

const owner = builtIn("owner", "e", ["CAP_IAM_ROLES_UPDATE", "CAP_IAM_ROLE_BINDINGS_CREATE"]);
const viewer = builtIn("viewer", "f", ["CAP_IAM_GROUPS_LIST"]);
const existing = [root, owner, viewer];
const team = live("Group", { name: "team" });
const any = (subjectPattern: string) => ({
  claimMatch: { issuer: "https://token.actions.githubusercontent.com", subjectPattern },
});
const ci = live("Identity", { name: "ci", ...ofGitHub("repo:acme/ci:ref:refs/heads/main") });
const ada = live("Identity", { name: "ada", ...ofGitHub("repo:acme/ada:ref:refs/heads/main") });
const builder = live("Role", { name: "builder", capabilities: ["CAP_REPO_LIST"] });
const building = bind(ci, builder);
const owners = [bind(ada, owner)];
const hook = live("Subscription", { sink: "https://hooks.acme.example/in" });
const login = live("IdentityProvider", {
  name: "login",
  defaultRole: viewer.uid,
  oidc: { issuer: "https://login.acme.example", clientId: "x", pkceEnabled: true },
});
const held = [team, ci, ada, builder, building, ...owners, hook, login];
const swap = (...edited: readonly Live[]) =>
  held.map((object) => edited.find(({ uid }) => uid === object.uid) ?? object);
const can = (...capabilities: string[]) =>
  swap(edit(builder, { capabilities: ["CAP_REPO_LIST", ...capabilities] }));

/** What a person completes, and uncomments. */
const completed = (entry: string): string =>
  entry.replace('reason: ""', "reason: agreed").replace('acceptedBy: ""', "acceptedBy: grace");

const entriesOf = (report: DriftReport): string[] => [
  ...report.differences.flatMap(({ answers }) => answers.suppress ?? []),
  ...report.findings.flatMap(({ policyEntry }) => policyEntry ?? []),
];

/** What several stacks record. */
const statesOf = (...all: (readonly Live[])[]) => all.map((own, i) => stateOf(own, `stack-${i}`));

/** Drift with the entries of another report in the policy file. */
async function accepting(
  entries: readonly string[],
  objects: readonly Live[],
  states = statesOf(held),
): Promise<DriftReport> {
  const policy = parsePolicy(`allow:\n${entries.map(completed).join("\n")}\n`, "access-policy.yaml");
  return driftBetween(states, [...existing, ...objects], {
    suppress: (findings, comparison, isComplete) =>
      applyPolicy(findings, policy, NOW, "drift", isComplete, comparison),
  });
}

const stranger = live("Identity", { name: "x", ...ofGitHub("repo:x/x:ref:refs/heads/main") });
const strange = bind(stranger, builder);

/** A change by hand, the next one of the same object, and the rules that find both. */
const changes: readonly [string, readonly Live[], readonly Live[], readonly string[]][] = [
  ["capability", can("CAP_IAM_ROLES_UPDATE"), can("CAP_IAM_ROLES_UPDATE", "CAP_IAM_IDENTITY_UPDATE"), ["G4"]],
  [
    "a subject",
    swap(edit(ci, ofGitHub("repo:evil/a:ref:refs/heads/main"))),
    swap(edit(ci, ofGitHub("repo:evil/b:ref:refs/heads/main"))),
    ["T5"],
  ],
  ["a pattern", swap(edit(ci, any(".*"))), swap(edit(ci, any("^repo:.*$"))), ["T1"]],
  [
    "the trust of an identity made by hand",
    [...held, stranger, strange],
    [...held, edit(stranger, any(".*")), strange],
    ["drift-unmanaged"],
  ],
  [
    "the role of a binding",
    swap(edit(building, { roleUid: owner.uid })),
    swap(edit(building, { roleUid: owner.uid, parentUid: team.uid })),
    ["G1"],
  ],
];

describe.each(changes)("after %s is accepted", (_what, first, next, ids) => {
  it("every finding of it is, and the next value is open", async () => {
    const before = await driftBetween(statesOf(held), [...existing, ...first]);
    expect(before.findings.map(({ id }) => id)).toEqual(expect.arrayContaining([...ids]));
    const entries = entriesOf(before);
    // Each finding has an entry, which is refused until a person completes it, or accepts what is mild.
    expect(entries).toHaveLength(before.findings.length);
    const same = await accepting(entries, first);
    expect(same.findings).toEqual([]);
    expect([same.grants, headlineOf(same), same.policy.unused]).toEqual([[], undefined, []]);
    expect(same.acceptedGrants ?? []).toHaveLength(before.grants.length);
    expect(same.summary).toMatchObject({ gained: 0, widened: 0, lost: 0, narrowed: 0 });
    const later = await accepting(entries, next);
    const open = later.findings.map(({ id }) => id);
    expect(open).toEqual(expect.arrayContaining([...ids]));
    const prints = new Set(before.findings.map(({ fingerprint }) => fingerprint));
    for (const { fingerprint } of later.suppressed) expect(prints).toContain(fingerprint);
  });
});

/** What the stacks record, what lives, and what the stacks record next. */
type Row = readonly [string, (readonly Live[])[], readonly Live[], (readonly Live[])[], string, RegExp];
const others: readonly Row[] = [
  [
    "a deleted role",
    [held],
    held.filter((each) => each !== builder && each !== building),
    [can("CAP_IAM_ROLES_UPDATE")],
    "drift-deleted",
    /^Role .*builder.* was deleted outside of its program$/,
  ],
  [
    "two owners of one object",
    [held, [ci]],
    held,
    [held, [ci], [ci]],
    "drift-contested",
    /^Identity .*ci.* is managed by 2 stacks: each update undoes the other$/,
  ],
];

test.each(others)("after %s is accepted, what the stacks record next is open", async (...given) => {
  const [, recorded, objects, next, id, message] = given;
  const before = await driftBetween(statesOf(...recorded), [...existing, ...objects]);
  const own = before.findings.filter((each) => each.id === id);
  expect(own.map((each) => each.message)).toContainEqual(expect.stringMatching(message));
  const entries = entriesOf({ ...before, findings: own });
  const openIn = async (states: (readonly Live[])[]) => {
    const { findings } = await accepting(entries, objects, statesOf(...states));
    return findings.filter((each) => each.id === id);
  };
  expect(await openIn(recorded)).toEqual([]);
  expect(await openIn(next)).toHaveLength(1);
});

test.each([
  [0, true],
  [3, true],
  [4, false],
])("drift from an inventory of %i days ago is whole: %s", async (age, complete) => {
  const report = await driftBetween([stateOf(held)], [...existing, ...held], { now: NOW + age * 86_400_000 });
  expect(report.complete).toBe(complete);
  expect(report.incomplete.join()).toContain(complete ? "" : "the inventory was taken 4 days ago");
});
