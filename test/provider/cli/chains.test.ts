import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { generateProgram } from "../../../provider/access/adopt/program";
import type { Inventory } from "../../../provider/access/documents/inventory";
import { parseStateExport } from "../../../provider/access/documents/stateExport";
import { ChangedResources } from "../../../provider/access/drift/stateComparison";
import { renderers } from "../../../provider/access/report/render";
import type { DriftReport, ReviewReport, VerifyReport } from "../../../provider/access/report/report";
import { commands } from "../../../provider/cli/commands/list";
import { reportChanges } from "../../../provider/cli/commands/watch/watch";
import type { Props } from "../../../provider/fields/values";
import { handlersAt } from "../support/handlerStack";
import { exportText, pairsOf, previewText } from "../../../scripts/lib/documents.cjs";
import { CommandChain } from "../../support/commandChain";
import { clientOf } from "../support/server";
import { builtInRoles, randomOrganisation, small } from "../../support/organisation";
import { spreadOf } from "../../support/properties";
import { call, environmentOf } from "../../support/wire";
import { ending } from "./support";

/* What one command writes, the others take. Where the Pulumi CLI stands between, `test/engine/adopt.test.ts` has it. */

/** One resource of a program. */
interface ProgramResource {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly inputs: Props;
  /** What the provider returned to the engine. */
  readonly outputs?: Props;
}

/** A change of the program that `adopt` writes, with findings of several rules: it deletes, updates and creates. */
function changeOf(before: readonly ProgramResource[], root: string): ProgramResource[] {
  const isGone = before.findIndex(({ kind }) => kind === "RoleBinding");
  const claimMatch = { issuer: "https://token.actions.githubusercontent.com", subjectPattern: ".*" };
  const inputs = { parentUid: root, name: "anybody", claimMatch };
  return [
    ...before
      .filter((_, index) => index !== isGone)
      .map((one) =>
        one.kind === "Role" ? { ...one, inputs: { ...one.inputs, description: "changed" } } : one,
      ),
    { kind: "Identity", name: "anybody", uid: `${root}/${"c".repeat(16)}`, inputs },
  ];
}

/** Carries out a change at a server as the engine does, and answers what the program then manages. */
async function carryOut(
  emulator: Emulator,
  pairs: ReturnType<typeof pairsOf<ProgramResource>>,
): Promise<ProgramResource[]> {
  const client = clientOf(emulator);
  const managed: ProgramResource[] = [];
  for (const [old, now] of pairs) {
    const handlers = handlersAt((now ?? old)?.kind ?? "", client);
    if (now === undefined) await handlers.delete(old?.uid ?? "", old?.inputs ?? {});
    else if (old === undefined) {
      const { id, outs } = await handlers.create(now.inputs);
      managed.push({ ...now, uid: id, outputs: outs });
    } else {
      const outputs = old === now ? undefined : await handlers.update(old.uid, old.inputs, now.inputs);
      managed.push(outputs === undefined ? now : { ...now, outputs });
    }
  }
  return managed;
}

let emulator: Emulator;
let role: string;
const busy = createServer();
const chain = new CommandChain(undefined, undefined, () => environmentOf(emulator));

/** What words in capitals stand for. */
const values: Record<string, string> = { NOW: "2026-06-01T00:00:00Z" };
const wordsOf = (line: string): string[] => chain.wordsOf(line).map((word) => values[word] ?? word);

/** The commands that ran, with the arguments that they were given. */
const given = new Set<string>();
const run = (line: string) => {
  const [name = "", ...argv] = line.split(" ");
  for (const word of argv) given.add(`${name} ${word}`);
  return chain.run(...wordsOf(line));
};

/** Runs a command that must end with this code; returns what it printed. */
async function end(code: number, line: string): Promise<string> {
  const ended = await run(line);
  expect({ line, code: ended.code, stderr: ended.code === code ? "" : ended.stderr }).toEqual({
    line,
    code,
    stderr: "",
  });
  return ended.stdout;
}
const endJson = async (code: number, line: string): Promise<unknown> =>
  JSON.parse(await end(code, `${line} -o json`));
const read = (name: string): unknown => JSON.parse(chain.read(name));

const REVIEW = "review preview.json --now NOW";
const DRIFT = "drift --state state.json --now NOW";
const VERIFY = "verify review.json --inventory after.json --state applied.json";

beforeAll(async () => {
  const organisation = randomOrganisation(7, small, await builtInRoles());
  values["ROOT"] = organisation.root;
  emulator = await startEmulator({ seed: organisation.seed });
  await new Promise<void>((done) => busy.listen(0, "127.0.0.1", () => done()));
  values["BUSY"] = `127.0.0.1:${(busy.address() as AddressInfo).port}`;
  values["ISSUER"] = emulator.url;

  await end(0, "inventory --root ROOT -o json=inventory.json");
  const inventory = read("inventory.json") as Inventory;
  for (const kind of ["Identity", "Role"])
    values[kind.toUpperCase()] =
      inventory.objects.find((object) => object.kind === kind && object.uid.startsWith(organisation.root))
        ?.uid ?? "";
  const before = generateProgram({ inventory }).resources.map(
    ({ kind, name, uid, inputs }): ProgramResource => ({ kind, name, uid, inputs }),
  );
  const change = pairsOf<ProgramResource>(before, changeOf(before, organisation.root));
  chain.write("preview.json", previewText(change));
  chain.write("state.json", exportText(before));
  chain.write("other.json", exportText(before, "other"));
  const changed = await startEmulator({ seed: organisation.seed });
  chain.write("applied.json", exportText(await carryOut(changed, change)));
  const after = new CommandChain(changed, chain.folder);
  await after.succeed([0], ...wordsOf("inventory --root ROOT -o json=after.json"));
  await changed.close();
  await end(5, `${REVIEW} --inventory inventory.json -o json=review.json`);
  values["DIGEST"] = (read("review.json") as ReviewReport).digest ?? "";
  const made = { name: "by hand", capabilities: ["CAP_REPO_LIST"] };
  role = String((await call(emulator, "POST", `/iam/v2/roles/${organisation.root}`, made))["uid"]);
  await end(7, `${DRIFT} -o json=drift.json`);
  await end(0, `${VERIFY} --now NOW -o json=verify.json`);
});
afterAll(async () => {
  await emulator.close();
  await new Promise((done) => busy.close(done));
});

/** `watch` reads all that it is given before it listens: where it cannot listen, it has taken that. */
const watched = `watch --state state.json --issuer ISSUER --listen BUSY --group ROOT`;
async function expectWatched(line: string): Promise<void> {
  expect(await run(line)).toMatchObject(ending(2, /^[^\n]*cannot listen \(PP5010\)\n$/));
}

test.each<[number, string]>([
  [5, `${REVIEW} --before state.json`],
  [5, `${REVIEW} --inventory inventory.json --state other.json`],
  // It would vouch for what somebody has put back by hand.
  [2, `${REVIEW} --inventory inventory.json --state state.json`],
  [2, `${REVIEW} --state other.json`],
  [5, `${REVIEW} --self IDENTITY`],
  [5, `${REVIEW} --required-owner IDENTITY`],
  [7, `${DRIFT} --self IDENTITY`],
  [7, `${DRIFT} --required-owner IDENTITY`],
  [7, `${DRIFT} --root ROOT`],
  [0, "access --inventory inventory.json --state state.json --on ROOT"],
  [0, "access --preview preview.json"],
  [0, "adopt --root ROOT --out by.root"],
  [0, "adopt --inventory inventory.json --out by.inventory"],
  [0, "adopt --inventory inventory.json --state state.json --out by.state"],
  [0, "adopt --inventory inventory.json --out by.uid --only ROLE"],
  [0, "init by.inventory --ci github"],
])("%i is the end of %s", async (code, line) => {
  await end(code, line);
});

test("the report of a review is verified after the update, by its digest", async () => {
  await end(0, `${VERIFY} --digest DIGEST`);
  await end(
    2,
    `${VERIFY} --digest ${values["DIGEST"]?.replace(/^./, (first) => (first === "0" ? "1" : "0"))}`,
  );
});

test("without the update nothing of what was announced is there, and an inventory from before is refused", async () => {
  const { code, stderr } = await run("verify review.json --inventory inventory.json");
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/not after the inventory of the review .*PP6004/),
  ]);
  await end(0, "inventory --root ROOT -o json=unchanged.json");
  const report = await endJson(5, "verify review.json --inventory unchanged.json");
  expect(report).toMatchObject({ grants: [] });
  expect((report as VerifyReport).missing).not.toEqual([]);
  await end(5, "verify review.json --root ROOT --state state.json");
});

test.each(["review.json", "drift.json", "verify.json", "watch.json"])("%s is posted", async (name) => {
  const touched = new ChangedResources();
  touched.add({ name: "iam.roles.created", subject: role });
  const state = parseStateExport(chain.read("state.json"), "state.json");
  const report = await reportChanges(clientOf(emulator), touched, [state]);
  expect(report.findings).not.toEqual([]);
  chain.write("watch.json", renderers.json(report, {}));
  expect(await run(`post ${name} --to github-issue --dry-run`)).toMatchObject(
    ending(0, "this would be posted"),
  );
});

test("the names in an answer of access are asked for", async () => {
  interface Answer {
    readonly access: { grant: { subject: { displayName: string }; role: { capabilities: string[] } } }[];
  }
  const access = "access --inventory inventory.json";
  const all = ((await endJson(0, access)) as Answer).access.map(({ grant }) => grant);
  const [who = "", can = ""] = [
    all[0]?.subject.displayName,
    all.flatMap(({ role: { capabilities } }) => capabilities)[0],
  ];
  values["SUBJECT"] = who;
  for (const more of ["--who SUBJECT", "--who IDENTITY", `--can ${can}`])
    expect(((await endJson(0, `${access} ${more}`)) as Answer).access).not.toEqual([]);
});

test("an inventory makes a review complete, and is compared with states and with an older one", async () => {
  expect(await endJson(5, `${REVIEW} --inventory inventory.json`)).toMatchObject({
    complete: true,
    expected: { root: values["ROOT"] },
  });
  const { differences } = (await endJson(7, `${DRIFT} --inventory inventory.json`)) as DriftReport;
  // Who signed in is in no program.
  expect(differences.filter(({ kind }) => kind !== "unmanaged")).toEqual([]);
  await end(0, "inventory --root ROOT -o json=later.json");
  const since = await endJson(7, "drift --since inventory.json --inventory later.json --now NOW");
  expect((since as DriftReport).differences).toMatchObject([{ uid: role, kind: "unmanaged" }]);
});

describe("the policy file that is written by", () => {
  /** What a person writes into an entry that waits for one. */
  const completed = (entry = ""): string =>
    entry.replace('reason: ""', "reason: agreed").replace('acceptedBy: ""', "acceptedBy: grace");
  const writers: Readonly<Record<string, () => Promise<unknown>>> = {
    "the answers of drift": () => {
      const entries = (read("drift.json") as DriftReport).differences.map(({ answers }) => answers.suppress);
      return Promise.resolve(chain.write("policy.yaml", `allow:\n${entries.map(completed).join("\n")}\n`));
    },
    "the examples of explain": async () => {
      const { rules } = (await endJson(0, "explain")) as { rules: { example: string }[] };
      const entries = rules.map(({ example }) => example.replace(/^allow:\n/, ""));
      return chain.write("policy.yaml", `allow:\n${entries.join("\n")}\n`);
    },
    "review --write-baseline": () => {
      chain.write("policy.yaml", "allow: []\n");
      return run(`${REVIEW} --write-baseline policy.yaml`);
    },
    "drift --write-baseline": () => {
      chain.write("policy.yaml", "allow: []\n");
      return run(`${DRIFT} --write-baseline policy.yaml`);
    },
  };

  const tried = spreadOf(Object.entries(writers), 2, 0);
  test.each(tried)("%s is read by each command that takes one", async (_, write) => {
    await write();
    for (const line of [
      `${REVIEW} --policy policy.yaml --policy-base policy.yaml`,
      `${REVIEW} --write-baseline policy.yaml`,
      `${DRIFT} --policy policy.yaml`,
      `${DRIFT} --write-baseline policy.yaml`,
      "access --inventory inventory.json --policy policy.yaml",
    ]) {
      const { code, stderr } = await run(line);
      expect({ line, code, stderr: [0, 5, 7].includes(code) ? "" : stderr }).toEqual({
        line,
        code,
        stderr: "",
      });
    }
    await expectWatched(`${watched} --policy policy.yaml`);
  });
});

/** Code that a person writes, and what the Pulumi CLI or Terraform writes: they have tests of their own. */
const ELSEWHERE = / --(rules|plan|from-terraform|data)$/;

test("each document, uid or name that a command takes was given to it here", () => {
  const kinds = ["FILE", "UID", "KIND|UID", "GROUP", "HEX", "SUBJECT", "CAP_…"];
  const described = commands.flatMap(({ name, load }) =>
    Object.entries(load().description.flags).flatMap(([flag, { value = "" }]) =>
      kinds.includes(value) ? [`${name} --${flag}`] : [],
    ),
  );
  expect(described.filter((input) => !given.has(input) && !ELSEWHERE.test(input))).toEqual([]);
});
