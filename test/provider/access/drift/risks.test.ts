import { readFileSync } from "node:fs";
import { join } from "node:path";
import { review } from "../../../../provider/access/report/reviewReport";
import { renderText } from "../../../../provider/access/report/render/text";
import { rules } from "../../../../provider/access/rules";
import type { Finding } from "../../../../provider/access/review/finding";
import {
  bind,
  builtIn,
  driftBetween,
  edit,
  inventoryOf,
  live,
  ofGitHub,
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

  const FIRST = "2026-01-01T00:00:00Z";
  const made = (createTime: string | undefined, ...objects: readonly Live[]) =>
    objects.map((object) => ({ ...object, createTime }));

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

  test("give advice on what has happened, not on what is to come", async () => {
    const report = await driftBetween([stateOf(held)], [...given, ...without(...owners)]);
    const advice = report.findings
      .filter(({ drift }) => drift === undefined)
      .map((finding) => finding.advice);
    expect(advice).not.toEqual([]);
    for (const text of advice) expect(text).not.toMatch(/this pull request|this program|change of its own/);
  });
});
