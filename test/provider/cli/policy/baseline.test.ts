import { parsePolicy } from "../../../../provider/access/suppressions/policyDocument";
import type { ReviewReport } from "../../../../provider/access/report/report";
import { CommandChain } from "../../../support/commandChain";
import { same, state, step } from "../../../support/documents";
import { ending } from "../support";

const NOW = "2026-06-01T00:00:00Z";
const chain = new CommandChain();

const org = "a".repeat(40);
const group = state("Group", "acme", { name: "acme" }, { id: org });
/** A secret in plain text is a finding of each review. */
const login = (name: string, clientSecret: string, digit = "") =>
  state(
    "IdentityProvider",
    name,
    { parentUid: org, name, oidc: { issuer: "https://login.acme.example", clientId: "a", clientSecret } },
    digit === "" ? {} : { id: `${org}/${digit.repeat(16)}` },
  );
/** One is there and stays, one gets another secret, and one is new. */
const steps = [
  same(group),
  same(login("old", "canary", "1")),
  step("update", login("edited", "canary", "2"), login("edited", "other", "2")),
  step("create", undefined, login("made", "canary")),
];

const review = async (...argv: string[]) => {
  const preview = chain.write(
    "preview.json",
    JSON.stringify({ steps, changeSummary: { same: 2, update: 1, create: 1 } }),
  );
  const report = chain.path("review.json");
  const ended = await chain.run("review", preview, "--now", NOW, "-o", `json=${report}`, ...argv);
  return { ...ended, report: () => JSON.parse(chain.read("review.json")) as ReviewReport };
};

const ofSecrets = (findings: ReviewReport["findings"]) =>
  findings.flatMap(({ id, name }) => (id === "K4" ? [name] : [])).sort();

test("a baseline of a review accepts what was there before, and nothing that the change brings", async () => {
  const path = chain.path("baseline.yaml");
  const first = await review("--write-baseline", path);
  expect(first.code).toBe(5);
  expect(first.stderr).toContain(`1 exception added to ${path}, to 2026-09-30`);
  expect(first.stderr).toMatch(/not accepted: \d+ findings were not there before the change/);
  const text = chain.read("baseline.yaml");
  expect(parsePolicy(text).entries).toMatchObject([
    { rule: "K4", for: ["review"], reason: expect.stringContaining("not reviewed yet") as string },
  ]);
  expect(text).toMatch(/fingerprint: [0-9a-f]{32} # IdentityProvider old/);

  const next = await review("--policy", path);
  expect(next.code).toBe(5);
  expect(ofSecrets(next.report().suppressed)).toEqual(["old"]);
  expect(next.report().suppressed).toHaveLength(1);
  expect(ofSecrets(next.report().findings)).toEqual(["edited", "made"]);
  expect(next.report().policy).toMatchObject({ unused: [], expired: [] });

  // Where nothing is added, the file stays as a person has laid it out.
  const own = text.replace("reason: ", "reason:    ");
  chain.write("baseline.yaml", own);
  const again = await review("--write-baseline", path);
  expect(again.stderr).toContain("0 exceptions added");
  expect(chain.read("baseline.yaml")).toBe(own);
});

test("a baseline is written to standard output where the report goes elsewhere", async () => {
  const { stdout } = await review("--write-baseline", "-");
  expect(parsePolicy(stdout).entries).toHaveLength(1);
  const refused = await review("--write-baseline", "-", "-o", "text");
  expect(refused).toMatchObject({
    ...ending(2, "--write-baseline - and the report both go to standard output"),
    stdout: "",
  });
});
