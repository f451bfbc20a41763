import { listedKinds } from "../../../../provider/access/documents/inventory";
import type { Inventory } from "../../../../provider/access/documents/inventory";
import type { Comparison } from "../../../../provider/access/review/compare";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { changeWord } from "../../../../provider/access/report/render/words";
import { parseReviewReport } from "../../../../provider/access/report/report";
import type { GrantChange } from "../../../../provider/access/graph/grant";
import type { ReviewReport, VerifyReport } from "../../../../provider/access/report/report";
import { reportOn } from "../../../../provider/access/report/reviewReport";
import { verify } from "../../../../provider/access/verify/verify";
import {
  acme,
  binding,
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
  uid,
  viewer,
  edit,
} from "../../../support/access";
import type { Resource } from "../../../support/access";
import { SECRET_MASK } from "../../../../provider/fields/values";
import { inventoryOf, PROVENANCE, recordedResource } from "../../../support/documents";
import { nightDrift } from "../report/render/reports";

const deployer = identity("deployer", pinned);
const mallory = identity("mallory", claims({ issuer: "https://gitlab.com", subject: "mallory" }));
const reader = role("reader", ["REPO_LIST"]);
const reads = binding(deployer, reader, payments);
const base = [...groups, viewer, pusher, owner, deployer, mallory, reader, reads];

/** After the report of `PROVENANCE`. */
const APPLIED = "2026-06-01T01:00:00.000Z";

const inventoryAfter = (resources: readonly Resource[], more: Partial<Inventory> = {}): Inventory => ({
  ...inventoryOf(acme, ...resources.map(objectOf)),
  takenAt: APPLIED,
  kinds: listedKinds,
  ...more,
});

/** The report of a review, as it is read back from its file. */
function reportOf(comparison: Comparison): ReviewReport {
  const report = reportOn(comparison, { provenance: PROVENANCE, failOn: "high", rules: () => [] });
  return parseReviewReport(JSON.stringify(report), "review.json");
}

const reviewOf = (after: readonly Resource[], before: readonly Resource[] = base): ReviewReport =>
  reportOf(compareResources(before, after));

type Sources = Parameters<typeof verify>[0];
const verifying = (review: ReviewReport, inventory: Inventory, state?: Sources["state"]): VerifyReport =>
  verify({ review, inventory, ...(state && { state }) }, { provenance: PROVENANCE });

/** What verify finds where a review expects one thing and the organisation holds another. */
const verified = (expected: readonly Resource[], actual: readonly Resource[]): VerifyReport =>
  verifying(reviewOf(expected), inventoryAfter(actual));

/** What the server has once for a group or repository, by whose uid it is called. */
const ofParent = (kind: string, name: string, { uid }: Resource, inputs: Resource["inputs"]): Resource =>
  resource(kind, name, { name: undefined, parentUid: uid, ...inputs }, { uid });
const bindingsOf = (bindings: object) => ({ bindings }) as Resource["inputs"];
const noState = { version: 3, resources: [], pendingDeletes: [], pendingOperations: 0 };
const clean = { failing: 0, complete: true, findings: [], missing: 0 };

/** An error with a code. */
const refusal = (errorCode: string, message: string | RegExp): Error =>
  expect.objectContaining({ errorCode, message: expect.stringMatching(message) as string }) as Error;

const brief = ({ failing, complete, findings, missing }: VerifyReport) => ({
  failing,
  complete,
  findings: findings.map(({ message }) => message),
  missing: missing.length,
});

describe("of a GroupAccess with several new identities, which the review cannot tell apart,", () => {
  const team = group("team", `${acme}/${"4".repeat(16)}`, { external: true });
  const [one, two] = ["one", "two"].map((name) =>
    identity(name, claims({ issuer: "https://gitlab.com", subject: name })),
  ) as [Resource, Resource];
  const grants = (roles: readonly [Resource, Resource][]): Record<string, Record<string, string>> =>
    Object.fromEntries(
      roles.map(([who, what], index) => [`b${index}`, { identityUid: who.uid, roleUid: what.uid }]),
    );
  const access = (...roles: [Resource, Resource][]): Resource =>
    ofParent("GroupAccess", "access", team, bindingsOf(grants(roles)));
  const expected = [...base, team, one, two, access([one, reader], [two, viewer])];
  const review = reviewOf(expected, [...base, team]);
  const check = (...roles: [Resource, Resource][]): VerifyReport => {
    const bindings = roles.map(([who, what]) => binding(who, what, team.uid));
    return verifying(review, inventoryAfter([...base, team, one, two, ...bindings]));
  };
  const saidOf = ({ grant: { subject, role } }: GrantChange): string => `${subject.name} ${role.name}`;

  it("announces each grant that it may be", () => {
    const said = review.grants.map((change) => `${changeWord(change)}: ${saidOf(change)}`);
    const possible = ["one reader", "one viewer", "two reader", "two viewer"];
    expect(said.sort()).toEqual(possible.map((grant) => `may be gained: ${grant}`));
  });

  it("confirms what is there of all that it may be, and nothing else", () => {
    expect(brief(check([one, reader], [mallory, viewer])).findings).toEqual([
      expect.stringMatching(/mallory.* holds viewer at acme \/ team, which the review did not announce$/),
    ]);
    for (const [first, second] of [
      [one, two],
      [two, one],
    ] as const) {
      const report = check([first, reader], [second, viewer]);
      expect(brief(report)).toEqual(clean);
      expect(report.grants.map(changeWord)).toEqual(["gained", "gained"]);
      const names = [first, second].map((who) => (who === one ? "one" : "two"));
      expect(report.grants.map(saidOf).sort()).toEqual([`${names[0]} reader`, `${names[1]} viewer`].sort());
    }
  });
});

describe("verify", () => {
  const instead = (changed: Resource) => base.map((one) => (one.uid === changed.uid ? changed : one));
  it.each<[string, string, readonly Resource[]]>([
    ["an unannounced grant", "gained", [...base, binding(mallory, owner, acme)]],
    ["more of a bound role", "widened", instead(role("reader", ["REPO_LIST", "IAM_ROLES_UPDATE"]))],
    ["another subject", "widened", instead(edit(deployer, { ...mallory.inputs, name: "deployer" }))],
  ])("finds %s", (_what, change, actual) => {
    const report = verified(base, actual);
    const { complete, findings } = brief(report);
    expect(complete).toBe(true);
    // What has become more has a finding of its own, beside that of the grant.
    expect(findings).toHaveLength(change === "gained" ? 1 : 2);
    for (const message of findings) expect(message).toMatch(/ the review (?:did not announce|announced)$/);
    expect(report.unannounced.map((each) => each.change)).toEqual([change]);
  });

  it("confirms no grant of an identity that the update created without the rest of what grants it", () => {
    const added = identity("added", claims({ issuer: "https://gitlab.com", subject: "added" }));
    const [created, missing] = [[...base, added], binding(added, pusher, payments)];
    const review = reviewOf([...created, missing]);
    const report = verifying(review, inventoryAfter(created));
    expect(review.grants).not.toEqual([]);
    expect(report.grants).toEqual([]);
    expect(report.missing).toHaveLength(review.grants.length);
    expect(report.complete).toBe(false);
  });

  describe("of a grant that is there as before, by another binding", () => {
    const views = ({ uid: identityUid }: Resource) => ({ identityUid, roleUid: viewer.uid });
    const owning = (label: string) =>
      ofParent(
        "GroupAccess",
        "access",
        ops,
        bindingsOf({ [label]: views(deployer), "mallory views": views(mallory) }),
      );
    const ops = group("ops", `${acme}/${"3".repeat(16)}`, { external: true });
    const live = binding(deployer, viewer, ops.uid);
    const anew = { ...live, uid: `${ops.uid}/${"9".repeat(16)}` };
    const program = [...base.filter((each) => each !== reads), ops];

    it.each<[string, readonly Resource[], readonly Resource[]]>([
      ["a RoleBinding", [...program, live], [...program, live]],
      ["an entry that keeps its label", [...program, owning("one")], [...program, owning("one")]],
      ["an entry of another label", [...program, owning("one")], [...program, owning("two")]],
    ])("finds that it was revoked: %s", (_what, before, after) => {
      const review = reviewOf(after, before);
      const owned = (review.expected?.owned ?? []).map(({ uid = "", kind, inputs }) => ({
        ...live,
        kind,
        uid,
        inputs,
      }));
      const isOfDeployer = ({ inputs }: Resource): boolean => inputs["identityUid"] === deployer.uid;
      const others = owned.filter((each) => !isOfDeployer(each));
      const kept = owned.find(isOfDeployer) ?? live;
      const run = (...bindings: Resource[]) =>
        brief(verifying(review, inventoryAfter([...program, ...others, ...bindings])));
      const countKept = (one: Resource): number =>
        verifying(review, inventoryAfter([...program, ...others, one])).summary.unchanged;
      expect(countKept(anew)).toBe(countKept(kept) - 1);
      expect(run(kept)).toMatchObject({ failing: 0, findings: [] });
      expect(run(kept, anew).findings.filter((message) => message.includes("holds viewer"))).toEqual([]);
      expect(run(anew)).toMatchObject({
        failing: 1,
        findings: [expect.stringMatching(/holds viewer at acme \/ ops, which the review did not announce$/)],
      });
    });
  });

  it("names a replacement that did not happen, also where nothing of it differs", () => {
    const review = reportOf(compareResources(base, base, { replaced: [deployer] }));
    expect(verifying(review, inventoryAfter(base)).incomplete).toContainEqual(
      expect.stringMatching(/^announced as deleted, but still there: identity /i),
    );
  });

  describe("of an announced change", () => {
    const exchange = (resources: readonly Resource[], one: Resource): Resource[] =>
      resources.map((each) => (each.urn === one.urn ? one : each));
    const api = resource("Repo", "api", { parentUid: payments });
    const held = resource("Repo", "held", { parentUid: payments }, { external: true });
    const readme = ofParent("RepoReadme", "readme", held, { content: "old" });
    const tag = resource("Tag", "latest", { parentUid: api.uid, digest: "sha256:a", deprecated: false });
    const ops = group("ops", `${acme}/${"3".repeat(16)}`, { external: true });
    const entries = { ci: { identityUid: deployer.uid, roleUid: reader.uid } };
    const access = ofParent("GroupAccess", "access", ops, bindingsOf(entries));
    const parts = (one: Resource): Resource[] =>
      Object.values(one.inputs["bindings"] as typeof entries).map((inputs) =>
        resource("RoleBinding", inputs.roleUid.slice(-4), { name: undefined, parentUid: ops.uid, ...inputs }),
      );
    const listed = (resources: readonly Resource[]): Resource[] =>
      resources.flatMap((one) => (one.kind === "GroupAccess" ? parts(one) : [one]));
    const holding = [...base.filter((one) => one !== reads), ops, access];
    const wide = role("reader", ["REPO_LIST", "IAM_ROLES_UPDATE"]);
    const asked = [readme, tag].map(({ kind, uid }) => ({ kind, uid }));
    const check = (after: readonly Resource[], before: readonly Resource[], actual: readonly Resource[]) => {
      const inventory = inventoryAfter(listed(actual), { asked });
      return verifying(reviewOf(after, before), inventory, noState);
    };
    const unchanged = [...base, api, held, readme, tag];

    const unread = base.filter((one) => one !== reader && one !== reads);
    const unbound = edit(access, { bindings: {} });
    it.each<[string, readonly Resource[], readonly Resource[], string]>([
      ["fewer capabilities", base, exchange(base, wide), "announced as narrowed, but still as it was: "],
      ["a deleted role", unread, base, "announced as deleted, but still there: Role reader"],
      ["a deleted readme", [...base, api, held, tag], unchanged, "still there: RepoReadme readme"],
      ["an entry of bindings", exchange(holding, unbound), holding, "announced as lost, but still granted: "],
    ])("takes %s that was not taken away for what it was", (_what, after, before, line) => {
      const report = check(after, before, before);
      expect(report.findings).toEqual([]);
      expect(report.incomplete).toEqual(expect.arrayContaining([expect.stringContaining(line)]));
    });

    it("finds what was made under the announced name, and not as announced", () => {
      const moved = edit(tag, { digest: "sha256:b" });
      const inventory = inventoryAfter([...base, api, moved], { asked });
      const { findings, incomplete } = verifying(reviewOf([...base, api, tag], [...base, api]), inventory);
      expect(findings.map(({ message }) => message)).toEqual([
        "Tag latest has changed (digest), which the review did not announce",
      ]);
      expect(incomplete).toEqual([]);
    });

    it("is incomplete for what the state shows another plugin to manage", () => {
      const { urn, uid: id } = reader;
      const state = {
        ...noState,
        resources: [recordedResource({ urn, id, notReviewed: "of another plugin" })],
      };
      expect(verifying(reviewOf(base), inventoryAfter(listed(base)), state).incomplete).toEqual([
        expect.stringMatching(/^Role reader was not verified, since of another plugin: /),
      ]);
    });

    it.each([
      ["capabilities", ["Role reader has changed (ignoreChanges), which the review did not announce"]],
      ["*", ["Role reader has changed (ignoreChanges), which the review did not announce"]],
      ["description", []],
    ])("compares what the state ignores: %s", (path, messages) => {
      const { urn, uid: id, kind, inputs } = reader;
      const resources = [recordedResource({ urn, kind, id, inputs, ignoreChanges: [path] })];
      const state = { ...noState, resources };
      const { findings } = verifying(reviewOf(base), inventoryAfter(listed(base)), state);
      expect(findings.map(({ message }) => message)).toEqual(messages);
      const announcing = reviewOf(base);
      const ignored = [{ urn, paths: [path] }];
      const announced = { ...announcing, expected: { ...announcing.expected!, ignored } };
      expect(verifying(announced, inventoryAfter(listed(base)), state).findings).toEqual([]);
    });

    const source = (name: string) => edit(api, { syncConfig: { source: name } });
    const token = resource("ScimToken", "token", { parentUid: payments, neverExpires: true, overlap: "1h" });
    it.each<[string, readonly [Resource, Resource, Resource], string]>([
      [
        "in which form the server keeps it",
        [source("a"), source("a"), source("b")],
        "Repo api: syncConfig.source",
      ],
      [
        "whether the update has set it",
        [token, edit(token, { overlap: "2h" }), token],
        "ScimToken token: overlap",
      ],
    ])("is incomplete where only the state tells %s", (what, [before, after, actual], who) => {
      const all = [...base, api, token];
      const review = reviewOf(exchange(all, after), exchange(all, before));
      const { failing, incomplete } = verifying(review, inventoryAfter(exchange(all, actual)));
      expect(failing).toBe(0);
      expect(incomplete).toEqual([
        `${who} was not compared: only the state tells ${what}: give --stack or --state`,
      ]);
    });

    const invite = resource("GroupInvite", "guest", { parentUid: ops.uid, roleUid: viewer.uid, ttl: "1h" });
    const end = "2026-06-01T00:30:00Z";
    it.each<[string, Resource, object | undefined, object, string[]]>([
      ["an end that has come and is told no longer", token, { previousTokenExpireTime: end }, {}, []],
      [
        "an end that is yet to come and is told no longer",
        token,
        { previousTokenExpireTime: "2026-06-01T01:00:01Z" },
        {},
        ["previousTokenExpireTime: 2026-06-01T01:00:01Z → not set"],
      ],
      ["the end that follows", invite, undefined, { expirationTime: "2026-06-01T01:20:00Z" }, []],
      ["a later end", invite, undefined, { expirationTime: "2026-06-01T02:00:00Z" }, ["ttl: 1h → 6000s"]],
      ["no end", invite, undefined, {}, ["ttl: 1h → not set"]],
    ])("compares what the server sets: %s", (_what, one, outputs, details, messages) => {
      const review = reviewOf([...base, ops, one], [...base, ops, one]);
      const entities = review.expected!.entities.map((each) =>
        each.uid === one.uid ? { ...each, outputs: outputs as Resource["inputs"] } : each,
      );
      const inventory = inventoryAfter([...base, ops, one]);
      const objects = inventory.objects.map((each) =>
        each.uid === one.uid
          ? { ...each, createTime: "2026-06-01T00:20:00Z", details: details as Resource["inputs"] }
          : each,
      );
      const { findings } = verifying(
        { ...review, expected: { ...review.expected!, entities } },
        { ...inventory, objects },
      );
      expect(findings.flatMap(({ details }) => details)).toEqual(messages);
    });

    it("does not know whether what the inventory of the review did not list is new", () => {
      const { expected, ...review } = reviewOf(base);
      const kinds = listedKinds.filter((kind) => kind !== "Subscription");
      const hook = resource("Subscription", "hook", { parentUid: acme, sink: "https://acme.example" });
      const added = [hook, resource("Tag", "new", { parentUid: api.uid, digest: "sha256:b" })];
      const after = inventoryAfter([...base, ...added]);
      expect(verifying({ ...review, expected: { ...expected!, kinds } }, after)).toMatchObject({
        failing: 0,
        incomplete: [
          "whether each Subscription was announced is not known: the inventory of the review does not list them",
        ],
      });
    });

    it("names what lies outside of the group of the inventory, and an interrupted update", () => {
      const far = group("far", uid("far"));
      const [hook, remote] = ["far hook", "remote"].map((name) =>
        resource(
          "Subscription",
          name,
          { parentUid: far.uid, sink: "https://acme.example" },
          { uid: `${far.uid}/${"1".repeat(16)}` },
        ),
      ) as [Resource, Resource];
      const outside = [far, role("far role", ["TAG_LIST"], { uid: `${far.uid}/${"2".repeat(16)}` }), hook];
      const resources = [
        recordedResource({ urn: remote.urn, kind: remote.kind, id: remote.uid }),
        recordedResource({ urn: reads.urn, kind: "RoleBinding" }),
        recordedResource({ urn: `${remote.urn}-read`, kind: remote.kind, id: remote.uid, external: true }),
      ];
      const review = reviewOf([...base, ...outside], [...base, ...outside]);
      const interrupted = { ...noState, resources, pendingOperations: 2 };
      expect(verifying(review, inventoryAfter(base), interrupted)).toMatchObject({
        failing: 0,
        incomplete: [
          "an update of the stack was interrupted, and its state does not say how 2 operations ended: run pulumi up again, or pulumi refresh",
          ...["remote", "“far hook”"].map(
            (name) =>
              `Subscription ${name} is outside of the group ${acme}, so it was not verified: review and verify with an inventory of a group that contains it`,
          ),
        ],
      });
    });

    it("names a value that the review could not read and that decides no access", () => {
      const renamed = edit(wide, { name: SECRET_MASK });
      const report = check(exchange(base, renamed), base, exchange(base, edit(wide, { name: "x" })));
      expect(report).toMatchObject({ failing: 0, complete: true });
      expect(report.unresolved).toEqual(["Role x: name is secret, so it was not compared"]);
      // Of an object without a version nobody can say that it was not written since.
      const same = exchange(base, edit(reader, { name: SECRET_MASK }));
      const review = reportOf(compareResources(same, same, { live: base }));
      expect(verifying(review, inventoryAfter(base)).unresolved).toEqual([
        "Role reader: name is secret, so it was not compared",
      ]);
    });

    it("takes a group that the server refused to delete for what remains", () => {
      const mobile = group("mobile", `${acme}/${"5".repeat(16)}`);
      const byHand = group("by-hand", `${mobile.uid}/${"6".repeat(16)}`, { external: true });
      const before = [...base, mobile, byHand];
      expect(check([...base, byHand], before, before).incomplete).toContain(
        "announced as deleted, but still there: Group mobile",
      );
      expect(check([...base, byHand], before, [...base]).incomplete).toEqual([
        "announced, but missing: Group by-hand",
      ]);
    });

    it.each([
      ["a deletion", undefined, []],
      ["a document that is taken out", ["a"], []],
      ["another document", ["a", "c"], ["announced, but missing: TermsAcceptance terms: documentIds"]],
    ])("knows that accepted terms stay accepted: %s", (_what, documentIds, incomplete) => {
      const accepted = group("legal", `${acme}/${"4".repeat(16)}`, { external: true });
      const terms = ofParent("TermsAcceptance", "terms", accepted, { documentIds: ["a", "b"] });
      const rest = [...base, accepted];
      const after = documentIds === undefined ? rest : [...rest, edit(terms, { documentIds })];
      expect(check(after, [...rest, terms], [...rest, terms]).incomplete).toEqual(incomplete);
    });

    it("takes what an interrupted create announced for what it made, and says how to clear that", () => {
      const added = role("new", ["REPO_LIST"], { uid: undefined });
      const made = { ...added, uid: `${acme}/${"3".repeat(16)}` };
      const verifyState = (pendingCreates: readonly string[]) =>
        verifying(reviewOf([...base, added]), inventoryAfter([...base, made]), {
          ...noState,
          pendingOperations: 1,
          pendingCreates,
        });
      expect(verifyState([]).findings).toHaveLength(1);
      const { findings, incomplete } = verifyState([added.urn]);
      expect(findings).toEqual([]);
      expect(incomplete).toEqual([
        expect.stringMatching(/how 1 operation ended\. Whether Role new .*--clear-pending-creates$/),
      ]);
    });

    it("says of a new object of such a kind whether it was made, by the state", () => {
      const added = resource("Tag", "new", { parentUid: api.uid, digest: "sha256:b" });
      const said = (...resources: ReturnType<typeof recordedResource>[]) =>
        verifying(reviewOf([...unchanged, added], unchanged), inventoryAfter(unchanged, { asked }), {
          ...noState,
          resources,
        }).incomplete;
      expect(said()).toEqual(["announced, but missing: Tag new"]);
      expect(said(recordedResource({ urn: added.urn }))).toEqual([
        expect.stringMatching(/^Tag new was not compared: the inventory does not contain each Tag/),
      ]);
    });

    const isNew = [/^Tag new exists, which the review did not announce$/];
    const isUnknown = [/^Tag new was not compared: the report does not name it: /];
    it.each([
      ["2026-06-01T00:30:00Z", isNew],
      ["2020-01-01T00:00:00Z", isUnknown],
    ])("finds an object of such a kind that only the state names, made %s", (createTime, lines) => {
      const added = resource("Tag", "new", { parentUid: api.uid, digest: "sha256:b" });
      const inventory = inventoryAfter([...base, api, added], { asked: [{ kind: "Tag", uid: added.uid }] });
      const objects = inventory.objects.map((one) => (one.uid === added.uid ? { ...one, createTime } : one));
      const review = reviewOf([...base, api], [...base, api]);
      const { complete, findings, incomplete } = verifying(review, { ...inventory, objects });
      expect(findings).toHaveLength(complete ? 1 : 0);
      expect([...findings.map(({ message }) => message), ...incomplete]).toEqual(
        lines.map((line) => expect.stringMatching(line) as string),
      );
    });
  });

  describe("identifies what the change creates", () => {
    const robot = identity("robot", claims({ issuer: "https://gitlab.com", subject: "robot" }));
    const granted = binding(robot, pusher, payments);
    const expected = [...base, robot, granted];
    const stateWith = (id: string) => {
      const rows = [
        { ...robot, id },
        { ...granted, id: granted.uid },
      ].map(({ urn, kind, id }) => ({ urn, type: `pulumi-nodejs:dynamic/platform:${kind}`, id }));
      const text = JSON.stringify({ version: 3, deployment: { resources: rows } });
      return parseStateExport(text, "state.json");
    };

    it("by its grants", () => {
      expect(brief(verified(expected, expected))).toMatchObject({ failing: 0, complete: true });
    });

    it("and rejects a state that names an object that existed before", () => {
      const evil = binding(mallory, pusher, payments);
      const inventory = inventoryAfter([...base, evil]);
      const report = verifying(reviewOf(expected), inventory, stateWith(mallory.uid));
      expect(report).toMatchObject({ failing: 1, complete: false });
    });
  });

  it("refuses another organisation", () => {
    expect(() => verifying(reviewOf(base), inventoryAfter(base, { root: payments }))).toThrow(
      /^the inventory covers the group .*, and the report the group .*: give --root, or an inventory, of /,
    );
  });

  it.each([
    ["the inventory of the review", "2026-01-01T00:00:00Z", undefined],
    ["the report", "2026-05-31T23:59:59.999Z", undefined],
    ["the state", "2026-06-01T01:00:00Z", "2026-06-01T01:00:00.000000001Z"],
    ["the state", "2026-06-01T01:00:00Z", "2026-06-01T02:00:00+01:00"],
  ])("refuses an inventory that was not taken after %s: %s", (what, takenAt, time) => {
    const inventory = inventoryAfter(base, { takenAt });
    const { expected, ...rest } = reviewOf(base);
    const review = { ...rest, expected: expected && { ...expected, inventoryTime: "2026-05-31T00:00:00Z" } };
    const taken = `^the inventory was taken at ${takenAt}, not after ${what} \\(.*\\): `;
    const message = `${taken}take it after the update, and then verify$`;
    expect(() => verifying(review, inventory, { ...noState, ...(time && { time }) })).toThrow(
      refusal("PP6004", message),
    );
  });

  it("refuses a review without an inventory", () => {
    const review = { ...reviewOf(base), expected: undefined };
    const message = /^the report has no expected access: .*--inventory FILE/;
    expect(() => verifying(review, inventoryAfter(base))).toThrow(refusal("PP6006", message));
  });

  it("refuses the state of another stack", () => {
    const state = { ...noState, stack: "acme/dev" };
    const stacks = "^the state is of stack acme/dev, and the report of stack acme/production: ";
    expect(() => verifying(reviewOf(base), inventoryAfter(base), state)).toThrow(
      refusal("PP6004", `${stacks}give --stack or --state of acme/production$`),
    );
  });

  it("is incomplete where a list was refused", () => {
    const refused = [{ kind: "RoleBinding", code: "PERMISSION_DENIED", errorCode: "PP3403", message: "no" }];
    const inventory = inventoryAfter(base, { complete: false, refused });
    expect(verifying(reviewOf(base), inventory).incomplete).toEqual([
      "the inventory lacks RoleBinding: the server refused its list, or a part of it (PERMISSION_DENIED) (PP3403)",
    ]);
  });
});

describe("the report of a review", () => {
  it("is refused where it is one of another command", () => {
    expect(() => parseReviewReport(JSON.stringify(nightDrift))).toThrow(/ is a report of drift: /);
  });

  it("holds no key of an issuer", () => {
    const issuerKeys = '{"keys":[{"kty":"RSA","kid":"a","d":"private"}]}';
    const keyed = identity("keyed", {
      staticKeys: { issuer: "https://x.example", subject: "s", issuerKeys },
    });
    const report = reviewOf([...base, keyed]);
    expect(JSON.stringify(report.expected)).not.toContain("private");
    expect(brief(verified([...base, keyed], [...base, keyed]))).toMatchObject({ failing: 0, complete: true });
  });
});
