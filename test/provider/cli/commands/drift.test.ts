import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import type { DriftReport } from "../../../../provider/access/report/report";
import { main } from "../../../../provider/cli/commands/drift";
import { main as takeInventory } from "../../../../provider/cli/commands/inventory";
import { call, environmentOf } from "../../../support/wire";
import { FakeGitHub } from "../post/hosts";
import { exportText } from "../../../../scripts/lib/documents.cjs";
import { inventoryOf } from "../../../support/documents";
import { ending, runCommand } from "../support";
import { temporaryFolder } from "../../../support/folders";

const NOW = "2026-01-15T10:00:00Z";

describe("pulumi-platform drift", () => {
  const folder = temporaryFolder();
  let emulator: Emulator;
  let github: FakeGitHub;
  let role: string;
  let byHand: string;
  let described: string;

  const run = async (...argv: string[]) => {
    const env = {
      ...github.env,
      ...environmentOf(emulator),
      GITHUB_STEP_SUMMARY: join(folder, "summary.md"),
    };
    const now = argv.includes("--now") ? [] : ["--now", NOW];
    return runCommand(main, ["--state", join(folder, "export.json"), ...now, ...argv], env);
  };
  const reportOf = async (...argv: string[]) => {
    const { code, stdout, stderr } = await run("-o", "json", ...argv);
    return { code, stderr, report: JSON.parse(stdout) as DriftReport };
  };
  const printOf = async (uid: string): Promise<string> =>
    (await reportOf()).report.findings.find((finding) => finding.uid === uid)?.fingerprint ?? "";
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };

  /** One role is managed; a binding was made by hand, the role widened, and a description changed. */
  beforeAll(async () => {
    github = new FakeGitHub();
    [emulator] = await Promise.all([startEmulator(), github.start()]);
    const uidOf = async (address: string, body: Record<string, unknown>) =>
      String((await call(emulator, "POST", address, body))["uid"]);
    const org = await uidOf("/iam/v2/groups", { name: "org" });
    const team = { name: "team", description: "of the program" };
    described = await uidOf(`/iam/v2/groups/${org}`, team);
    const apps = await uidOf(`/iam/v2/groups/${org}`, { name: "apps" });
    const reader = { name: "reader", capabilities: ["CAP_REPO_LIST"] };
    role = await uidOf(`/iam/v2/roles/${org}`, reader);
    const managed = [
      { kind: "Group", name: "team", uid: described, inputs: { parentUid: org, ...team } },
      { kind: "Group", name: "apps", uid: apps, inputs: { parentUid: org, name: "apps" } },
      { kind: "Role", name: "reader", uid: role, inputs: { parentUid: org, ...reader } },
    ];
    file("export.json", exportText(managed));
    const ci = { name: "ci", claimMatch: { issuer: "https://a.example.com", subject: "ci" } };
    const identityUid = await uidOf(`/iam/v2/identities/${apps}`, ci);
    byHand = await uidOf(`/iam/v2/roleBindings/${apps}`, { identityUid, roleUid: role });
    await call(emulator, "PATCH", `/iam/v2/roles/${role}?updateMask=capabilities`, {
      capabilities: ["CAP_REPO_LIST", "CAP_REPO_DELETE"],
    });
    await call(emulator, "PATCH", `/iam/v2/groups/${described}?updateMask=description`, {
      description: "by hand",
    });
  });

  afterAll(async () => {
    await Promise.all([emulator.close(), github.stop()]);
  });

  test("begins with the command that accepts what was there before, until something is accepted", async () => {
    const said = /^ {2}\S.* drift --state .*export\.json .*--write-baseline access-policy\.yaml /m;
    const { stdout, stderr } = await run();
    expect(stdout).toContain(
      "No stack that is compared manages 2 objects. If another stack does, add it with --stack. Adopt what a program is to manage: see node_modules/",
    );
    expect(stdout).toMatch(said);
    expect(stdout.search(said)).toBeLessThan(stdout.indexOf("WHAT DIFFERS"));
    expect(stderr).not.toContain("--write-baseline");
    expect((await run("-o", "markdown")).stdout).not.toMatch(said);
    const entries = `allow:\n  - { kind: unmanaged, match: { uid: "${byHand}" }, fingerprint: ${await printOf(byHand)}, reason: x, acceptedBy: grace, expires: 2026-01-31 }\n`;
    expect((await run("--policy", file("one.yaml", entries))).stdout).not.toContain("--write-baseline");
  });

  /** What a person writes into an entry that waits for one. */
  const completed = (text: string): string =>
    text.replaceAll('reason: ""', "reason: agreed").replaceAll('acceptedBy: ""', "acceptedBy: grace");

  /** A person takes the marks of the comments of a baseline away, and completes its entries. */
  const acceptComments = (name: string): string => {
    const text = readFileSync(join(folder, name), "utf8");
    const entries = text.split(/^ {2}# (?:high|critical) .*\n/m).slice(1);
    return file(name, text + completed(entries.join("").replace(/^ {2}# ?/gm, "  ")));
  };

  const baselined = `# ours
allow:
  # the night shift knows
  - kind: unmanaged
    match: { uid: "BINDING" }
    fingerprint: PRINT
    reason: known
    acceptedBy: grace
    expires: 2026-12-31
`;

  test("a baseline accepts what is medium and low, and leaves the rest to a person who gives a name and a reason", async () => {
    const path = file(
      "baseline.yaml",
      baselined.replace("BINDING", byHand).replace("PRINT", await printOf(byHand)),
    );
    const written = await run("--write-baseline", path);
    expect(written).toMatchObject(ending(7, `2 exceptions added to ${path}, to 2026-04-30`));
    expect(written.stderr.match(/not accepted: high drift-/g)).toHaveLength(2);
    const text = readFileSync(path, "utf8");
    expect(text).toContain("# ours");
    expect(text).toContain("# the night shift knows");
    const { entries } = parsePolicy(text, path);
    expect(entries.map(({ rule, kind, acceptedBy }) => [rule ?? kind, acceptedBy])).toEqual([
      ["unmanaged", "grace"],
      ["G6", undefined],
      ["changed", undefined],
    ]);
    expect(entries[1]).toMatchObject({
      expires: "2026-04-30",
      reason: expect.stringContaining("baseline was written on 2026-01-15"),
    });

    // The next run has nothing left but what a person must accept, and writes nothing again.
    const again = await run("--policy", path, "--write-baseline", path);
    expect(again).toMatchObject(ending(7, "0 exceptions added"));
    expect(readFileSync(path, "utf8")).toBe(text);

    acceptComments("baseline.yaml");
    const clean = await reportOf("--policy", path);
    expect(clean.code).toBe(0);
    expect(clean.report).toMatchObject({ findings: [], policy: { unused: [], expired: [] } });
    expect(clean.report.suppressed).toHaveLength(5);
    // When they have ended, all of it is back.
    const later = await reportOf("--policy", path, "--now", "2027-01-01T00:00:00Z");
    expect(later.report.findings).toHaveLength(5);
  });

  /** Everything that is found, accepted by a person. */
  const acceptAll = async (): Promise<string> => {
    const path = join(folder, "all.yaml");
    rmSync(path, { force: true });
    await run("--write-baseline", path);
    return acceptComments("all.yaml");
  };

  test("counts by --fail-on, and shows entries with --fix alone", async () => {
    // A role was widened; a binding and its identity are unmanaged; a rule finds a risk of medium severity.
    for (const [which, count] of Object.entries({ any: 5, widened: 3, unmanaged: 2, never: 0 }))
      expect([which, (await reportOf("--fail-on", which)).report.failing]).toEqual([which, count]);
    expect((await run()).stdout).not.toContain("below allow in the policy file:");
    expect((await run("--fix")).stdout).toContain("below allow in the policy file:");
  });

  test("calls an entry unused, and a name unknown, only where all was checked", async () => {
    const forbidden = "forbid: [{ name: x, can: CAP_REPO_DELETE, on: org, who: { name: nobody } }]";
    const entry = "allow: [{ kind: deleted, match: { name: x }, reason: y }]";
    const policy = file("unused.yaml", `${entry}\n${forbidden}\n`);
    const unused = async (...argv: string[]) =>
      (await reportOf("--policy", policy, ...argv)).report.policy.unused;
    const body = { code: 7, message: "" };
    const refused = emulator.addFault({ path: "/registry/v2/repos", status: 403, body });
    expect(await unused()).toEqual([]);
    refused.remove();
    expect(await unused("--root", described)).toEqual([]);
    expect(await unused("--root", described.split("/")[0] ?? "")).toHaveLength(2);
    expect(await unused()).toEqual([
      expect.stringContaining("unused.yaml:1: matches no"),
      expect.stringContaining('unused.yaml:2: x: nobody who is known here is called "nobody"'),
    ]);
  });

  const fails = { status: 500, body: "<html>" };
  const expired = { status: 401, body: { code: 16, message: "the token is expired", details: [] } };
  test.each([
    // `takeInventory.test.ts` has each form of a list that is not read.
    [4, "/registry/v2/repos", { truncate: 40 }, "not compared"],
    [3, "", expired, "the token is expired"],
    [3, "/iam/v2/roleBindings", expired, "the token is expired"],
    [1, "/iam/v2/groups/", fails, "/iam/v2/groups/"],
  ])("ends with %i where all that is below %j answers %j", async (code, path, fault, message) => {
    const handle = emulator.addFault({ path, ...fault });
    const ended = await run("--exit-zero");
    handle.remove();
    expect(ended).toMatchObject(ending(code, message));
  });

  test("two exports of one stack are an error, and not one file that is named twice", async () => {
    const copy = file("copy.json", readFileSync(join(folder, "export.json"), "utf8"));
    expect(await run("--state", copy)).toMatchObject(ending(2, "two exports of stack"));
    expect(await run("--state", join(folder, "export.json"))).not.toMatchObject({ code: 2 });
  });

  describe("inventories that cannot be compared are an error", () => {
    const [a, b] = ["a".repeat(40), "b".repeat(40)];
    const below = `${a}/${"1".repeat(16)}`;
    const roots: Readonly<Record<string, string>> = { a, b, "a/1": below };
    const state = ["--state", join(folder, "export.json")];
    /** The arguments: a word as `a-3` is an inventory of the group a, taken on the third of January. */
    const argvOf = (line: string): string[] =>
      line.split(" ").map((word, index) => {
        const [name = "", day] = word.split("-");
        const root = roots[name];
        if (root === undefined) return word;
        const inventory = { ...inventoryOf(root), takenAt: `2026-01-0${day}T00:00:00Z`, kinds: ["Group"] };
        return file(`${index}.json`, JSON.stringify(inventory));
      });

    test.each([
      ["--since a-1 --since b-1 --inventory a-3", `of group ${b}, and no newer`],
      ["--since a-3 --inventory a-2", "that is not older than"],
      ["--since a-2 --inventory a-2", "that is not older than"],
      ["--since a-1 --inventory a-2 --inventory a-3", `--inventory names two inventories of group ${a}`],
      ["--since a-1 --since a-2 --inventory a-3", `--since names two inventories of group ${a}`],
      ["--since a-1 --inventory a/1-2 --inventory a-2", `of group ${a} and of ${below} below it`],
    ])("%s", async (line, message) => {
      for (const more of [[], state])
        expect(await runCommand(main, [...argvOf(line), ...more], {})).toMatchObject(ending(2, message));
    });

    test("and a newer one without an older one of its group, where there is no stack", async () => {
      const argv = argvOf("--since a-1 --inventory a-2 --inventory b-2");
      expect(await runCommand(main, argv, {})).toMatchObject(ending(2, `${b} is compared with nothing`));
      expect((await runCommand(main, [...argv, ...state], {})).code).not.toBe(2);
    });

    test("and not where each has its own older one", async () => {
      const argv = argvOf("--since b-1 --since a-1 --inventory a-3 --inventory b-2");
      // Nothing was compared: all are empty.
      const { code, stdout } = await runCommand(main, [...argv, "-o", "json"], {});
      const provenance = { inventoryTime: "2026-01-02T00:00:00Z" };
      expect([code, JSON.parse(stdout)]).toMatchObject([4, { provenance }]);
    });
  });

  test("refuses an invalid policy file, and a post destination that drift does not support", async () => {
    const wrong = file("wrong.yaml", "alow: []\n");
    for (const flag of ["--policy", "--write-baseline"]) {
      const ended = await run(flag, wrong);
      expect(ended).toMatchObject(ending(2, 'did you mean "allow"'));
    }
    expect(readFileSync(wrong, "utf8")).toBe("alow: []\n");
    expect(await run("--post", "github-pr")).toMatchObject(ending(2, "--post must be github-issue"));
    expect(await run("--inventory", wrong, "--types", "+Tag")).toMatchObject(
      ending(2, "conflict with --inventory"),
    );
    expect(await runCommand(main, [], {})).toMatchObject(ending(2, "nothing to compare: name a stack"));
  });

  test("asks the rules that the policy file names, and refuses a file without any", async () => {
    const find = "(facts) => facts.grantsToJudge().map((grant) => ({ message: 'found', grant }))";
    const rule = `{ id: "ACME1", name: "of-acme", severity: "low", why: "x", fix: "y", find: ${find} }`;
    file("rules.cjs", `module.exports = [${rule}];`);
    const { report } = await reportOf("--policy", file("named.yaml", "rules: rules.cjs\n"));
    expect(report.findings).toContainEqual(expect.objectContaining({ id: "ACME1", message: "found" }));
    expect(report.ownRules).toMatchObject([{ id: "ACME1", why: "x" }]);
    const empty = file("empty.cjs", "module.exports = [];");
    expect(await run("--rules", empty)).toMatchObject(ending(2, "PP6102"));
  });

  test.each([
    ["of a part of the organisation", () => ["--root", described], () => new RegExp(`below ${described}`)],
    ["that looks for more", () => ["--types", "+Tag"], () => /\(with Tag/],
    [
      "of an inventory of some kinds",
      () => ["--inventory", join(folder, "roles.json")],
      () => /\(without .*Repo/,
    ],
  ])(
    "a clean run %s closes its own issue, and not that of the whole organisation",
    async (_what, flags, scope) => {
      const some = ["--root", described.split("/")[0] ?? "", "--types", "Role,Group"];
      const inventory = ["-o", `json=${join(folder, "roles.json")}`];
      await runCommand(takeInventory, [...some, ...inventory], environmentOf(emulator));
      github.issues.length = 0;
      const path = await acceptAll();
      /** The states of the issues after a run that posts to them. */
      const after = async (...argv: string[]) => {
        await run("--post", "github-issue", ...argv);
        return github.issues.map(({ state }) => state);
      };
      expect(await after()).toEqual(["open"]);
      expect(await after(...flags(), "--policy", path)).toEqual(["open"]);
      expect(await after(...flags())).toEqual(["open", "open"]);
      expect(github.issues[1]?.title).toMatch(scope());
      expect(await after(...flags(), "--policy", path)).toEqual(["open", "closed"]);
      expect(await after("--policy", path)).toEqual(["closed", "closed"]);
    },
  );
});
