import { readFileSync } from "node:fs";
import { join } from "node:path";
import { review } from "../../../../provider/access/report/reviewReport";
import { renderText } from "../../../../provider/access/report/render/text";
import { rules } from "../../../../provider/access/rules";
import type { StateExport } from "../../../../provider/access/documents/stateExport";
import { NEW_GRANT, NOT_IN_PROGRAM } from "../../../../provider/access/graph/grant";
import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import type { Finding } from "../../../../provider/access/review/finding";
import {
  bind,
  builtIn,
  driftBetween,
  edit,
  inventoryOf,
  live,
  ofGitHub,
  org,
  previewOf,
  root,
  rulesWith,
  stateOf,
} from "../../../support/driftDocuments";
import { ChangedResources } from "../../../../provider/access/drift/stateComparison";
import { ROOT } from "../../../support/engine";
import type { Live } from "../../../support/driftDocuments";

const owner = builtIn("owner", "e", [
  "CAP_IAM_GROUPS_LIST",
  "CAP_IAM_ROLES_UPDATE",
  "CAP_IAM_ROLE_BINDINGS_CREATE",
  "CAP_IAM_IDENTITY_UPDATE",
]);
const viewer = builtIn("viewer", "f", ["CAP_IAM_GROUPS_LIST", "CAP_REPO_LIST"]);
const team = live("Group", { name: "team" });
const reader = live("Role", { name: "reader", capabilities: ["CAP_REPO_LIST"] });
const [ada, bob, ci] = ["ada", "bob", "ci"].map((name) =>
  live("Identity", { name, ...ofGitHub(`repo:acme/${name}:ref:refs/heads/main`) }),
) as [Live, Live, Live];
const owners = [bind(ada, owner), bind(bob, owner)];
const reading = bind(ci, reader, team.uid);
const held = [team, reader, ada, bob, ci, ...owners, reading];
const given = [root, owner, viewer];

const swap = (...edited: readonly Live[]) =>
  held.map((object) => edited.find(({ uid }) => uid === object.uid) ?? object);
const without = (...gone: readonly Live[]) => held.filter((object) => !gone.includes(object));

/** What people do by hand, and a rule that must find it. */
const changes: readonly [string, readonly Live[], string][] = [
  ["an owner of the root is made", [...held, bind(ci, owner)], "G1 critical"],
  ["a viewer becomes an owner", swap(edit(reading, { roleUid: owner.uid })), "G1 high"],
  ["a role equals owner now", swap(edit(reader, { capabilities: owner.inputs["capabilities"] })), "G4 high"],
  ["a binding moves up to the root", [...without(reading), bind(ci, reader)], "G5 high"],
  [
    "an identity accepts anyone",
    swap(
      edit(ci, {
        claimMatch: { issuer: "https://token.actions.githubusercontent.com", subjectPattern: ".*" },
      }),
    ),
    "T1 critical",
  ],
  ["an identity is somebody else", swap(edit(ci, ofGitHub("repo:evil/pay:ref:refs/heads/main"))), "T5 high"],
  ["an open invite", [...held, live("GroupInvite", { roleUid: owner.uid, ttl: "720h" })], "K3 critical"],
  ["events go to a new host", [...held, live("Subscription", { sink: "https://evil.example/x" })], "X1 high"],
  [
    "images are copied to the registry of a stranger",
    [
      ...held,
      live("Repo", { name: "copy", syncConfig: { source: "nginx", amazon: "999999999999.dkr.ecr" } }),
    ],
    "S1 high",
  ],
  ["the owners are removed", without(...owners), "D1 critical"],
  ["most grants are removed", without(...owners), "D4 high"],
  ["a role that is bound is deleted", without(reader), "D2 high"],
];

const brief = (findings: readonly Finding[]): string[] =>
  findings
    .filter(({ drift }) => drift === undefined)
    .map(({ id, severity }) => `${id} ${severity}`)
    .sort();

describe("the risk rules after drift", () => {
  test.each(changes)("report %s as they report it in a pull request", async (_what, after, expected) => {
    const report = await driftBetween([stateOf(held)], [...given, ...after]);
    const planned = review(
      { preview: previewOf(held, after), inventory: inventoryOf([...given, ...held]) },
      { failOn: "high", rules: rulesWith(), provenance: { time: "2026-06-01T00:00:00Z", package: "0" } },
    );
    const judged = planned.findings.filter(
      ({ id }) => rules.find((rule) => rule.id === id)?.beforeUpdate !== true,
    );
    expect(brief(report.findings)).toContain(expected);
    expect(brief(report.findings)).toEqual(brief(judged));
    expect(report.complete).toBe(true);
  });

  test("find nothing where nothing has drifted, however dangerous it is", async () => {
    const anyone = {
      claimMatch: { issuer: "https://token.actions.githubusercontent.com", subjectPattern: ".*" },
    };
    const keys = {
      staticKeys: {
        issuer: "https://k.example",
        subject: "x",
        issuerKeys: "{}",
        expirationTime: "2020-01-01T00:00:00Z",
      },
    };
    const dangerous = [
      ...held,
      live("Identity", { name: "any", ...anyone }),
      live("Identity", { name: "old", ...keys }),
      bind(ci, owner),
    ];
    const report = await driftBetween([stateOf(dangerous)], [...given, ...dangerous]);
    expect(report.findings).toEqual([]);
    expect(report.grants).toEqual([]);
    expect(report.groups.map(({ change }) => change)).toEqual(["same", "same"]);
  });

  test("say what it gives to restore what was narrowed, also by a grant that came meanwhile", async () => {
    const strong = live("Role", { name: "strong", capabilities: ["CAP_IAM_ROLES_UPDATE", "CAP_REPO_LIST"] });
    const any = live("Identity", {
      name: "any",
      claimMatch: { issuer: "https://token.actions.githubusercontent.com", subjectPattern: "^repo:acme/.*$" },
    });
    const changed = [
      edit(strong, { capabilities: ["CAP_REPO_LIST"] }),
      edit(any, ofGitHub("repo:acme/any:x")),
    ];
    const detailsOf = async (...more: readonly Live[]) => {
      const report = await driftBetween(
        [stateOf([...held, strong, any])],
        [...given, ...held, ...changed, ...more],
      );
      return report.findings
        .filter(({ id }) => id === "drift-changed")
        .flatMap(({ name, details }) =>
          details.filter((line) => line.startsWith("to restore")).map((line) => `${name}: ${line}`),
        )
        .sort();
    };
    expect(await detailsOf()).toEqual([]);
    expect(await detailsOf(bind(ci, strong), bind(any, reader, team.uid))).toEqual([
      expect.stringMatching(/any.*: to restore it gives access by reader on acme \/ team$/),
      expect.stringMatching(
        /strong.*: to restore it gives access by GitHub Actions of acme\/ci.*: strong on acme$/,
      ),
    ]);
  });

  test("take an object that no stack manages for what the policy file calls by its name", async () => {
    const glass = live("Identity", { name: "break-glass", ...ofGitHub("repo:acme/glass:x") });
    const { assertions } = parsePolicy(`
forbid: [{ name: few read, can: CAP_REPO_LIST, on: acme, who: { not: [{ name: [break-glass, ci] }] } }]
require: [{ name: reached, can: CAP_REPO_LIST, on: acme, atLeast: 1, who: { name: break-glass } }]
`);
    const of = async (name: string) => {
      const beside = [...held, edit(glass, { name }), bind(glass, reader)];
      const report = await driftBetween([stateOf(held)], [...given, ...beside], {
        rules: rulesWith({ assertions }),
      });
      return brief(report.findings).filter((line) => line.startsWith("P"));
    };
    expect(await of("break-glass")).toEqual([]);
    expect(await of("other")).toEqual(["P1 high", "P2 high"]);
  });

  test("take no group that is in no stack for a new one: its pipeline was accepted as what it is", async () => {
    const pushes = builtIn("registry.push", "9", ["CAP_MANIFEST_CREATE", "CAP_TAG_CREATE"]);
    const made = live("Group", { name: "made" });
    const own = { ...ofGitHub("repo:acme/made:ref:refs/heads/main"), parentUid: made.uid };
    const pipeline = live("Identity", { name: "pipeline", ...own });
    const pushing = bind(pipeline, pushes, made.uid);
    const all = [...given, pushes, ...held, made, pipeline, pushing];
    for (const stack of [held, [...held, made, pipeline]]) {
      const { findings } = await driftBetween([stateOf(stack)], all);
      expect(brief(findings).filter((line) => line.startsWith("G6"))).toEqual(["G6 medium"]);
    }
  });

  test("count the identities that have not signed in for 90 days, and those of which nobody knows", async () => {
    const times: Readonly<Record<string, object>> = {
      [ada.uid]: { lastSeenTime: "2000-01-01T00:00:00Z" },
      [bob.uid]: { createTime: "2000-01-01T00:00:00Z", lastSeenTime: "2099-01-01T00:00:00Z" },
    };
    const seen = [...given, ...held.map((each) => ({ ...each, ...times[each.uid] }))];
    const counted = async (more?: Parameters<typeof driftBetween>[2]) =>
      (await driftBetween([stateOf(held)], seen, more)).unusedIdentities;
    expect(await counted()).toEqual({ days: 90, unused: 1, unknown: 1 });
    expect(await counted({ isPartial: true })).toBeUndefined();
    const report = await driftBetween([stateOf(held)], seen);
    expect(renderText(report, {})).toContain(
      "1 identity has not signed in for 90 days; of 1 more nobody knows. List them:\n" +
        `    npx --no pulumi-platform inventory --root ${root.uid} -o json=inventory.json\n` +
        "    npx --no pulumi-platform access --inventory inventory.json --unused 90d\n",
    );
  });

  test.each([
    ["role", reader],
    ["identity", ci],
    ["group", team],
  ])("an unchanged grant has not drifted where its %s is in no stack", async (_part, part) => {
    const report = await driftBetween([stateOf(without(part))], [...given, ...held]);
    expect(report.grants).toEqual([]);
    expect(report.findings.map(({ uid, drift }) => [uid, drift?.kind])).toEqual([[part.uid, "unmanaged"]]);
  });

  // Nothing records what it was before, so by itself a change of it is no difference.
  test("say what a role or an identity gives now that no stack manages, by a grant that one does", async () => {
    const strong = edit(reader, { capabilities: owner.inputs["capabilities"] });
    const stranger = edit(ci, ofGitHub("repo:evil/x:ref:refs/heads/main"));
    const gives = /^it gives: GitHub Actions of (?:acme\/ci|evil\/x), branch main: reader on acme \/ team$/;
    for (const [part, now, expected] of [
      [reader, reader, [gives]],
      [reader, strong, [gives]],
      [ci, stranger, [/^it gives: GitHub Actions of evil\/x/]],
    ] as const) {
      const { findings } = await driftBetween([stateOf(without(part))], [...given, ...swap(now)]);
      expect(findings.map(({ id, details }) => [id, details.slice(2)])).toEqual([
        ["drift-unmanaged", expected.map((line) => expect.stringMatching(line) as string)],
      ]);
    }
  });

  test("take no binding that no stack has for another one that is gone: neither has a name", async () => {
    const [byAda, byBob] = owners as [Live, Live];
    const report = await driftBetween([stateOf(without(byBob))], [...given, ...without(byAda)]);
    expect(brief(report.findings)).toEqual(["D1 critical", "G1 critical"]);
  });

  test("are left out if they declare that they judge only what is to come or need the whole organisation", async () => {
    const beforeUpdate = rules.filter((rule) => rule.beforeUpdate === true).map(({ id }) => id);
    expect(beforeUpdate).toEqual(["T7", "K4", "D3", "X4", "X5", "S2", "S4"]);
    const [, said = ""] =
      /program's text do not run: ([^.]+)\./.exec(readFileSync(join(ROOT, "docs/drift.md"), "utf8")) ?? [];
    expect(said.split(/, | and /)).toEqual([...beforeUpdate].sort());
    const inventories = [inventoryOf([...given, ...without(...owners)])];
    const changed = new ChangedResources();
    for (const { uid } of owners) changed.add({ name: "iam.rolebindings.deleted", subject: uid });
    const part = await driftBetween([stateOf(held)], [], { inventories, changed });
    expect(brief(part.findings)).toEqual([]);
    expect(part.findings.map(({ id }) => id)).toEqual(["drift-deleted", "drift-deleted"]);
  });

  test.each<[string, string | undefined, boolean, RegExp, Live?]>([
    ["older", "2025-01-01T00:00:00Z", false, /^adopt it into a program, suppress it, or delete it;/],
    ["newer", "2026-02-01T00:00:00Z", true, /^delete it, adopt it into a program, or suppress it;/],
    ["perhaps older", undefined, false, /^adopt it into a program, /],
    // The server tells its code to nobody but who makes it.
    ["perhaps older", undefined, false, /^suppress it, or delete it;/, live("GroupInvite", { ttl: "720h" })],
  ])(
    "offer the command that deletes only an object that is surely newer than the first one of the stack: one %s",
    async (_, createTime, isOffered, advice, made = bind(ci, owner)) => {
      const beside = { ...made, createTime };
      const all = [...held.map((each) => ({ ...each, createTime: "2026-01-01T00:00:00Z" })), beside];
      const { differences, findings } = await driftBetween([stateOf(held)], [...given, ...all]);
      expect(differences.map(({ uid, answers }) => [uid, answers.revert !== undefined])).toEqual([
        [beside.uid, isOffered],
      ]);
      expect(findings.find(({ drift }) => drift !== undefined)?.advice).toMatch(advice);
    },
  );

  /** What exists, and what states record. */
  interface Known {
    readonly exists?: readonly Live[];
    readonly states?: readonly StateExport[];
    /** Whether nothing tells when the first object was made. */
    readonly isUntold?: true;
  }
  const FIRST = "2026-01-01T00:00:00Z";
  const made = (createTime: string | undefined, ...objects: readonly Live[]) =>
    objects.map((object) => ({ ...object, createTime }));
  const recorded = (created: string, ...objects: readonly Live[]) => [
    stateOf(objects.map((object) => ({ ...object, created }))),
  ];
  const ofTime = (time: string | undefined) => [...made(FIRST, ...without(ci)), ...made(time, ci)];
  const elsewhere = live("Group", { name: "other" }, "b".repeat(40));

  test.each<[string, Known]>([
    ["one is gone", { exists: made(FIRST, ...without(ci)) }],
    ["all are gone", { exists: [], states: recorded(FIRST, ...held) }],
    [
      "the first one is gone",
      {
        exists: made("2026-03-01T00:00:00Z", ...without(team)),
        states: [...recorded(FIRST, team), stateOf(without(team))],
      },
    ],
    ["one was imported later", { states: recorded("2026-05-01T00:00:00Z", ...held) }],
    ["one has no time", { exists: ofTime(undefined) }],
    ["one has the first time of all", { exists: ofTime("0001-01-01T00:00:00Z") }],
    [
      "another organisation is older",
      {
        exists: [...made(FIRST, ...held), ...made("2020-01-01T00:00:00Z", elsewhere)],
        states: [stateOf(held), stateOf([elsewhere], "other")],
      },
    ],
    ["nothing tells", { exists: held, isUntold: true }],
  ])(
    "tell what came later than the first object of the stacks from what may have been there, where %s",
    async (_, { exists = made(FIRST, ...held), states = [stateOf(held)], isUntold }) => {
      const guest = live("Identity", { name: "guest", ...ofGitHub("repo:acme/guest:x") });
      const old = made("2025-01-01T00:00:00Z", bind(guest, owner))[0];
      const young = made("2026-02-01T00:00:00Z", bind(guest, viewer))[0];
      const objects = [...given, ...exists, guest, old, young].flatMap((object) => object ?? []);
      const inventories = [org, elsewhere.uid.slice(0, 40)].map((each) => {
        const inside = objects.filter(({ uid, builtIn: isShared }) => isShared ?? uid.startsWith(each));
        return inventoryOf(inside, { root: each });
      });
      const { differences, grants } = await driftBetween(states, [], { inventories });
      const isOffered = (uid = "") => differences.find((each) => each.uid === uid)?.answers.revert;
      const reasonOf = (uid?: string) => grants.find(({ grant }) => grant.uid === uid)?.reason;
      const [deletion, reason] = isUntold ? [undefined, NOT_IN_PROGRAM] : [expect.any(String), NEW_GRANT];
      expect([isOffered(old?.uid), isOffered(young?.uid)]).toEqual([undefined, deletion]);
      expect([reasonOf(old?.uid), reasonOf(young?.uid)]).toEqual([NOT_IN_PROGRAM, reason]);
    },
  );

  test("offer no command that deletes the last owner of the root, nor what makes it one", async () => {
    const [byAda, byBob] = owners as [Live, Live];
    const revertsBeside = async (...unmanaged: readonly Live[]): Promise<string[]> => {
      const newer = unmanaged.map((each) => ({ ...each, createTime: "2026-02-01T00:00:00Z" }));
      const objects = [...given, ...made(FIRST, team), ...newer];
      const { differences } = await driftBetween([stateOf([team])], objects);
      return differences.filter(({ answers }) => answers.revert !== undefined).map(({ uid }) => uid);
    };
    expect(await revertsBeside(ada, byAda)).toEqual([]);
    expect(new Set(await revertsBeside(ada, byAda, bob))).toEqual(new Set([bob.uid]));
    expect(new Set(await revertsBeside(ada, bob, byAda, byBob))).toEqual(
      new Set([ada, bob, byAda, byBob].map(({ uid }) => uid)),
    );
    const { findings } = await driftBetween([stateOf([team])], [...given, team, ada, byAda]);
    const advice = findings.filter(({ id }) => id !== "drift-unmanaged").map((finding) => finding.advice);
    expect(new Set(advice)).toEqual(new Set([expect.stringContaining("bind a second owner before")]));
    expect(findings.find(({ uid, drift }) => uid === byAda.uid && drift !== undefined)).toMatchObject({
      advice: expect.stringMatching(/^adopt it into a program, or suppress it; /) as unknown,
      details: expect.arrayContaining(["not to be deleted: without it acme has no owner"]) as unknown,
    });
  });

  /** The same organisation under another uid: the roles of the platform are its own too. */
  const twin = "b".repeat(40);
  const ofTwin = (objects: readonly Live[]): Live[] =>
    JSON.parse(JSON.stringify(objects).replaceAll(org, twin)) as Live[];

  const [third, lists] = [bind(ci, owner), bind(ci, viewer)];

  test.each<[string, readonly Live[], readonly Live[], string]>([
    [
      "has an owner left who has not signed in since it was written",
      [...held, third],
      [...without(...owners.slice(1)), third],
      "D1 high",
    ],
    ["has no owner left", held, without(...owners), "D1 critical"],
    ["lets who takes its inventories list no more", [...held, lists], held, "D1 high"],
  ])("find the same of two organisations in any order, where one %s", async (_, before, after, expected) => {
    const times = { createTime: FIRST, updateTime: "2026-05-20T00:00:00Z", lastSeenTime: FIRST };
    const dated = (objects: readonly Live[]) =>
      objects.map((each) => (each.uid === ada.uid ? { ...each, ...times } : each));
    const changed = { root: twin, caller: ofTwin([ci])[0]?.uid };
    const inventories = [
      inventoryOf([...given, ...dated(before)]),
      inventoryOf(ofTwin([...given, ...dated(after)]), changed),
    ];
    const states = [stateOf(before), stateOf(ofTwin(before), "twin")];
    const [found, turned] = await Promise.all(
      [inventories, inventories.toReversed()].map((each) => driftBetween(states, [], { inventories: each })),
    );
    expect(brief(found?.findings ?? [])).toContain(expected);
    expect(turned?.findings).toEqual(found?.findings);
  });

  test("give advice on what has happened, not on what is to come", async () => {
    const report = await driftBetween([stateOf(held)], [...given, ...without(...owners)]);
    const advice = report.findings
      .filter(({ drift }) => drift === undefined)
      .map((finding) => finding.advice);
    expect(advice).not.toEqual([]);
    for (const text of advice) expect(text).not.toMatch(/this pull request|this program|change of its own/);
  });
});
