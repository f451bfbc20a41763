import { listedKinds } from "../../../../provider/access/documents/inventory";
import type { Comparison } from "../../../../provider/access/review/compare";
import { compare } from "../../../../provider/access/review/compare";
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
  resource,
  role,
  viewer,
  edit,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { inventoryOf, preview, state, step, urn } from "../../../support/documents";

/*
 * The state before a change is the live organisation: what somebody changed there since the program was applied is neither
 * undone nor repeated without a word. Each case is an honest program, a change by hand, and the change of the program.
 */

const ci = identity("ci", pinned);
/** The trust of `pinned`, with other members. */
const trusting = (more: object) => claims({ ...(pinned["claimMatch"] as object), ...more });
const bob = identity("bob", trusting({ subject: "repo:acme/bob:ref:refs/heads/main" }));
const reader = role("reader", ["REPO_LIST"]);
const basis = [...groups, viewer, pusher, owner, ci, bob, reader];
const renamed = (one: Resource, name: string): Resource => ({
  ...one,
  urn: urn(one.kind, name),
  uid: `${one.uid}f`,
});
const ofPayments = (kind: string, inputs: object): Resource =>
  resource(kind, "one", { parentUid: payments, ...inputs }, { uid: payments });
const access = (bindings: Record<string, readonly [Resource, Resource]>): Resource => {
  const entries = Object.entries(bindings).map(
    ([label, [who, what]]) => [label, { identityUid: who.uid, roleUid: what.uid }] as const,
  );
  return ofPayments("GroupAccess", { bindings: Object.fromEntries(entries) });
};
const grant = binding(ci, pusher, payments);
const { issuer } = pinned["claimMatch"] as { issuer: string };

const all = { deploys: [ci, pusher], reads: [bob, viewer] } as const;
const holds = binding(ci, reader, payments);

/** What the program has, what the server has of it after a change by hand, the change, and the changes of grants. */
const attacks: readonly [string, Resource[], Resource[], Resource[], string[]][] = [
  ["a revoked binding comes back anew", [grant], [], [renamed(grant, "other")], ["gained registry.push"]],
  ["a revoked binding of an unchanged resource stays revoked", [grant], [], [grant], []],
  [
    "a revoked binding is recreated by an update",
    [grant],
    [],
    [edit(grant, { roleUid: viewer.uid })],
    ["gained viewer"],
  ],
  [
    "a label of a GroupAccess changes nothing at the server",
    [access(all)],
    [access({ reads: all.reads })],
    [access({ deployments: all.deploys, reads: all.reads })],
    [],
  ],
  [
    "a role that was narrowed by hand is widened where its record narrows",
    [role("reader", ["REPO_LIST", "REPO_DELETE", "REPO_CREATE"]), holds],
    [reader, holds],
    [role("reader", ["REPO_LIST", "REPO_DELETE"]), holds],
    ["widened reader +CAP_REPO_DELETE"],
  ],
  [
    "a role that was widened by hand is bound as it is",
    [reader],
    [role("reader", ["REPO_LIST", "IAM_ROLES_UPDATE"])],
    [reader, holds],
    ["gained reader +CAP_IAM_ROLES_UPDATE +CAP_REPO_LIST"],
  ],
  [
    "a condition that was added by hand is overwritten",
    [grant],
    [identity("ci", trusting({ claims: { environment: "production" } })), grant],
    [identity("ci", trusting({ claims: { team: "pay" } })), grant],
    ["widened registry.push"],
  ],
  [
    "a pattern in the place of an exact subject gives way to the subject that is written",
    [grant],
    [identity("ci", claims({ issuer, subjectPattern: "^repo:acme/.*$" })), grant],
    [identity("ci", trusting({ subject: "repo:acme/x:ref:refs/heads/main" })), grant],
    ["narrowed registry.push"],
  ],
];

function summarize({ grants }: Comparison): string[] {
  return grants.map(({ change, grant: { role: held }, capabilitiesAdded, before }) => {
    const added =
      change === "gained" && before === undefined && held.name !== "reader" ? [] : capabilitiesAdded;
    return [change, held.name, ...[...added].sort().map((name) => `+${name}`)].join(" ");
  });
}

/** The state before the change: what the program has of the basis. */
const whole = (own: readonly Resource[]): Resource[] => [
  ...basis.filter(({ urn: known }) => own.every((each) => each.urn !== known)),
  ...own,
];

describe("a change by hand before the change of the program", () => {
  test.each(attacks)("%s", (_title, honest, live, changed, expected) => {
    const comparison = compareResources(whole(honest), whole(changed), { live: whole(live) });
    expect(summarize(comparison).sort()).toEqual([...expected].sort());
    const tuples = (own: Comparison["after"]) =>
      own.grants.map(({ role: held, subject }) => [subject.key, held.key, held.capabilities]);
    const server = compareResources(whole(live), whole(live));
    expect(tuples(comparison.before)).toEqual(tuples(server.before));
  });
});

describe("what the inventory does not list", () => {
  const inputs = { parentUid: payments, identityUid: ci.uid, roleUid: pusher.uid };
  const own = state("RoleBinding", "one", inputs, { id: grant.uid });
  const changed = state("RoleBinding", "one", { ...inputs, roleUid: viewer.uid }, { id: grant.uid });
  const changesWith = (inventory: object) =>
    compare({
      preview: preview(step("update", own, changed)),
      inventory: { ...inventoryOf(acme), kinds: listedKinds, ...inventory },
    }).changes.map(({ isMissing, isRecordOnly }) => [isMissing ?? false, isRecordOnly ?? false]);

  test.each([
    ["all kinds", {}, [true, false]],
    ["no binding", { kinds: ["Group"] }, [false, true]],
    ["a group beside it", { root: "b".repeat(40) }, [false, true]],
    [
      "a list that was refused",
      {
        complete: false,
        refused: [{ kind: "RoleBinding", code: "PERMISSION_DENIED", errorCode: "PP3403", message: "" }],
      },
      [false, true],
    ],
    ["the object by its uid", { kinds: [], asked: [{ kind: "RoleBinding", uid: grant.uid }] }, [true, false]],
  ])("is judged by the record: %s", (_what, inventory, expected) => {
    expect(changesWith(inventory)).toEqual([expected]);
  });
});

describe("what a change writes outside of the group of the inventory", () => {
  const made = (kind: string, inputs: object) =>
    step("create", undefined, state(kind, "one", { name: "one", ...inputs }));
  const repo = (parentUid: string, name = "one") =>
    state("Repo", "one", { parentUid, name }, { id: `${parentUid}/1234567890abcdef` });
  const [inside, outside] = [repo(payments), repo(acme)];
  const inventory = {
    ...inventoryOf(payments, { kind: "Repo", uid: inside.id ?? "", inputs: inside.inputs }),
    kinds: listedKinds,
  };
  const other = "b".repeat(40);

  test.each([
    ["a new object above it", made("Repo", { parentUid: acme }), 1],
    ["one in another organisation", made("Repo", { parentUid: other }), 1],
    ["a new organisation", made("Group", {}), 0],
    ["one that changes", step("update", outside, repo(acme, "other")), 1],
    ["one that goes", step("delete", outside), 1],
    ["one that stays", step("same", outside, outside), 0],
    ["a new object in it", made("Repo", { parentUid: payments }), 0],
    ["one in it that goes", step("delete", inside), 0],
  ])("leaves the review incomplete: %s", (_what, change, count) => {
    const { incomplete } = compare({ preview: preview(change), inventory });
    expect(incomplete).toEqual(
      Array(count).fill(expect.stringContaining(`one is outside of the group ${payments}`)),
    );
  });
});
