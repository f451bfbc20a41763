import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { startEmulator } from "../../../../emulator";
import type { Emulator } from "../../../../emulator";
import { generateProgram } from "../../../../provider/access/adopt/program";
import type { Inventory } from "../../../../provider/access/documents/inventory";
import { ChangedResources } from "../../../../provider/access/drift/stateComparison";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { renderers } from "../../../../provider/access/report/render";
import type { DriftReport, ReviewReport, VerifyReport } from "../../../../provider/access/report/report";
import type { Props } from "../../../../provider/fields/values";
import { reportChanges } from "../../../../provider/cli/commands/watch/watch";
import { handlersFor } from "../../../../provider/lifecycle/handlers";
import { exportText, pairsOf, previewText } from "../../../../scripts/lib/documents.cjs";
import { CommandChain } from "../../../support/commandChain";
import { clientOf } from "../../../support/driftMatrix";
import { builtInRoles, randomOrganisation, small } from "../../../support/organisation";
import { call } from "../../../support/wire";
import { specOf } from "../../support/samples";
import { describedDocuments, inputs, needsPulumi, outputs, pairs } from "./documents";

test("the table of outputs and inputs lists each one of every command", () => {
  expect(Object.keys(outputs).sort()).toEqual(describedDocuments().outputs);
  expect(Object.keys(inputs).sort()).toEqual(describedDocuments().inputs);
});

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
  return [
    ...before
      .filter((_, index) => index !== isGone)
      .map((one) =>
        one.kind === "Role" ? { ...one, inputs: { ...one.inputs, description: "changed" } } : one,
      ),
    {
      kind: "Identity",
      name: "anybody",
      uid: `${root}/${"c".repeat(16)}`,
      inputs: { parentUid: root, name: "anybody", claimMatch },
    },
  ];
}

/** Carries out a change at a server as the engine does, and answers what the program then manages. */
async function carryOut(
  emulator: Emulator,
  pairs: ReturnType<typeof pairsOf<ProgramResource>>,
): Promise<ProgramResource[]> {
  const client = clientOf(emulator);
  const context = { client: () => client, now: Date.now, sleep: () => Promise.resolve() };
  const managed: ProgramResource[] = [];
  for (const [old, now] of pairs) {
    const handlers = handlersFor(specOf((now ?? old)?.kind ?? ""), context);
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

const NOW = "2026-06-01T00:00:00Z";

describe("the output of one command is the input of the other:", () => {
  let emulator: Emulator;
  let chain: CommandChain;
  let busy: Server;
  let root: string;
  let inventory: Inventory;
  let role: string;

  const path = (name: string): string => chain.path(name);
  const read = (name: string): unknown => JSON.parse(chain.read(name));

  /** Something of each kind of document, as the commands write it. */
  beforeAll(async () => {
    const organisation = randomOrganisation(7, small, await builtInRoles());
    ({ root } = organisation);
    emulator = await startEmulator({ seed: organisation.seed });
    chain = new CommandChain(emulator);
    busy = createServer();
    await new Promise<void>((done) => busy.listen(0, "127.0.0.1", () => done()));

    await chain.succeed([0], "inventory", "--root", root, "-o", `json=${path("inventory.json")}`);
    inventory = read("inventory.json") as Inventory;
    const before = generateProgram({ inventory }).resources.map(
      ({ kind, name, uid, inputs }): ProgramResource => ({ kind, name, uid, inputs }),
    );
    const change = pairsOf<ProgramResource>(before, changeOf(before, root));
    chain.write("preview.json", previewText(change));
    chain.write("state.json", exportText(before));
    const changed = await startEmulator({ seed: organisation.seed });
    chain.write("applied.json", exportText(await carryOut(changed, change)));
    const after = new CommandChain(changed, chain.folder);
    await after.succeed([0], "inventory", "--root", root, "-o", `json=${path("after.json")}`);
    await changed.close();
    const review = ["review", path("preview.json"), "--inventory", path("inventory.json"), "--now", NOW];
    await chain.succeed([5], ...review, "-o", `json=${path("review.json")}`);
    const made = { name: "by hand", capabilities: ["CAP_REPO_LIST"] };
    role = String((await call(emulator, "POST", `/iam/v2/roles/${root}`, made))["uid"]);
    await chain.succeed([7], ...drift(), "-o", `json=${path("drift.json")}`);
  });
  afterAll(async () => {
    await emulator.close();
    await new Promise((done) => busy.close(done));
  });

  const drift = (): string[] => ["drift", "--state", path("state.json"), "--now", NOW];
  const review = (): string[] => ["review", path("preview.json"), "--now", NOW];
  const afterUpdate = (): string[] => ["--inventory", path("after.json"), "--state", path("applied.json")];

  /** `watch` reads all that it is given before it listens: where it cannot listen, it has taken that. */
  async function expectWatched(...argv: string[]): Promise<void> {
    const { port } = busy.address() as AddressInfo;
    const listen = ["--issuer", emulator.url, "--listen", `127.0.0.1:${port}`];
    const { code, stderr } = await chain.run("watch", "--state", path("state.json"), ...listen, ...argv);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/^[^\n]*cannot listen \(PP5010\)\n$/),
    });
  }

  async function expectPosted(name: string): Promise<void> {
    const { code, stderr } = await chain.run("post", path(name), "--to", "github-issue", "--dry-run");
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("this would be posted") });
  }

  /** A policy file that the first command writes. */
  const policies: Readonly<Record<string, () => Promise<string>>> = {
    "drift --output json": () => {
      const { differences } = read("drift.json") as DriftReport;
      const entries = differences.flatMap(({ answers }) => completed(answers.suppress));
      expect(entries).not.toEqual([]);
      return Promise.resolve(chain.write("policy.yaml", `allow:\n${entries.join("\n")}\n`));
    },
    "review --write-baseline": async () => {
      const argv = [...review(), "--write-baseline", path("of-review.yaml")];
      await chain.succeed([0, 4, 5], ...argv);
      return path("of-review.yaml");
    },
    "drift --write-baseline": async () => {
      await chain.succeed([0, 7], ...drift(), "--write-baseline", path("baseline.yaml"));
      return path("baseline.yaml");
    },
    "explain --output json": async () => {
      const { rules } = JSON.parse(await chain.succeed([0], "explain", "-o", "json")) as {
        rules: { example: string }[];
      };
      const entries = rules.map(({ example }) => example.replace(/^allow:\n/, ""));
      return chain.write("examples.yaml", `allow:\n${entries.join("\n")}\n`);
    },
  };

  const takers: Readonly<Record<string, (policy: string) => Promise<unknown>>> = {
    "review --policy": (policy) => chain.succeed([0, 5], ...review(), "--policy", policy),
    "review --policy-base": (policy) =>
      chain.succeed([0, 5], ...review(), "--policy", policy, "--policy-base", policy),
    "review --write-baseline": (policy) => chain.succeed([0, 5], ...review(), "--write-baseline", policy),
    "drift --policy": (policy) => chain.succeed([0, 7], ...drift(), "--policy", policy),
    "drift --write-baseline": (policy) => chain.succeed([0, 7], ...drift(), "--write-baseline", policy),
    "access --policy": (policy) =>
      chain.succeed([0], "access", "--inventory", path("inventory.json"), "--policy", policy),
    "watch --policy": (policy) => expectWatched("--group", root, "--policy", policy),
  };

  /** The root group that a command names. */
  const groups: Readonly<Record<string, () => Promise<string>>> = {
    "doctor --output json": async () => {
      const { stdout } = await chain.run("doctor", "-o", "json");
      const { checks } = JSON.parse(stdout) as { checks: { groups?: { uid: string }[] }[] };
      return checks.flatMap((check) => check.groups ?? [])[0]?.uid ?? "";
    },
    "whoami --output json": async () => {
      const { stdout } = await chain.run("whoami", "-o", "json");
      const { rootGroups } = JSON.parse(stdout) as { rootGroups: { uid: string }[] };
      return rootGroups[0]?.uid ?? "";
    },
  };

  const groupTakers: Readonly<Record<string, (group: string) => Promise<unknown>>> = {
    "inventory --root": (group) => chain.succeed([0], "inventory", "--root", group),
    "drift --root": (group) => chain.succeed([7], ...drift(), "--root", group),
    "verify --root": (group) =>
      chain.succeed([4, 5], "verify", path("review.json"), "--root", group, "--state", path("state.json")),
    "access --on": (group) =>
      chain.succeed([0], "access", "--inventory", path("inventory.json"), "--on", group),
    "adopt --root": (group) => chain.succeed([0], "adopt", "--root", group, "--out", path("by-root")),
    "watch --group": (group) => expectWatched("--group", group),
  };

  const rulesOf = (name: string): string[] => {
    const { findings } = read(name) as ReviewReport;
    return [...new Set(findings.map(({ id }) => id).filter((id) => /^[A-Z]/.test(id)))];
  };
  const explain = (rules: readonly string[]): Promise<string> => chain.succeed([0], "explain", ...rules);

  const accessAnswer = async () => {
    const text = await chain.succeed([0], "access", "--inventory", path("inventory.json"), "-o", "json");
    return JSON.parse(text) as {
      access: { grant: { subject: { displayName: string }; role: { capabilities: string[] } } }[];
    };
  };
  const ask = async (flag: string, value: string): Promise<void> => {
    const argv = ["access", "--inventory", path("inventory.json"), flag, value, "-o", "json"];
    const { access } = JSON.parse(await chain.succeed([0], ...argv)) as { access: unknown[] };
    expect(access).not.toEqual([]);
  };
  const uidOf = (kind: string): string =>
    inventory.objects.find((object) => object.kind === kind && object.uid.startsWith(root))?.uid ?? "";

  const cases: Record<string, () => Promise<unknown>> = {
    "review --output json -> verify <review.json>": async () => {
      const argv = [...afterUpdate(), "--now", NOW];
      await chain.succeed([0], "verify", path("review.json"), ...argv, "-o", `json=${path("verify.json")}`);
    },
    "review --output json -> verify --digest": async () => {
      const { digest = "" } = read("review.json") as ReviewReport;
      const argv = ["verify", path("review.json"), ...afterUpdate(), "--digest"];
      await chain.succeed([0], ...argv, digest);
      await chain.succeed(
        [2],
        ...argv,
        digest.replace(/^./, (first) => (first === "0" ? "1" : "0")),
      );
    },
    "review --output json -> explain <RULE>": () => explain(rulesOf("review.json")),
    "drift --output json -> explain <RULE>": () => explain(rulesOf("drift.json")),
    "explain --output json -> explain <RULE>": async () => {
      const { rules } = JSON.parse(await chain.succeed([0], "explain", "-o", "json")) as {
        rules: { id: string; name: string }[];
      };
      await explain(rules.flatMap(({ id, name }) => [id, name]));
    },
    "review --output json -> post <report.json>": () => expectPosted("review.json"),
    "drift --output json -> post <report.json>": () => expectPosted("drift.json"),
    "verify --output json -> post <report.json>": async () => {
      await cases["review --output json -> verify <review.json>"]?.();
      await expectPosted("verify.json");
    },
    "watch --output json -> post <report.json>": async () => {
      const touched = new ChangedResources();
      touched.add({ name: "iam.roles.created", subject: role });
      const state = parseStateExport(chain.read("state.json"), "state.json");
      const report = await reportChanges(clientOf(emulator), touched, [state]);
      expect(report.findings).not.toEqual([]);
      chain.write("watch.json", renderers.json(report, {}));
      await expectPosted("watch.json");
    },
    "access --output json -> access --who": async () => {
      const { access } = await accessAnswer();
      await ask("--who", access[0]?.grant.subject.displayName ?? "");
    },
    "access --output json -> access --can": async () => {
      const { access } = await accessAnswer();
      await ask("--can", access.flatMap(({ grant }) => grant.role.capabilities)[0] ?? "");
    },
    "inventory --output json -> review --inventory": async () => {
      const text = await chain.succeed([5], ...review(), "--inventory", path("inventory.json"), "-o", "json");
      expect(JSON.parse(text)).toMatchObject({ complete: true, expected: { root } });
    },
    "inventory --output json -> review --self": () =>
      chain.succeed([5], ...review(), "--self", uidOf("Identity")),
    "inventory --output json -> review --required-owner": () =>
      chain.succeed([5], ...review(), "--required-owner", uidOf("Identity")),
    "inventory --output json -> drift --self": () =>
      chain.succeed([7], ...drift(), "--self", uidOf("Identity")),
    "inventory --output json -> drift --required-owner": () =>
      chain.succeed([7], ...drift(), "--required-owner", uidOf("Identity")),
    "inventory --output json -> verify --inventory": async () => {
      const stale = await chain.run("verify", path("review.json"), "--inventory", path("inventory.json"));
      expect(stale).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/not after the inventory of the review .*PP6004/) as string,
      });
      await chain.succeed([0], "inventory", "--root", root, "-o", `json=${path("unchanged.json")}`);
      const argv = ["verify", path("review.json"), "--inventory", path("unchanged.json"), "-o", "json"];
      // Without the update nothing of what was announced is there.
      const report = JSON.parse(await chain.succeed([4, 5], ...argv)) as VerifyReport;
      expect(report.grants).toEqual([]);
      expect(report.missing).not.toEqual([]);
    },
    "inventory --output json -> access --inventory": () => accessAnswer(),
    "inventory --output json -> drift --inventory": async () => {
      const text = await chain.succeed([7], ...drift(), "--inventory", path("inventory.json"), "-o", "json");
      // Who signed in is in no program.
      const { differences } = JSON.parse(text) as DriftReport;
      expect(differences.map(({ kind }) => kind).filter((kind) => kind !== "unmanaged")).toEqual([]);
    },
    "inventory --output json -> drift --since": async () => {
      await chain.succeed([0], "inventory", "--root", root, "-o", `json=${path("later.json")}`);
      const argv = [
        "drift",
        "--since",
        path("inventory.json"),
        "--inventory",
        path("later.json"),
        "--now",
        NOW,
      ];
      const { differences } = JSON.parse(await chain.succeed([7], ...argv, "-o", "json")) as DriftReport;
      expect(differences.map(({ uid, kind }) => [uid, kind])).toEqual([[role, "unmanaged"]]);
    },
    "adopt --out -> init <DIR>": async () => {
      await chain.succeed([0], "adopt", "--inventory", path("inventory.json"), "--out", path("for-init"));
      return await chain.succeed([0], "init", path("for-init"), "--ci", "github");
    },
    "inventory --output json -> adopt --inventory": () =>
      chain.succeed([0], "adopt", "--inventory", path("inventory.json"), "--out", path("by-inventory")),
    "inventory --output json -> adopt --only": () => adoptOnly("one-of-inventory", uidOf("Role")),
    "inventory --output json -> access --who": () => ask("--who", uidOf("Identity")),
    "emulator --data -> emulator --data": async () => {
      const dataFile = path("data.json");
      const first = await startEmulator({ dataFile });
      const { uid } = await call(first, "POST", "/iam/v2/groups", { name: "kept" });
      await first.close();
      const second = await startEmulator({ dataFile });
      const { groups: kept } = await call(second, "GET", "/iam/v2/groups?name=kept");
      await second.close();
      expect(kept).toMatchObject([{ uid }]);
    },
  };

  const adoptOnly = (folder: string, only: string): Promise<string> => {
    const argv = ["adopt", "--inventory", path("inventory.json"), "--out", path(folder), "--only", only];
    return chain.succeed([0], ...argv, "-o", "json");
  };

  /** What tests a pair: its own case, or what is the same for all pairs with such a document. */
  function caseOf(pair: string): (() => Promise<unknown>) | undefined {
    const [output = "", input = ""] = pair.split(" -> ");
    const [policy, group] = [policies[output], groups[output]];
    const [takePolicy, takeGroup] = [takers[input], groupTakers[input]];
    if (policy && takePolicy) return async () => takePolicy(await policy());
    if (group && takeGroup) return async () => takeGroup(await group());
    return cases[pair];
  }

  test.each(pairs.filter((pair) => !needsPulumi(pair)))("%s", async (pair) => {
    const run = caseOf(pair);
    if (run === undefined) throw new Error("this pair has no test: write one into `cases`");
    await run();
  });
});

/** What a person writes into an entry that waits for one. */
function completed(entry: string | undefined): string[] {
  if (entry === undefined) return [];
  return [entry.replace('reason: ""', "reason: agreed").replace('acceptedBy: ""', "acceptedBy: grace")];
}
