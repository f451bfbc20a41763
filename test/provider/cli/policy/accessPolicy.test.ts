import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../../../provider/access/documents/digest";
import { reportProblem } from "../../../../provider/access/report/report";
import type { Report } from "../../../../provider/access/report/report";
import { main as review } from "../../../../provider/cli/commands/review";
import {
  createReviewSuppressor,
  createRules,
  readReviewPolicy,
} from "../../../../provider/cli/policy/accessPolicy";
import { commonFlags, readCommonOptions } from "../../../../provider/cli/framework/options";
import { parseFlags } from "../../../../provider/cli/framework/flags";
import { parsePreview } from "../../../../provider/access/documents/preview";
import { compare } from "../../../../provider/access/review/compare";
import type { RuleOptions } from "../../../../provider/access/rules";
import { toRules } from "../../../../provider/access/rules/ownRules";
import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import { review as reviewPreview } from "../../../../provider/access/report/reviewReport";
import { judge, PROVENANCE } from "../../../support/documents";
import { ROOT } from "../../../support/engine";
import { temporaryFolder } from "../../../support/folders";
import { ending, runCommand } from "../support";

const PREVIEW = join(ROOT, "test/fixtures/previews/update-shown.json");

const { findings } = judge(parsePreview(readFileSync(PREVIEW, "utf8"), PREVIEW));

const entry = (rule: string, reason = "meant"): string =>
  `  - rule: ${rule}\n    fingerprint: ${findings.find(({ id }) => id === rule)?.fingerprint ?? ""}\n    reason: ${reason}\n    expires: 2027-01-31\n`;
const T4 = `allow:\n${entry("T4")}`;
const BOTH = `${T4}${entry("T5")}`;

/** The limits of a run with these settings of the policy file and these flags. */
function limits(settings: string, ...argv: string[]): RuleOptions | undefined {
  let seen: RuleOptions | undefined;
  const text = { id: "AB1", name: "any-name", severity: "low", why: "x", fix: "x" } as const;
  const own = toRules([{ ...text, find: ({ options }) => ((seen = options), []) }], "rules.mjs");
  const options = readCommonOptions(parseFlags("review", commonFlags, argv).values);
  const preview = parsePreview(readFileSync(PREVIEW, "utf8"), PREVIEW);
  createRules(options, parsePolicy(`settings: { ${settings} }`), own)(compare({ preview }));
  return seen;
}

test("settings of the policy file count where no flag is given, and defaults where neither is", () => {
  const owners = { requiredOwner: ["ada"], minOwners: 3 };
  expect(limits("strict: true, maxRemoval: 12.5%, requiredOwners: ada, minOwners: 3")).toMatchObject({
    ...{ strict: true, maxRemoval: 0.125, issuerAllow: [] },
    ...owners,
  });
  expect(limits("minOwners: 0, sinkAllow: a.example", "--min-owners", "3", "--strict")).toMatchObject({
    ...{ strict: true, maxRemoval: 0.25, minOwners: 3, sinkAllow: ["a.example"] },
  });
});

let folder: string;
let policy: string;
/** A repository for each base that was committed: a copy takes less time than git does. */
const bases = temporaryFolder();

function git(directory: string, ...args: string[]): void {
  const settings = ["user.name=test", "user.email=test@example.com", "commit.gpgsign=false"];
  const identity = settings.flatMap((setting) => ["-c", setting]);
  execFileSync("git", ["-C", directory, ...identity, ...args], { stdio: "pipe", env: process.env });
}

/** A repository whose one commit has this policy file. */
function committed(base: string | undefined): string {
  const directory = join(bases, sha256(base ?? "none"));
  if (existsSync(directory)) return directory;
  mkdirSync(directory);
  git(directory, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(directory, "README"), "x");
  if (base !== undefined) writeFileSync(join(directory, "access-policy.yaml"), base);
  git(directory, "add", ".");
  git(directory, "commit", "--quiet", "-m", "base");
  return directory;
}

/** Has a policy file committed as the base, and writes that of the change over it. */
function repository(base: string | undefined, own: string | undefined): void {
  cpSync(committed(base), folder, { recursive: true });
  if (own === undefined) rmSync(policy, { force: true });
  else writeFileSync(policy, own);
}

beforeEach(() => {
  folder = temporaryFolder();
  policy = join(folder, "access-policy.yaml");
});

async function report(...flags: string[]): Promise<Report> {
  const out = join(folder, "review.json");
  const args = [PREVIEW, "--now", "2026-06-01T00:00:00Z", "-o", `json=${out}`, ...flags];
  const { code, stderr } = await runCommand(review, args, {});
  expect([code, stderr]).toEqual([5, expect.stringContaining("pulumi-platform review:")]);
  const read = JSON.parse(readFileSync(out, "utf8")) as Report;
  expect(reportProblem({ ...read, findings: [], suppressed: [] })).toBeUndefined();
  return read;
}

const ids = ({ suppressed }: Report): string[] => suppressed.map(({ id }) => id);

describe("the rules of one's own of a review", () => {
  const rule = (id: string): string =>
    `module.exports = [{ id: "${id}", name: "of-acme", severity: "low", why: "x", fix: "y", find: () => [{ message: "found" }] }];\n`;
  const named = "rules: rules.cjs\n";
  const refused = (verb: string) => new RegExp(`rules\\.cjs: this change ${verb} the rules, which are code`);
  const same = rule("ACME1").replaceAll("\n", "\r\n");
  it.each([
    ["used where the change leaves them", rule("ACME1"), same, undefined],
    ["refused where the change adds them", undefined, rule("ACME2"), refused("adds")],
    ["refused where the change edits them", rule("ACME1"), rule("ACME2"), refused("edits")],
    ["refused where the change deletes them", rule("ACME1"), undefined, refused("deletes")],
  ])("are %s", async (_what, base, own, message) => {
    cpSync(committed(named), folder, { recursive: true });
    const [path, other] = [join(folder, "rules.cjs"), join(folder, "base")];
    mkdirSync(other);
    writeFileSync(join(other, "policy.yaml"), named);
    if (base !== undefined) {
      writeFileSync(path, base);
      writeFileSync(join(other, "rules.cjs"), base);
      git(folder, "add", "rules.cjs");
      git(folder, "commit", "--quiet", "-m", "rules");
    }
    if (own === undefined) rmSync(path);
    else writeFileSync(path, own);
    const bases = [
      ["--rules", path, "--base-ref", "main"],
      ["--policy", policy, "--base-ref", "main"],
      ["--policy", policy, "--policy-base", join(other, "policy.yaml")],
    ];
    for (const flags of bases) {
      if (message === undefined) {
        expect((await report(...flags)).findings.map(({ id }) => id)).toContain("ACME1");
        continue;
      }
      const { code, stderr } = await runCommand(review, [PREVIEW, ...flags], {});
      const isMissing = base === undefined && flags.includes("--policy-base");
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(isMissing ? /rules\.cjs, which cannot be read/ : message),
      ]);
    }
  });

  it("are not named beside --policy-base, whose file names them", async () => {
    writeFileSync(policy, T4);
    const flags = ["--rules", "rules.cjs", "--policy", policy, "--policy-base", policy];
    expect(await runCommand(review, [PREVIEW, ...flags], {})).toMatchObject(
      ending(2, "--rules conflicts with --policy-base: let that policy file name the rules"),
    );
  });

  it("are those that the policy file of the base names", async () => {
    repository(T4, `${named}${T4}`);
    writeFileSync(join(folder, "rules.cjs"), rule("ACME2"));
    const read = await report("--policy", policy, "--base-ref", "main");
    expect(read.findings.map(({ id }) => id)).not.toContain("ACME2");
    expect(read.policy.changed).toEqual([
      expect.stringContaining("this change edits the policy file; this review"),
    ]);
  });
});

describe("the policy file of a review", () => {
  it("is used alone if no base is given, and no change of it is reported", async () => {
    writeFileSync(policy, BOTH);
    const read = await report("--policy", policy);
    expect([ids(read), read.policy.changed]).toEqual([["T4", "T5"], undefined]);
  });

  it.each([
    ["git", () => ["--base-ref", "main"], "access-policy.yaml at main"],
    ["git by its commit", () => ["--base-ref", "HEAD"], "access-policy.yaml at HEAD"],
    ["a file", () => ["--policy-base", join(folder, "base.yaml")], "base.yaml"],
  ])("is not used if the base comes from %s, and is reported as changed", async (_from, flags, used) => {
    repository(T4, BOTH);
    writeFileSync(join(folder, "base.yaml"), T4);
    const read = await report("--policy", policy, ...flags());
    expect(ids(read)).toEqual(["T4"]);
    expect(read.policy.changed).toEqual([
      `${policy}: this change edits the policy file; this review uses ${join(folder, used)}`,
    ]);
  });

  it("is not reported as changed where only the base has changed it since", async () => {
    repository(T4, T4);
    git(folder, "checkout", "--quiet", "-b", "change");
    git(folder, "checkout", "--quiet", "main");
    writeFileSync(policy, BOTH);
    git(folder, "commit", "--quiet", "-am", "accept");
    git(folder, "checkout", "--quiet", "change");
    const read = await report("--policy", policy, "--base-ref", "main");
    expect([ids(read), read.policy.changed]).toEqual([["T4", "T5"], []]);
  });

  it("is reported as changed where it is that of one of several merge bases: a merge may bring it back", async () => {
    repository(T4, T4);
    writeFileSync(policy, BOTH);
    git(folder, "commit", "--quiet", "-am", "base");
    git(folder, "tag", "tightened");
    git(folder, "checkout", "--quiet", "-b", "change", "HEAD~1");
    // Git names the newest base first.
    process.env["GIT_COMMITTER_DATE"] = "2099-01-01T00:00:00Z";
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "first");
    delete process.env["GIT_COMMITTER_DATE"];
    git(folder, "checkout", "--quiet", "main");
    git(folder, "merge", "--quiet", "--no-edit", "change");
    git(folder, "checkout", "--quiet", "change");
    git(folder, "merge", "--quiet", "--no-edit", "--strategy=ours", "tightened");
    const read = await report("--policy", policy, "--base-ref", "main");
    expect(read.policy.changed).toEqual([expect.stringMatching(/this change edits the policy file/)]);
  });

  const edited = [/this change edits the policy file; this review uses/];
  const [ofBase, ofBoth] = [["T4"], ["T4", "T5"]];
  it.each([
    ["is the same", T4, T4, ofBase, []],
    ["has other line ends", T4, T4.replaceAll("\n", "\r\n"), ofBase, []],
    ["has another comment", T4, `# why\n${T4}`, ofBase, edited],
    ["loses an entry", BOTH, T4, ofBoth, edited],
    ["is new", undefined, BOTH, [], [/this change adds the policy file: none of its entries is used$/]],
    ["is deleted", T4, undefined, ofBase, [/this change deletes the policy file; this review uses/]],
    ["is there in neither", "allow: []\n", "allow: []\n", [], []],
  ])("that %s", async (_what, base, own, excepted, changed) => {
    repository(base, own);
    const read = await report("--policy", policy, "--base-ref", "main");
    expect(ids(read)).toEqual(excepted);
    expect(read.policy.changed).toEqual(changed.map((line) => expect.stringMatching(line) as string));
  });

  it("has unused entries only where the review is complete", () => {
    const accepted = `  - { rule: T4, for: [review], match: { uid: "${"a".repeat(40)}" }, reason: x`;
    const read = parsePolicy(`allow:\n${accepted} }\n${accepted}, expires: 2026-01-01 }\n`, "policy.yaml");
    const now = new Date(PROVENANCE.time);
    const notesOf = (...problems: string[]) => {
      const preview = { ...parsePreview(readFileSync(PREVIEW, "utf8"), PREVIEW), problems };
      const by = { failOn: "high", rules: () => [], provenance: PROVENANCE } as const;
      const suppress = createReviewSuppressor({ policy: read }, now);
      const { unused, expired } = reviewPreview({ preview }, { ...by, judge: suppress }).policy;
      return [...unused, ...expired];
    };
    const expired = "policy.yaml:3: expired on 2026-01-01; ";
    expect(notesOf()).toEqual([
      "policy.yaml:2: matches no finding: remove it, or correct what it names",
      `${expired}it matches no finding any more: remove it`,
    ]);
    expect(notesOf("the preview failed")).toEqual([`${expired}remove it`]);
  });

  it("comes from the branch of a name, not from a tag that somebody gave the same name", () => {
    repository(T4, BOTH);
    git(folder, "add", ".");
    git(folder, "commit", "--quiet", "--message", "change");
    git(folder, "checkout", "--quiet", "--detach");
    for (const name of ["main", "origin/main", "v1"]) git(folder, "tag", name);
    git(folder, "branch", "--force", "main", "HEAD~1");
    // The checkout of a change from a branch of that name.
    git(folder, "branch", "origin/main");
    const entriesAt = (baseRef: string) => readReviewPolicy({ policy, baseRef })?.policy.entries.length ?? 0;
    expect([entriesAt("main"), entriesAt("refs/tags/main")]).toEqual([1, 2]);
    for (const name of ["origin/main", "v1"])
      expect(() => entriesAt(name)).toThrow(
        /no such commit in the repository of .*A tag is written refs\/tags\//,
      );
  });

  /** A base that has the policy file in a folder. */
  function commitInFolder() {
    repository(undefined, undefined);
    const infra = join(folder, "infra");
    mkdirSync(infra);
    const own = join(infra, "access-policy.yaml");
    writeFileSync(own, T4);
    git(folder, "add", ".");
    git(folder, "commit", "--quiet", "--message", "policy");
    return { infra, own };
  }

  it("comes from the repository of the checkout, not from what the change makes look like one", () => {
    const { infra, own } = commitInFolder();
    const other = committed(BOTH);
    for (const name of ["HEAD", "objects", "refs"])
      cpSync(join(other, ".git", name), join(infra, name), { recursive: true });
    writeFileSync(join(infra, "config"), "[core]\n\tbare = false\n\tworktree = .\n");
    writeFileSync(own, BOTH);
    expect(readReviewPolicy({ policy: own, baseRef: "main" })?.policy.entries).toHaveLength(1);
  });

  it("is not looked for through a link, or in a submodule", () => {
    const { infra, own } = commitInFolder();
    const read = () => readReviewPolicy({ policy: own, baseRef: "main" });
    expect(read()?.policy.entries).toHaveLength(1);
    renameSync(infra, join(folder, "moved"));
    symlinkSync("moved", infra);
    expect(read).toThrow(`${infra} is a link`);
    rmSync(infra);
    // The link to the checkout itself has its `.git`.
    symlinkSync(".", infra);
    writeFileSync(join(folder, "access-policy.yaml"), BOTH);
    expect(read).toThrow(`${infra} is a link`);
    rmSync(infra);
    const modules = join(folder, ".git", "modules");
    cpSync(committed(BOTH), infra, { recursive: true });
    expect(read()?.policy.entries).toHaveLength(2);
    mkdirSync(modules);
    renameSync(join(infra, ".git"), join(modules, "infra"));
    writeFileSync(join(infra, ".git"), "gitdir: ../.git/modules/infra\n");
    expect(read).toThrow(
      /infra is a submodule, and a change may have put it there: give --policy-base FILE$/,
    );
  });

  it("is shown as changed in the forms that people read", async () => {
    repository(T4, BOTH);
    const flags = [PREVIEW, "--policy", policy, "--base-ref", "main", "--now", "2026-06-01T00:00:00Z"];
    const forms = ["text", "md", "html"];
    const files = forms.flatMap((form) => ["-o", `${form}=${join(folder, form)}`]);
    await runCommand(review, [...flags, ...files], {});
    for (const form of forms)
      expect(readFileSync(join(folder, form), "utf8")).toMatch(
        /POLICY FILE CHANGED \(1\)|Policy file changed/,
      );
  });

  type Given = Parameters<typeof readReviewPolicy>[0];
  it.each<[Given, RegExp]>([
    [{ policyBase: "x" }, /^--policy-base belongs to --policy: name the policy file of the change$/],
    [{ baseRef: "main" }, /^--base-ref belongs to --policy/],
    [{ policy: "POLICY", baseRef: "main", policyBase: "x" }, /^--policy-base conflicts with --base-ref/],
    [{ policy: "-", baseRef: "main" }, /^--base-ref needs a path in --policy, not standard input$/],
    [{ policy: "POLICY", policyBase: "none.yaml" }, /^--policy-base names none.yaml, which cannot be read/],
    [
      { policy: "POLICY", baseRef: "nothing" },
      /^--base-ref nothing: no such commit in the repository of .*: fetch/,
    ],
    [
      { policy: "POLICY", baseRef: "--output=x" },
      /^--base-ref --output=x: must be a branch, a tag or a commit/,
    ],
    [{ policy: "POLICY", baseRef: "main:README" }, /^--base-ref main:README: must be a branch/],
    [
      { policy: "none.yaml", baseRef: "main" },
      /^--policy names none.yaml, which cannot be read|^--base-ref main/,
    ],
    [{ policy: "none/none.yaml", baseRef: "main" }, /^--base-ref main: there is no folder none$/],
  ])("%j is refused", (given, message) => {
    repository(T4, T4);
    const flags = { ...given, ...(given.policy === "POLICY" && { policy }) };
    const error = { code: "USAGE", ...(given.baseRef === "nothing" && { errorCode: "PP5013" }) };
    expect(() => readReviewPolicy(flags)).toThrow(expect.objectContaining(error) as Error);
    expect(() => readReviewPolicy(flags)).toThrow(message);
  });

  it("is refused where the file of the change or the base is wrong, by its line", () => {
    repository(T4, "alow: []\n");
    const flags = { policy, baseRef: "main" };
    expect(() => readReviewPolicy(flags)).toThrow(
      `${policy}:1: alow is an unknown property; did you mean "allow"?`,
    );
    writeFileSync(policy, T4);
    git(folder, "rm", "--quiet", "--cached", "access-policy.yaml");
    writeFileSync(join(folder, "base.yaml"), "alow: []\n");
    const base = { policy, policyBase: join(folder, "base.yaml") };
    expect(() => readReviewPolicy(base)).toThrow(`base.yaml:1: alow is an unknown property`);
  });
});
