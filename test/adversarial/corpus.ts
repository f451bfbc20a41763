import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import type { Report } from "../../provider/access/report/report";
import { exitCodeOf } from "../../provider/cli/framework/exitCodes";
import { ROOT, Stack } from "../support/engine";
import { grantsAtServer, holdersAtServer } from "../support/serverGrants";
import type { Tuple } from "../support/serverGrants";
import { runTogether } from "./hostileBatch";
import { oneIn } from "../support/properties";
import { builtInRole, call, create } from "../support/wire";

export const FOLDER = join(ROOT, "test/adversarial");

/** What catches a hostile program: the first of the two that does; `none` where it brings no access. */
export type Catcher = "review" | "verify" | "none";

/** One hostile program of the corpus. */
export interface HostileProgram {
  readonly id: string;
  /** What it does, one line. */
  readonly title: string;
  readonly caughtBy: Catcher;
  /** Whether `up --plan` refuses the update; undefined where the review catches the program before. */
  readonly plan?: "refuses" | "accepts";
  /** Whether a policy pack that is bound to the approved report refuses the update; undefined where none is tried. */
  readonly approvedReport?: "refuses" | "accepts";
  /** Whether this run holds an update of it alone to its plan and its report: one of three does, at night each. */
  readonly isUpdatedAlone: boolean;
  /** Whether the engine runs it without other programs, since it changes what all of them share, or by its own names. */
  readonly runsAlone: boolean;
  readonly text: string;
}

/** The corpus: a file for each program, whose first lines say what it does. */
export function readCorpus(): HostileProgram[] {
  const folder = join(FOLDER, "programs");
  const programs = readdirSync(folder)
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      const [, title = "", caughtBy = ""] = /^\/\/ (.+)\n\/\/ caught by: (\w+)\n/.exec(text) ?? [];
      const [, plan] = /^\/\/ update plan: (\w+)$/m.exec(text) ?? [];
      return {
        id: file.replace(/\.js$/, ""),
        title,
        caughtBy: caughtBy as Catcher,
        ...(plan === undefined ? {} : { plan: plan as "refuses" | "accepts" }),
        ...(/^\/\/ approved report: refuses$/m.test(text) ? { approvedReport: "refuses" as const } : {}),
        runsAlone: /^\/\/ runs alone$/m.test(text),
        text,
      };
    });
  const held = programs.filter(({ plan, approvedReport }) => plan === "refuses" || approvedReport);
  const updatedAlone = new Set<object>(oneIn(3, held));
  return programs.map((program) => ({ ...program, isUpdatedAlone: updatedAlone.has(program) }));
}

/** Whether an exit code stops a change, or says that it was not what was announced. */
export function stopsChange(code: number | undefined): boolean {
  return code === 5 || code === 4;
}

/** What became of one hostile program. */
export interface Outcome {
  readonly id: string;
  /** The review's exit code. */
  readonly review: number;
  readonly report?: Report;
  /** Whether the update was run; it is not where the review stops it. */
  readonly applied: boolean;
  /** The exit code of the update. */
  readonly up?: number;
  /** The exit code of verify; undefined where the review's report is incomplete. */
  readonly verify?: number;
  readonly verified?: Report;
  /** Grants and holders that the server has after the update and did not have before. */
  readonly gained: readonly string[];
  /** Grants that the review announced as lost and that the server still has. */
  readonly remaining: readonly string[];
  /** Whether an update that is held to the plan of the preview is refused. */
  readonly planRefuses?: boolean;
  /** What became of the update that a policy pack holds to the approved report. */
  readonly held?: { readonly up: number; readonly said: string; readonly verify: number };
  /** By how a preview hides what the program does, the exit code of its review, where that of the true one fails. */
  readonly forgedPreviews?: Readonly<Record<string, number>>;
  /** CPU seconds of the review. */
  readonly reviewSeconds: number;
  /** What the commands printed, for messages. */
  readonly said: string;
}

/** An organisation with an honest program applied: its stack, and what the server holds of it in a file. */
export interface Base {
  readonly stack: Stack;
  readonly dataFile: string;
  readonly token: string;
  /** What exists outside of the stack, and the built-in roles. */
  readonly ids: Readonly<Record<string, string>>;
  readonly folder: string;
}

/** What exists outside of the stack: people who own the organisation, and a stranger. */
async function plantOrganisation(emulator: Emulator): Promise<Record<string, string>> {
  const root = await create(emulator, "/iam/v2/groups", { name: "acme" });
  const [owner = "", viewer = "", pusher = ""] = await Promise.all(
    ["owner", "viewer", "registry.push"].map((name) => builtInRole(emulator, name)),
  );
  const identity = (name: string) =>
    create(emulator, `/iam/v2/identities/${root}`, {
      name,
      claimMatch: {
        issuer: "https://token.actions.githubusercontent.com",
        subject: `repo:${name}/x:ref:refs/heads/main`,
      },
    });
  const [boss, chief, mallory] = [await identity("boss"), await identity("chief"), await identity("mallory")];
  for (const identityUid of [boss, chief]) {
    await create(emulator, `/iam/v2/roleBindings/${root}`, { identityUid, roleUid: owner });
  }
  return { root, owner, viewer, pusher, boss, chief, mallory };
}

/** What somebody takes away at the server after the honest program was applied: no program may bring it back unseen. */
async function revokeByHand(
  emulator: Emulator,
  made: Readonly<Record<string, string | undefined>>,
  { owner = "" }: Readonly<Record<string, string>>,
): Promise<void> {
  const { vault = "", auditor = "", keeper = "", admins = "", contractor = "" } = made;
  const listed = await call(emulator, "GET", `/iam/v2/roleBindings?uidp.children_of=${vault}&role=${owner}`);
  const ofOwner = listed["roleBindings"] as { uid: string }[];
  const bindings = [made["archive-owner"] ?? "", ...ofOwner.map(({ uid }) => uid)];
  if (bindings.length !== 2) throw new Error("the vault has no binding of an owner to revoke");
  for (const uid of bindings) await call(emulator, "DELETE", `/iam/v2/roleBindings/${uid}`);
  await call(emulator, "DELETE", `/iam/v2/externalGroupRoleMappings/${admins}`);
  await call(emulator, "PATCH", `/iam/v2/roles/${keeper}`, { capabilities: ["CAP_REPO_LIST"] });
  await call(emulator, "PATCH", `/iam/v2/accountAssociations/${vault}`, {
    chainguard: { serviceBindings: { INGESTER: auditor } },
  });
  await call(emulator, "PATCH", `/iam/v2/identities/${contractor}`, {
    claimMatch: {
      issuer: "https://token.actions.githubusercontent.com",
      subject: "repo:acme/archive:ref:refs/heads/main",
    },
  });
}

/** An organisation with an honest program applied: the state that every hostile program starts from. */
async function prepareBase(): Promise<Base> {
  const folder = mkdtempSync(join(tmpdir(), "pulumi-platform-adversarial-"));
  const dataFile = join(folder, "organisation.json");
  const emulator = await startEmulator({ dataFile });
  const stack = new Stack(emulator);
  try {
    const ids = await plantOrganisation(emulator);
    stack.files({
      "base.js": readFileSync(join(FOLDER, "base.js"), "utf8"),
      "ids.json": JSON.stringify(ids),
      "index.js": 'require("./base").declare();\n',
    });
    await stack.init();
    await stack.up();
    const made = stack.ids();
    const { sandbox = "" } = made;
    const { mallory, owner } = ids;
    await call(emulator, "POST", `/iam/v2/roleBindings/${sandbox}`, { identityUid: mallory, roleUid: owner });
    await revokeByHand(emulator, made, ids);
    return { stack, dataFile, token: emulator.token, ids: { ...ids, sandbox }, folder };
  } finally {
    await emulator.close();
  }
}

/** Exceptions such as a team may have: each is meant for what existed before. */
export function policyFile({ owner = "", sandbox = "" }: Readonly<Record<string, string>>): string {
  const expires = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const entry = (match: string): string =>
    `  - match: ${match}\n    reason: agreed with the security team\n    expires: ${expires}\n`;
  const entries = [
    `{ name: break-glass, role: "${owner}" }`,
    `{ group: "acme / sandbox*" }`,
    `{ group: "${sandbox}" }\n    rule: T5`,
  ];
  return `allow:\n${entries.map(entry).join("")}`;
}

export async function exitCode(run: () => Promise<number>): Promise<{ code: number; error: string }> {
  try {
    return { code: await run(), error: "" };
  } catch (error) {
    return { code: exitCodeOf(error), error: error instanceof Error ? error.message : String(error) };
  }
}

/** Works on as many items at once as there are processors. */
export async function forEachAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const open = [...items];
  const worker = async (): Promise<void> => {
    for (let item = open.shift(); item !== undefined; item = open.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** What the server grants: the grants, and who their holders are. */
export async function accessAt(emulator: Emulator): Promise<Set<string>> {
  const holders = [...holdersAtServer(emulator)].map(([uid, told]) => JSON.stringify([uid, told]));
  return new Set([...(await grantsAtServer(emulator)), ...holders]);
}

/** The grants that a report announces as lost, of holders, roles and groups that existed before. */
export function lostIn(report: Report | undefined, held: readonly Tuple[]): string[] {
  const lost = (report?.grants ?? []).filter(({ change }) => change === "lost");
  return lost.flatMap(({ grant: { subject, role, group } }) => {
    const start = JSON.stringify([`identity ${subject.uid ?? ""}`, role.uid, group.uid]).slice(0, -1);
    return held.filter((tuple) => tuple.startsWith(`${start},`));
  });
}

/**
 * Runs hostile programs through the real engine: those that may in one run, the others as many at once as there are
 * processors. What the review should have stopped in the common run and did not is run alone as well, and applied.
 */
export async function runCorpus(programs: readonly HostileProgram[]): Promise<ReadonlyMap<string, Outcome>> {
  const together = programs.filter(({ runsAlone }) => !runsAlone);
  const isDone = (outcome: Outcome | undefined): boolean =>
    outcome !== undefined && (outcome.applied || stopsChange(outcome.review));
  const base = await prepareBase();
  try {
    const outcomes = new Map(together.length > 0 ? await runTogether(base, together) : []);
    const open = programs.filter(({ id }) => !isDone(outcomes.get(id)));
    await forEachAtOnce(open, async (program) => {
      const [outcome] = (await runTogether(base, [{ ...program, runsAlone: true }])).values();
      if (outcome) outcomes.set(program.id, outcome);
    });
    return outcomes;
  } finally {
    base.stack.dispose();
    rmSync(base.folder, { recursive: true, force: true });
  }
}
