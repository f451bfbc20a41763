import { randomBytes } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import type { Report } from "../../provider/access/report/report";
import { main as reviewMain } from "../../provider/cli/commands/review";
import { main as verifyMain } from "../../provider/cli/commands/verify";
import { takeInventory } from "../../provider/inventory/takeInventory";
import { accessAt, exitCode, FOLDER, forEachAtOnce, lostIn, policyFile } from "./corpus";
import type { Base, HostileProgram, Outcome } from "./corpus";
import { clientOf } from "../provider/support/server";
import { ROOT, WRITES_STATE_ONCE } from "../support/engine";
import type { Run, StateResource, Stack } from "../support/engine";
import { oneIn } from "../support/properties";
import { grantsAtServer } from "../support/serverGrants";

interface StepState {
  readonly id?: string;
  readonly inputs?: object;
}

interface Step {
  readonly op: string;
  readonly urn: string;
  readonly oldState?: StepState;
  readonly newState?: StepState;
}

interface Diagnostic {
  readonly urn?: string;
}

/** What `pulumi preview --json` prints, as far as it is taken apart here. */
interface Preview {
  readonly steps: readonly Step[];
  readonly diagnostics?: readonly Diagnostic[];
}

/** What `--save-plan` writes, as far as it is taken apart here. */
interface Plan {
  readonly resourcePlans: Readonly<Record<string, unknown>>;
}

/** What `pulumi stack export` prints, as far as it is taken apart here. */
interface Export {
  readonly deployment: { readonly resources: readonly StateResource[] };
}

/** One program of a batch, with an organisation of its own at the server. */
interface Part {
  readonly program: HostileProgram;
  readonly ids: Readonly<Record<string, string>>;
  /** The resources of the honest program that this one declares. */
  readonly only: readonly string[];
}

const nameOf = (urn: string): string => urn.slice(urn.lastIndexOf("::") + 2);
const kindOf = ({ type }: StateResource): string => type.slice(type.lastIndexOf(":") + 1);

/** What a binding refers to that any program may add, and what the policy of all is about. */
const ALWAYS = ["team", "deployer", "reader", "sandbox"];

/**
 * The resources of the honest program without which a hostile one would be another: those that it names, with all that
 * refers to what it edits, and all that these refer to. A run of the engine takes as long as there are resources.
 */
function neededBy({ text, runsAlone }: HostileProgram, honest: readonly StateResource[]): readonly string[] {
  const names = honest.map(({ urn }) => nameOf(urn));
  if (runsAlone) return names;
  const code = text.replaceAll(/^\/\/.*$/gm, "");
  const isFound = (name: string, before: string) => new RegExp(`${before}${name}(?![\\w-])`, "i").test(code);
  const edited = new Set(names.filter((name) => isFound(name, "(?<![\\w.-])")));
  const needed = new Set([...ALWAYS, ...names.filter((name) => isFound(name, "(?<![\\w-])"))]);
  const referencesOf = ({ dependencies = [], deletedWith = [] }: StateResource): string[] =>
    [dependencies as string[], deletedWith as string | string[]].flat().map(nameOf);
  for (let size = 0; size < needed.size + edited.size;) {
    size = needed.size + edited.size;
    for (const resource of honest) {
      const [name, references] = [nameOf(resource.urn), referencesOf(resource)];
      const isOfEdited = references.some((one) => edited.has(one));
      // It owns all bindings of its group.
      const isWhole =
        kindOf(resource) === "GroupAccess" &&
        references.some((one) => needed.has(one) && name === `${one}-access`);
      if (isOfEdited) edited.add(name);
      if (isOfEdited || isWhole) needed.add(name);
      if (needed.has(name)) for (const one of references) needed.add(one);
    }
  }
  return names.filter((name) => needed.has(name));
}

/** An object in the file of a server. */
interface Held {
  readonly kind: string;
  readonly uid: string;
}

/** A program that runs alone may depend on whole names. */
const prefixOf = ({ program: { id, runsAlone } }: Part): string => (runsAlone ? "" : `${id}.`);

/** The stack and the engine's own providers are of all programs. */
const isShared = (urn: string): boolean => /::pulumi:(pulumi:Stack|providers:[^:]+)::/.test(urn);

/** Whether a resource is of one of the programs, or of all. */
const isOf = (parts: readonly Part[]) => {
  const names = parts.map((part) => `::${prefixOf(part)}`);
  return (urn: string): boolean => isShared(urn) || names.some((name) => urn.includes(name));
};

/** The preview as it is of one program alone: the steps of its resources, and what all programs share. */
function previewOf(part: Part, { steps, diagnostics = [], ...more }: Preview): Preview {
  const isOwn = isOf([part]);
  const own = steps.filter(({ urn }) => isOwn(urn));
  const changeSummary: Record<string, number> = {};
  for (const { op } of own) changeSummary[op] = (changeSummary[op] ?? 0) + 1;
  return {
    ...more,
    steps: own,
    diagnostics: diagnostics.filter(({ urn }) => urn === undefined || isOwn(urn)),
    ...{ changeSummary },
  };
}

function planOf(parts: readonly Part[], { resourcePlans, ...more }: Plan): Plan {
  const isOwn = isOf(parts);
  return {
    ...more,
    resourcePlans: Object.fromEntries(Object.entries(resourcePlans).filter(([urn]) => isOwn(urn))),
  };
}

/** A preview as a process that outlives it can edit it, by what it says then. */
function forgePreviews({ steps, ...more }: Preview): Readonly<Record<string, Preview>> {
  const forge = (edit: (step: Step) => readonly object[]): Preview => ({
    ...more,
    steps: steps.flatMap((step) => (isShared(step.urn) ? [step] : edit(step))) as Step[],
  });
  /** Of what was there before. */
  const forgeOld = (edit: (step: Step & { readonly oldState: StepState }) => readonly object[]): Preview =>
    forge((step) =>
      step.oldState === undefined || step.op === "refresh"
        ? [step]
        : edit({ ...step, oldState: step.oldState }),
    );
  const refresh = (urn: string, oldState: StepState, newState = oldState) => ({
    ...{ op: "refresh", urn, oldState, newState },
  });
  return {
    "what is created is there already, and what is changed was so before": forge((step) => {
      const { op, urn, newState, oldState } = step;
      const inputs = newState?.inputs;
      if (op === "update") return [{ ...step, oldState: { ...oldState, inputs, outputs: inputs } }];
      if (op !== "create") return [step];
      const id = newState?.id ?? randomBytes(20).toString("hex");
      const there = { ...newState, id, outputs: { ...inputs, uid: id } };
      return [step, refresh(urn, there)];
    }),
    "a refresh found what the change makes of it": forgeOld((step) => {
      const { urn, newState, oldState } = step;
      const inputs = newState && { inputs: newState.inputs };
      const found = { ...oldState, ...inputs, id: randomBytes(20).toString("hex") } as StepState;
      return [refresh(urn, oldState, found), { ...step, oldState: found }];
    }),
    "what goes stays, and what is ignored was ignored": forgeOld((step) => {
      const ignoreChanges = (step.newState as { ignoreChanges?: string[] } | undefined)?.ignoreChanges;
      const kept = { retainOnDelete: true, protect: false, ignoreChanges };
      return [{ ...step, oldState: { ...step.oldState, ...kept } }];
    }),
    "what goes is the rest of an earlier replacement": forgeOld((step) => {
      const { urn, oldState } = step;
      return [refresh(urn, oldState), { ...step, oldState: { ...oldState, delete: true, external: true } }];
    }),
    "a decoy has the true states, and the old ones are only read": forgeOld((step) => {
      const { urn, newState, oldState } = step;
      const inputs = newState?.inputs ?? oldState.inputs;
      return [
        refresh(`${urn}-decoy`, oldState),
        { ...step, oldState: { ...oldState, inputs, external: true } },
      ];
    }),
    "all is only read": forge((step) => [
      step.newState === undefined ? step : { ...step, newState: { ...step.newState, external: true } },
    ]),
  };
}

function exportOf(part: Part, { deployment, ...more }: Export): Export {
  const isOwn = isOf([part]);
  return {
    ...more,
    deployment: { ...deployment, resources: deployment.resources.filter(({ urn }) => isOwn(urn)) },
  };
}

/** Writes the program of each part into a folder of its own. */
function writePrograms(stack: Stack, parts: readonly Part[]): void {
  for (const part of parts) {
    const { program, ids, only } = part;
    mkdirSync(join(stack.directory, program.id));
    stack.files({
      [`${program.id}/base.js`]: readFileSync(join(FOLDER, "base.js"), "utf8"),
      [`${program.id}/ids.json`]: JSON.stringify({ ...ids, only, prefix: prefixOf(part) }),
      [`${program.id}/program.js`]: program.text,
    });
  }
}

const readIfThere = (file: string): unknown =>
  existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;

const runHostile = (parts: readonly Part[]) => ({
  "index.js": parts.map(({ program: { id } }) => `require("./${id}/program");\n`).join(""),
});

/** A stack of honest organisations, and what the server holds of them in a file. */
interface HonestState {
  readonly parts: readonly Part[];
  readonly stack: Stack;
  readonly dataFile: string;
  readonly token: string;
}

/** The honest organisation as often as there are programs: each copy has uids of its own, and a prefix for its names. */
function copyHonest(base: Base, programs: readonly HostileProgram[], folder: string): HonestState {
  const { root = "" } = base.ids;
  const honest = Object.values(base.stack.recorded());
  const copyOf = <T>(value: T, uid: string): T =>
    JSON.parse(JSON.stringify(value).replaceAll(root, uid)) as T;
  const parts = programs.map((program): Part => {
    const ids = copyOf(base.ids, randomBytes(20).toString("hex"));
    return { program, ids, only: neededBy(program, honest) };
  });
  const isDeclared = ({ only }: Part, { urn }: StateResource) => only.includes(nameOf(urn));
  const copied = <T>(part: Part, value: T): T => copyOf(value, part.ids["root"] ?? "");

  const { resources, ...more } = JSON.parse(readFileSync(base.dataFile, "utf8")) as { resources: Held[] };
  /** What the server holds of resources that a part does not declare, and in groups of them, it does not hold for it. */
  const heldFor = (part: Part): Held[] => {
    const left = honest.filter((one) => !isDeclared(part, one) && kindOf(one) !== "GroupAccess");
    const gone = new Set(left.map((one) => `${kindOf(one)} ${one.id}`));
    const groups = left.filter((one) => kindOf(one) === "Group").map(({ id }) => `${id}/`);
    const stays = ({ kind, uid }: Held) =>
      !gone.has(`${kind} ${uid}`) && !groups.some((group) => uid.startsWith(group));
    return copied(part, resources.filter(stays));
  };
  const dataFile = join(folder, "organisations.json");
  writeFileSync(dataFile, JSON.stringify({ ...more, resources: parts.flatMap(heldFor) }));

  const stack = base.stack.copyFor({ url: "", token: base.token });
  stack.editState((recorded) => [
    ...recorded.filter(({ urn }) => isShared(urn)),
    ...parts.flatMap((part) => {
      const own = JSON.stringify(recorded.filter((one) => !isShared(one.urn) && isDeclared(part, one)));
      const renamed = own.replace(/::pulumi-nodejs:dynamic\/platform:\w+::/g, `$&${prefixOf(part)}`);
      return copied(part, JSON.parse(renamed) as StateResource[]);
    }),
  ]);
  writePrograms(stack, parts);
  return { parts, stack, dataFile, token: base.token };
}

/** Hostile programs in one stack, of which each is judged by its own resources and its own organisation. */
class Batch {
  private constructor(
    private readonly honest: HonestState,
    private readonly folder: string,
    private readonly emulator: Emulator,
    private readonly stack: Stack,
  ) {}

  static async run(base: Base, programs: readonly HostileProgram[]): Promise<ReadonlyMap<string, Outcome>> {
    const folder = mkdtempSync(join(base.folder, "batch-"));
    const honest = copyHonest(base, programs, folder);
    try {
      return await Batch.at(honest, folder, (emulator, stack) =>
        new Batch(honest, folder, emulator, stack).outcomes(),
      );
    } finally {
      honest.stack.dispose();
    }
  }

  /** Runs `body` with a copy of the honest state and of what the server holds. */
  private static async at<T>(
    { dataFile, token, stack }: HonestState,
    folder: string,
    body: (emulator: Emulator, copy: Stack) => Promise<T>,
  ): Promise<T> {
    const own = join(mkdtempSync(join(folder, "copy-")), "organisations.json");
    copyFileSync(dataFile, own);
    const emulator = await startEmulator({ dataFile: own, token });
    const copy = stack.copyFor({ url: emulator.url, token, env: WRITES_STATE_ONCE });
    try {
      return await body(emulator, copy);
    } finally {
      await emulator.close();
      copy.dispose();
    }
  }

  private get isAlone(): boolean {
    return this.honest.parts.every(({ program }) => program.runsAlone);
  }

  private path({ program }: Part, name: string): string {
    return join(this.folder, `${program.id}-${name}`);
  }

  private async outcomes(): Promise<ReadonlyMap<string, Outcome>> {
    const { parts } = this.honest;
    const preview = await this.preview();
    const outcomes = new Map<string, Outcome>();
    for (const part of parts) outcomes.set(part.program.id, await this.review(part, preview));
    const plan = (readIfThere(join(this.stack.directory, "plan.json")) ?? { resourcePlans: {} }) as Plan;
    for (const [index, part] of parts.entries()) {
      const { id, runsAlone } = part.program;
      const outcome = outcomes.get(id);
      if (outcome && outcome.review !== 0 && !runsAlone) {
        const forgedPreviews = await this.reviewForged(part, preview, plan, index);
        outcomes.set(id, { ...outcome, forgedPreviews });
      }
    }
    const isApplied = ({ program }: Part) =>
      (program.runsAlone || program.caughtBy !== "review") && outcomes.get(program.id)?.review === 0;
    const applied = parts.filter(isApplied);
    const bound = applied.filter(({ program }) => program.isUpdatedAlone && program.plan === "refuses");
    const refused = await this.refusedByPlan(bound, plan);
    const held = applied.filter(({ program }) => program.plan === "accepts");
    const free = applied.filter(({ program }) => program.plan !== "accepts");
    const packed = await this.holdToReport(
      parts.filter(({ program }) => program.isUpdatedAlone && program.approvedReport !== undefined),
    );
    for (const outcome of [
      ...(await this.applyAndVerify(held, outcomes, plan)),
      ...(await this.applyAndVerify(free, outcomes)),
    ]) {
      const planRefuses = refused.get(outcome.id);
      outcomes.set(outcome.id, {
        ...outcome,
        ...(planRefuses === undefined ? {} : { planRefuses }),
        ...(packed.has(outcome.id) ? { held: packed.get(outcome.id) } : {}),
      });
    }
    return outcomes;
  }

  private async preview(): Promise<Preview> {
    this.stack.files(runHostile(this.honest.parts));
    const args = ["preview", "--json", "--show-sames", "--save-plan", "plan.json"];
    const { code, stdout, stderr } = await this.stack.pulumi(args, { GITHUB_EVENT_NAME: "pull_request" });
    const preview = JSON.parse(stdout) as Preview;
    if (code === 0 || this.isAlone) return preview;
    const problems = JSON.stringify(preview.diagnostics ?? []).slice(0, 2_000);
    throw new Error(`a program of the batch needs the line "// runs alone": ${stderr} ${problems}`);
  }

  private async writeInventory(part: Part, name: string, emulator = this.emulator): Promise<string> {
    const client = clientOf(emulator);
    const inventory = await takeInventory(client, { root: part.ids["root"] ?? "", now: Date.now });
    writeFileSync(this.path(part, name), JSON.stringify(inventory));
    return this.path(part, name);
  }

  /** The review of one part by its part of the preview and an inventory of its organisation. */
  private async review(part: Part, preview: Preview): Promise<Outcome> {
    const inventory = await this.writeInventory(part, "before.json");
    writeFileSync(this.path(part, "preview.json"), JSON.stringify(previewOf(part, preview)));
    writeFileSync(this.path(part, "policy.yaml"), policyFile(part.ids));
    const report = this.path(part, "review.json");
    const start = process.cpuUsage();
    const args = ["--inventory", inventory, "--policy", this.path(part, "policy.yaml")];
    const { code, error } = await exitCode(() =>
      reviewMain([this.path(part, "preview.json"), ...args, "-o", `json=${report}`]),
    );
    const { user, system } = process.cpuUsage(start);
    return {
      id: part.program.id,
      review: code,
      report: readIfThere(report) as Report | undefined,
      applied: false,
      gained: [],
      remaining: [],
      reviewSeconds: (user + system) / 1e6,
      said: `review ${code}: ${error}`,
    };
  }

  /** By how a preview is forged, what a review of it with the true plan ends with; 4 where `verify --plan-only` refuses its record. */
  private async reviewForged(
    part: Part,
    preview: Preview,
    plan: Plan,
    index: number,
  ): Promise<Record<string, number>> {
    const [planFile, report] = [this.path(part, "true-plan.json"), this.path(part, "forged-report.json")];
    writeFileSync(planFile, JSON.stringify(planOf([part], plan)));
    const review = async (shown: Preview): Promise<readonly [number, string | undefined]> => {
      writeFileSync(this.path(part, "forged.json"), JSON.stringify(shown));
      const given = ["--inventory", this.path(part, "before.json"), "--plan", planFile];
      const { code } = await exitCode(() =>
        reviewMain([this.path(part, "forged.json"), ...given, "-o", `json=${report}`]),
      );
      return [
        code,
        (JSON.parse(readFileSync(report, "utf8")) as { plan?: { record?: string } }).plan?.record,
      ];
    };
    const honest = previewOf(part, preview);
    const codes: Record<string, number> = {};
    for (const [how, forged] of oneIn(3, Object.entries(forgePreviews(honest)), index)) {
      const [code, record] = await review(forged);
      codes[how] = code === 0 && record !== (await review(honest))[1] ? 4 : code;
    }
    return codes;
  }

  /** An update of some of the programs alone, from the state before it, in a copy of the project as the preview left it. */
  private update(parts: readonly Part[], emulator: Emulator, plan?: Plan): Promise<[Run, Stack]> {
    const files: Record<string, string> = plan ? { "plan.json": JSON.stringify(planOf(parts, plan)) } : {};
    const args = ["up", "--yes", "--skip-preview", ...(plan ? ["--plan", "plan.json"] : [])];
    return this.run(parts, emulator, args, {}, files);
  }

  private async run(
    parts: readonly Part[],
    emulator: Emulator,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    files: Record<string, string> = {},
  ): Promise<[Run, Stack]> {
    const { token } = this.honest;
    const others = this.honest.parts.filter((part) => !parts.includes(part));
    const stack = this.stack.copyFor(
      { url: emulator.url, token, env: WRITES_STATE_ONCE },
      new Set(others.map(({ program }) => program.id)),
    );
    const isKept = isOf(parts);
    stack.editState((resources) => resources.filter(({ urn }) => isKept(urn)));
    stack.files({ ...runHostile(parts), ...files });
    return [await stack.pulumi(args, { GITHUB_EVENT_NAME: "push", ...env }), stack];
  }

  /** Whether an update of each program alone that is held to the plan of the preview is refused; the review has no say in it. */
  private async refusedByPlan(parts: readonly Part[], plan: Plan): Promise<ReadonlyMap<string, boolean>> {
    const refused = new Map<string, boolean>();
    await Batch.at(this.honest, this.folder, (emulator) =>
      forEachAtOnce(parts, async (part) => {
        const [{ output }, stack] = await this.update([part], emulator, plan);
        refused.set(part.program.id, /violates plan|not allowed by the plan/.test(output));
        stack.dispose();
      }),
    );
    return refused;
  }

  /** What becomes of an update of each program alone that a policy pack holds to its approved report. */
  private async holdToReport(parts: readonly Part[]): Promise<ReadonlyMap<string, Outcome["held"]>> {
    const held = new Map<string, Outcome["held"]>();
    await Batch.at(this.honest, this.folder, (emulator) =>
      forEachAtOnce(parts, async (part) => {
        const args = ["up", "--yes", "--skip-preview", "--policy-pack", this.writePack(part)];
        const [{ code, output }, stack] = await this.run([part], emulator, args, {});
        const state = JSON.parse(stack.exported()) as Export;
        stack.dispose();
        const { verify, verified, said } = await this.verify(part, state, emulator);
        const findings = verified.findings.map(({ message }) => message);
        held.set(part.program.id, { up: code, verify, said: [output, said, ...findings].join("\n") });
      }),
    );
    return held;
  }

  /** A policy pack with the one rule that holds an update to the approved report of a program. */
  private writePack(part: Part): string {
    const report = this.path(part, "review.json");
    const { digest } = JSON.parse(readFileSync(report, "utf8")) as { digest?: string };
    const pack = this.path(part, "pack");
    mkdirSync(pack);
    symlinkSync(join(ROOT, "node_modules"), join(pack, "node_modules"));
    writeFileSync(join(pack, "PulumiPolicy.yaml"), "runtime: nodejs\n");
    writeFileSync(join(pack, "package.json"), '{ "name": "pack", "version": "1.0.0", "main": "index.js" }\n');
    writeFileSync(
      join(pack, "index.js"),
      `const { PolicyPack } = require("@pulumi/policy");
       const { accessPolicies } = require(${JSON.stringify(join(ROOT, "dist/provider/policy.js"))});
       const isOfReport = ({ name }) => name === "not-announced";
       const policies = accessPolicies(${JSON.stringify({ approved: report, digest })}).filter(isOfReport);
       new PolicyPack("held", { policies });\n`,
    );
    return pack;
  }

  /** Applies programs that the review did not stop, held to a plan where one is given, and verifies each alone. */
  private async applyAndVerify(
    parts: readonly Part[],
    outcomes: ReadonlyMap<string, Outcome>,
    plan?: Plan,
  ): Promise<readonly Outcome[]> {
    if (parts.length === 0) return [];
    const before = await accessAt(this.emulator);
    const [run, stack] = await this.update(parts, this.emulator, plan);
    try {
      if (run.code !== 0 && !this.isAlone)
        throw new Error(`the update of the batch ended with ${run.code}: ${run.output.slice(-4_000)}`);
      const gained = [...(await accessAt(this.emulator))].filter((tuple) => !before.has(tuple));
      const isIn = ({ ids }: Part, tuple: string) => tuple.includes(`"${ids["root"] ?? ""}`);
      const elsewhere = gained.filter((tuple) => !parts.some((part) => isIn(part, tuple)));
      if (elsewhere.length > 0)
        throw new Error(`access in no organisation of the batch: ${elsewhere.join()}`);
      const state = JSON.parse(stack.exported()) as Export;
      const held = await grantsAtServer(this.emulator);
      const applied: Outcome[] = [];
      for (const part of parts) {
        const reviewed = outcomes.get(part.program.id);
        if (reviewed === undefined) throw new Error(`${part.program.id} was not reviewed`);
        applied.push({
          ...reviewed,
          ...(await this.verify(part, state)),
          applied: true,
          up: run.code,
          ...(plan ? { planRefuses: false } : {}),
          gained: gained.filter((tuple) => isIn(part, tuple)),
          remaining: lostIn(reviewed.report, held),
        });
      }
      return applied;
    } finally {
      stack.dispose();
    }
  }

  private async verify(
    part: Part,
    state: Export,
    emulator = this.emulator,
  ): Promise<{ verify: number; verified: Report; said: string }> {
    const inventory = await this.writeInventory(part, "after.json", emulator);
    writeFileSync(this.path(part, "state.json"), JSON.stringify(exportOf(part, state)));
    const report = this.path(part, "verify.json");
    const args = ["--state", this.path(part, "state.json"), "--inventory", inventory, "-o", `json=${report}`];
    const { code, error } = await exitCode(() => verifyMain([this.path(part, "review.json"), ...args]));
    const verified = JSON.parse(readFileSync(report, "utf8")) as Report;
    return { verify: code, verified, said: `verify ${code}: ${error}` };
  }
}

/**
 * Runs hostile programs in one preview and reviews each alone, with its own resources and its own organisation. Those
 * that the review should not stop are applied in two updates, one of them held to the plan of the preview. A program that
 * runs alone may fail in its preview and its update, and is applied where the review does not stop it.
 */
export function runTogether(
  base: Base,
  programs: readonly HostileProgram[],
): Promise<ReadonlyMap<string, Outcome>> {
  return Batch.run(base, programs);
}
