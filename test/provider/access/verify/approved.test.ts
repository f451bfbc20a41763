import type { InventoryObject } from "../../../../provider/access/documents/inventory";
import { reportOn } from "../../../../provider/access/report/reviewReport";
import { parseReviewReport } from "../../../../provider/access/report/report";
import type { ReviewReport } from "../../../../provider/access/report/report";
import type { Comparison } from "../../../../provider/access/review/compare";
import { ApprovedAccess } from "../../../../provider/access/verify/approved";
import { UNKNOWN } from "../../../../provider/fields/values";
import type { Props } from "../../../../provider/fields/values";
import {
  acme,
  binding,
  byHand,
  claims,
  compareResources,
  group,
  groups,
  identity,
  objectOf,
  owner,
  payments,
  pinned,
  pusher,
  resource,
  role,
  viewer,
  edit,
  GITHUB,
} from "../../../support/access";
import type { ComparisonOptions, Resource } from "../../../support/access";
import { PROVENANCE } from "../../../support/documents";

const deployer = identity("deployer", pinned);
const base = [...groups, viewer, pusher, owner, deployer];
const [small, large] = [role("small", ["REPO_LIST"]), role("large", ["IAM_ROLE_BINDINGS_CREATE"])];

interface Approval extends ComparisonOptions {
  /** What the stack records before the change. */
  readonly before?: readonly Resource[];
  readonly isPreview?: boolean;
  /** The ids of rules whose findings somebody accepted. */
  readonly accepted?: readonly string[];
  /** What the program ignores when it is about to write. */
  readonly ignoreChanges?: readonly string[];
}

function approvedReview(comparison: Comparison): ReviewReport {
  const report = reportOn(comparison, { provenance: PROVENANCE, failOn: "high", rules: () => [] });
  return parseReviewReport(JSON.stringify(report), "review.json");
}

/** What stops the update of a resource that has other arguments than the reviewed program. */
function stops(
  after: readonly Resource[],
  one: Resource,
  inputs: Props = one.inputs,
  { isPreview = false, accepted = [], before = base, ignoreChanges = [], ...options }: Approval = {},
): Promise<string[]> {
  const review = approvedReview(compareResources(before, after, options));
  const suppressed = accepted.map((id) => ({
    id,
    rule: id,
    severity: "high" as const,
    message: "",
    details: [],
    urn: one.urn,
    fingerprint: "",
  }));
  const made: readonly InventoryObject[] = [...(options.live ?? []), ...after].map(objectOf);
  const read = (kind: string, uid: string) =>
    Promise.resolve(made.find((object) => object.kind === kind && object.uid === uid));
  const approved = new ApprovedAccess({ ...review, suppressed }, read, isPreview);
  return approved.problemsOf({ ...one, inputs, ignoreChanges });
}

const bound = binding(deployer, small, payments);
const grown = [...base, small, large, bound];

test("what the report announces is updated, new and old", async () => {
  for (const one of [small, large, bound, deployer]) expect(await stops(grown, one)).toEqual([]);
});

test.each<[string, Props, RegExp]>([
  ["another new role", { roleUid: large.uid }, /^roleUid is not what .* announces: Role small$/],
  ["a role that exists", { roleUid: owner.uid }, /^roleUid is not what .* announces: Role small$/],
  ["a role that nobody made", { roleUid: `${acme}/${"f".repeat(16)}` }, /^roleUid is not what/],
  ["another place", { parentUid: acme }, /^parentUid is not what the approved report announces/],
  ["a value that is unknown in an update", { roleUid: UNKNOWN }, /^roleUid is not known yet/],
])("%s stops the update", async (_what, inputs, problem) => {
  expect(await stops(grown, bound, { ...bound.inputs, ...inputs })).toEqual([expect.stringMatching(problem)]);
});

test("a capability that is ignored from now on stops the update, a description does not", async () => {
  expect(await stops(grown, small, small.inputs, { ignoreChanges: ["description"] })).toEqual([]);
  expect(await stops(grown, small, small.inputs, { ignoreChanges: ["capabilities"] })).toEqual([
    "ignoreChanges names what the approved report does not announce: capabilities",
  ]);
});

test("the other one of two new objects with the same arguments stops the update", async () => {
  const twin = { ...small, uid: large.uid, urn: large.urn };
  expect(await stops([...base, small, twin, bound], bound)).toEqual([
    "roleUid is not what the approved report announces: Role small",
  ]);
});

test("an object that was there before, or that the change deletes, is not a new one like it", async () => {
  const like = { ...small, uid: `${acme}/${"e".repeat(16)}`, urn: `${small.urn}-like` };
  const inputs = { ...bound.inputs, roleUid: like.uid };
  const refused = ["roleUid is not what the approved report announces: Role small"];
  const there = [...base, byHand(like)];
  expect(await stops([...grown, byHand(like)], bound, inputs, { before: there })).toEqual(refused);
  const managed = [...base, like];
  expect(await stops(grown, bound, inputs, { before: managed, live: managed })).toEqual(refused);
});

test("a new object in another new one is the announced one, and not where that is another", async () => {
  const [team, other] = ["team", "other"].map((name, i) =>
    group(name, `${acme}/${`${8 + i}`.repeat(16)}`),
  ) as [Resource, Resource];
  const inside = edit(role("inside", ["REPO_LIST"]), { parentUid: team.uid });
  const holds = binding(deployer, inside, payments);
  const after = [...base, team, other, inside, holds];
  expect(await stops(after, holds)).toEqual([]);
  expect(await stops(after, inside, { ...inside.inputs, parentUid: other.uid })).toEqual([
    "parentUid is not what the approved report announces: Group team",
  ]);
});

test("an object that is not as announced at the server is not the announced one", async () => {
  const wider = edit(small, { capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"] });
  const review = approvedReview(compareResources(base, grown));
  const elsewhere = edit(small, { parentUid: payments });
  for (const made of [wider, elsewhere]) {
    const approved = new ApprovedAccess(review, () => Promise.resolve(objectOf(made)), false);
    expect(await approved.problemsOf({ ...bound, ignoreChanges: [] })).toHaveLength(1);
  }
});

test("a value that is not known yet stops no preview", async () => {
  const inputs = { ...bound.inputs, roleUid: UNKNOWN };
  expect(await stops(grown, bound, inputs, { isPreview: true })).toEqual([]);
  const other = { ...inputs, parentUid: acme };
  expect(await stops(grown, bound, other, { isPreview: true })).toHaveLength(1);
});

test("a resource that the report does not name is refused, of each kind that decides access", async () => {
  for (const one of [role("more", ["REPO_LIST"]), identity("more", pinned), binding(deployer, owner, acme)]) {
    expect(await stops(grown, one)).toEqual(["the approved report does not announce this resource"]);
  }
  expect(await stops(grown, resource("RepoReadme", "more", { content: "x" }))).toEqual([]);
});

test("what the review could not read is refused, unless somebody accepted that", async () => {
  const hidden = edit(bound, { roleUid: UNKNOWN });
  const after = [...base, hidden];
  const inputs = { ...bound.inputs, roleUid: owner.uid };
  expect(await stops(after, hidden, inputs)).toEqual([
    expect.stringMatching(/^roleUid could not be read by the review/),
  ]);
  expect(await stops(after, hidden, inputs, { accepted: ["X3"] })).toEqual([]);
  expect(await stops(after, hidden, inputs, { accepted: ["G1"] })).toHaveLength(1);
});

test("a value that was secret before stops nothing where the server has it already", async () => {
  const hidden = edit(deployer, claims({ issuer: GITHUB, subject: "[secret]" }));
  const before = base.map((one) => (one === deployer ? hidden : one));
  const after = [...before, small];
  const options = { before, live: base };
  expect(await stops(after, hidden, deployer.inputs, options)).toEqual([]);
  const other = claims({ issuer: GITHUB, subject: "repo:eve/x:ref:refs/heads/main" });
  expect(await stops(after, hidden, { ...deployer.inputs, ...other }, options)).toEqual([
    expect.stringMatching(/^claimMatch.subject could not be read by the review/),
  ]);
});

test("what somebody changed by hand, and the program leaves alone, stops nothing", async () => {
  const byHand = claims({ issuer: "https://gitlab.com", subject: "x" });
  const live = base.map((one) => (one === deployer ? edit(one, byHand) : one));
  expect(await stops(grown, deployer, deployer.inputs, { live })).toEqual([]);
  expect(await stops(grown, deployer, { ...deployer.inputs, ...byHand }, { live })).toHaveLength(1);
});
