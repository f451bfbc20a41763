import { printable } from "../../text/printable";
import { isObject } from "../../fields/values";
import { readState, urnParts } from "./engineState";
import type { RecordedResource } from "./engineState";
import { parseKind } from "./reviewable";
import { DocumentError, parseJson, checkResourceSize } from "./jsonText";
import type { StateExport } from "./stateExport";

/** What becomes of one resource of the stack. */
export type Op = "create" | "update" | "replace" | "delete" | "same" | "read" | "import";

/** What each operation of the engine means for a resource; undefined if another step of the resource already covers it. */
const operations: ReadonlyMap<string, Op | undefined> = new Map([
  ["same", "same"],
  ["create", "create"],
  ["update", "update"],
  ["replace", "replace"],
  // The half of a replacement that contains all of it, in documents that do not contain the whole.
  ["create-replacement", "replace"],
  ["delete-replaced", undefined],
  ["delete", "delete"],
  ["discard", "delete"],
  ["discard-replaced", undefined],
  ["remove-pending-replace", undefined],
  ["read", "read"],
  ["read-replacement", "replace"],
  ["import", "import"],
  ["import-replacement", "import"],
  ["refresh", "same"],
  // The engine compares before it decides: the next step contains the decision.
  ["diff", undefined],
] as const);

/** What the CLI wrote of a state, but for what the provider returned and where it was declared. */
export type WrittenState = Readonly<Record<string, unknown>>;

/** What the engine means to do with one resource, or did to look at it. */
export interface PreviewStep {
  /** In the engine's words: `same`, `update`, `create-replacement`, `refresh`, … */
  readonly op: string;
  readonly urn: string;
  readonly before?: RecordedResource;
  readonly after?: RecordedResource;
  /**
   * The paths that differ, as the engine compared them with secrets in sight; undefined where it lists none. With a plan: the
   * inputs that it lets change.
   */
  readonly differing?: readonly string[];
  /** Both states as the CLI wrote them, of a step that a document shows. */
  readonly written?: { readonly before?: WrittenState; readonly after?: WrittenState };
}

/**
 * Whether a step deletes the rest of an earlier replacement, which is another object under the name of its resource. What a run
 * replaces is marked for its delete too, and not deleted alone.
 */
export const isRest = ({ op, before }: Pick<PreviewStep, "op" | "before">): boolean =>
  op === "delete" && before?.pendingDelete === true;

/** What a step decides about its resource; undefined where another one does. */
export const decidedOp = (step: Pick<PreviewStep, "op" | "before">): Op | undefined =>
  isRest(step) ? undefined : operations.get(step.op);

/** A preview. */
export interface Preview {
  /** `project/stack`; undefined where there is no step. */
  readonly stack?: string;
  readonly steps: readonly PreviewStep[];
  /** How many resources stay as they are without a step that shows them. */
  readonly omittedUnchanged: number;
  /** Why the preview is not whole, in lines: it failed, was cut off, or lost something. A line that goes on begins with "| ". */
  readonly problems: readonly string[];
}

/** Not counted by the engine in its summary, or counted under another name. */
const UNCOUNTED = new Set([
  "same",
  "read",
  "read-replacement",
  "refresh",
  "create-replacement",
  "delete-replaced",
  "discard",
  "discard-replaced",
  "remove-pending-replace",
]);

const PREVIEW =
  "write it with pulumi preview --json --show-sames > preview.json, with PULUMI_ENABLE_STREAMING_JSON_PREVIEW unset";

const MOST_CAUSE_LINES = 12;
const LONGEST_CAUSE_LINE = 500;

/** The lines of a diagnostic, safe to print and bounded: a stack trace has no end. */
function causeLines(message: string): string[] {
  const lines = message
    .replace(/^error: /, "")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
  const shown = lines.slice(0, MOST_CAUSE_LINES).map((line) => printable(line.trim(), LONGEST_CAUSE_LINE));
  const left = lines.length - shown.length;
  return left === 0 ? shown : [...shown, `… and ${left} more ${left === 1 ? "line" : "lines"}`];
}

/** What is not compared with an update plan, and is large. */
const NOT_COMPARED: ReadonlySet<string> = new Set(["outputs", "initErrors", "stackTrace", "sourcePosition"]);

function writtenState(state: unknown): WrittenState | undefined {
  if (!isObject(state)) return undefined;
  return Object.fromEntries(Object.entries(state).filter(([key]) => !NOT_COMPARED.has(key)));
}

/** Operations after which a resource is the object that it was. */
const KEEPING: ReadonlySet<string> = new Set(["same", "update", "refresh"]);

/**
 * A state after the change under the urn of its step, as the object that the step leaves there: what it says of itself may be
 * another one. What is made has no id yet; the plan holds the id of an import, and the lookup that of a read.
 */
function nameAfter({ op, urn }: Pick<PreviewStep, "op" | "urn">, before: unknown, after: WrittenState) {
  // The change is not done yet: no state after it has failed.
  const named = { ...after, urn, type: urnParts(urn).type, initErrors: undefined };
  if (KEEPING.has(op)) return { ...named, id: isObject(before) ? before["id"] : undefined };
  const decided = operations.get(op);
  if (decided === "import") return { ...named, id: after["importID"] ?? after["id"] };
  if (decided === "read" || op === "read-replacement") return { ...named, external: true };
  // A replacement by what is only read has that one's id.
  return after["external"] === true ? named : { ...named, id: undefined };
}

/** What a document says. */
interface Reading {
  readonly steps: readonly PreviewStep[];
  /** How many steps of each operation the engine has counted; absent where it was interrupted. */
  readonly summary?: ReadonlyMap<string, number>;
  /** Each is one problem of one or more lines. The checks add theirs. */
  readonly problems: string[];
}

/** A step of a document; undefined where it is none. */
function readStep(step: unknown, name: string): PreviewStep | undefined {
  const { op, urn, oldState: before, newState, detailedDiff } = isObject(step) ? step : {};
  if (typeof op !== "string" || typeof urn !== "string" || !urn.startsWith("urn:pulumi:")) return undefined;
  const after = isObject(newState) ? nameAfter({ op, urn }, before, newState) : undefined;
  for (const state of [{ urn }, before, newState]) checkResourceSize(state, name);
  const recorded = readState(before, "digest");
  const differing = isObject(detailedDiff) ? Object.keys(detailedDiff) : [];
  return {
    op,
    urn,
    // What leaves the program was on a line of the old one.
    before: recorded && after === undefined ? { ...recorded, location: undefined } : recorded,
    after: readState(after, "digest"),
    ...(differing.length === 0 ? {} : { differing }),
    written: { before: writtenState(before), after: writtenState(after) },
  };
}

function readDigest(document: Record<string, unknown>, name: string): Reading {
  const { steps, diagnostics, changeSummary, maybeCorrupt } = document;
  const rows = Array.isArray(steps) ? (steps as unknown[]) : [];
  const read = rows.flatMap((row) => readStep(row, name) ?? []);
  const problems: string[] = [];
  for (const diagnostic of Array.isArray(diagnostics) ? diagnostics : []) {
    const { severity, message, urn } = isObject(diagnostic) ? diagnostic : {};
    if (severity !== "error" || typeof message !== "string") continue;
    const who = typeof urn === "string" && urn !== "" ? `${printable(urnParts(urn).name, 80)}: ` : "";
    problems.push(`the preview failed: ${who}${causeLines(message).join("\n| ")}`);
  }
  if (maybeCorrupt === true) problems.push("the engine reports that its state is corrupt");
  if (read.length < rows.length)
    problems.push(`${rows.length - read.length} steps of the preview could not be read`);
  if (!isObject(changeSummary)) return { steps: read, problems };
  const isCount = (entry: [string, unknown]): entry is [string, number] => typeof entry[1] === "number";
  return { steps: read, problems, summary: new Map(Object.entries(changeSummary).filter(isCount)) };
}

/** Operations on what is there. */
const EXISTING: ReadonlySet<string> = new Set([
  "same",
  "update",
  "delete",
  "replace",
  "delete-replaced",
  "refresh",
]);

/** The steps of each operation must be as many as the engine counted: else the document lost some. */
function checkCounts({ summary, steps, problems }: Reading): void {
  if (summary === undefined) {
    problems.push("the preview has no summary: it was interrupted");
    return;
  }
  const counted = new Map<string, number>();
  for (const { op } of steps) counted.set(op, (counted.get(op) ?? 0) + 1);
  // A preview may show all three steps of a replacement, while the engine's summary has one.
  for (const op of new Set([...counted.keys(), ...summary.keys()])) {
    const [shown, expected] = [counted.get(op) ?? 0, summary.get(op) ?? 0];
    // The summary of a failed preview covers the steps before the failure.
    if (!UNCOUNTED.has(op) && shown !== expected && problems.length === 0) {
      problems.push(`the preview announces ${expected} of operation ${printable(op, 40)} and shows ${shown}`);
    }
  }
  for (const op of new Set(steps.map((step) => step.op))) {
    if (operations.has(op)) continue;
    problems.push(
      `the preview has a step of operation ${printable(op, 40)}, which this version does not know: use a newer one`,
    );
  }
  // What exists has an id, as the engine writes it.
  const isOfNothing = (before: RecordedResource | undefined): boolean =>
    before === undefined || (before.kind !== undefined && before.id === undefined);
  const mute = steps.filter(
    ({ op, before, after }) =>
      (isOfNothing(before) && EXISTING.has(op)) ||
      (after === undefined && ["same", "update", "create", "replace"].includes(op)),
  );
  for (const { urn, op } of mute) {
    problems.push(`the preview does not show what ${op} does to ${printable(urnParts(urn).name, 80)}`);
  }
}

/** The steps of one replacement, which the engine writes in any order. */
const REPLACEMENT_STEPS: ReadonlySet<string> = new Set([
  "replace",
  "create-replacement",
  "read-replacement",
  "import-replacement",
]);

/**
 * The engine refreshes a resource first, and decides about it once. A later step of the same resource would hide what the
 * earlier one does: the engine writes none.
 */
function checkOrder({ steps, problems }: Reading): void {
  const decided = new Map<string, string>();
  for (const step of steps) {
    const { op, urn } = step;
    if (decidedOp(step) === undefined) continue;
    const decision = REPLACEMENT_STEPS.has(op) ? "replace" : op;
    const earlier = decided.get(urn);
    const isFirst = earlier === undefined || (earlier === "refresh" && op !== "refresh");
    if (isFirst || (earlier === "replace" && decision === "replace")) decided.set(urn, decision);
    else if (earlier === "import" && op === "update")
      problems.push(
        `the preview imports ${printable(urnParts(urn).name, 80)} and changes it at once: write it as it is, import it, and change it in a later run`,
      );
    else
      problems.push(
        `the preview shows ${printable(op, 40)} of ${printable(urnParts(urn).name, 80)} after ${printable(earlier, 40)}, which the engine does not write: it was edited`,
      );
  }
}

/**
 * A delete of a replaced object that the same run does not replace is that of the rest of an earlier replacement. With
 * `--show-replacement-steps` the CLI calls both the same.
 */
function nameRests(steps: readonly PreviewStep[]): PreviewStep[] {
  const replaced = new Set(
    steps.flatMap(({ op, before }) => (REPLACEMENT_STEPS.has(op) ? [before?.id] : [])),
  );
  return steps.map((step) =>
    step.op === "delete-replaced" && step.before?.pendingDelete === true && !replaced.has(step.before.id)
      ? { ...step, op: "delete" }
      : step,
  );
}

/** What a preview does first where a state has rests of earlier replacements, which only `--show-replacement-steps` shows. */
export function withRests(
  preview: Preview,
  { pendingDeletes: rests = [] }: Partial<StateExport> = {},
): Preview {
  const shown = new Set(preview.steps.flatMap((step) => (isRest(step) ? [step.before?.id] : [])));
  const added = rests
    .filter(({ id }) => !shown.has(id))
    .map((before) => ({ op: "delete", urn: before.urn, before, written: { before: { delete: true } } }));
  return added.length === 0 ? preview : { ...preview, steps: [...added, ...preview.steps] };
}

/** What the engine does to the old half of a replacement. */
const OLD_HALF_STEPS: ReadonlySet<string> = new Set(["delete-replaced", "remove-pending-replace"]);

/**
 * Such a step belongs to a replacement, of the resource itself or of one that takes it over by an alias. Where there is none,
 * the resource is deleted and not made again: it depended on one that is deleted before it is made, and leaves the program.
 */
function checkReplaced({ steps, problems }: Reading): void {
  const replaced = new Set(
    steps.flatMap(({ op, urn, before }) => (REPLACEMENT_STEPS.has(op) ? [urn, before?.urn ?? urn] : [])),
  );
  for (const { op, urn } of steps)
    if (OLD_HALF_STEPS.has(op) && !replaced.has(urn))
      problems.push(
        `the preview shows ${op} of ${printable(urnParts(urn).name, 80)} and no replacement: remove it from the program in an update before this one`,
      );
}

/** What the engine does to a resource under the name that the state has. */
const UNDER_OWN_NAME: ReadonlySet<string> = new Set(["delete", "discard", "refresh"]);

/**
 * Each state before the change stands in the steps of one resource: of its own, or of one that an alias leads to, which the plan
 * tells. A resource that exists uses no alias, and nothing is there before a create.
 */
function checkStates({ steps, problems }: Reading): void {
  const existing = new Set(
    steps.flatMap(({ before }) => (before === undefined || before.pendingDelete ? [] : [before.urn])),
  );
  const takers = new Map<string, string>();
  for (const { op, urn, before } of steps) {
    if (before === undefined) continue;
    const taker = takers.get(before.urn) ?? urn;
    if (op !== "refresh") takers.set(before.urn, taker);
    const isOfAnother = before.urn !== urn && (UNDER_OWN_NAME.has(op) || existing.has(urn));
    const isTakenTwice = op !== "refresh" && taker !== urn;
    if (op !== "create" && !isOfAnother && !isTakenTwice) continue;
    problems.push(
      `the preview shows the state of ${printable(urnParts(before.urn).name, 80)} before ${printable(op, 40)} of ${printable(urnParts(urn).name, 80)}, which the engine does not write: it was edited`,
    );
  }
}

/** By an alias a resource can take the place of one of another kind, whose object then goes or stays without a step that says so. */
function checkKinds({ steps, problems }: Reading): void {
  for (const { urn, before, after } of steps) {
    if (before === undefined || after === undefined) continue;
    if (parseKind(before.type) === parseKind(after.type)) continue;
    const [was, is] = [before, after].map(({ type }) => printable(type, 80));
    problems.push(
      `${printable(urnParts(urn).name, 80)} takes the place of a resource of another type by an alias, ${is ?? ""} of ${was ?? ""}: remove the one and declare the other without an alias`,
    );
  }
}

/** Removes the engine's second report of a failure, with which it ends a failed preview. */
function removeRepetition(problems: readonly string[]): string[] {
  const bare = "the preview failed: preview failed";
  return [...new Set(problems)].filter((line, _index, all) => line !== bare || all.length === 1);
}

/** @throws DocumentError where the document is no preview. */
function checkForm(document: Record<string, unknown>, name: string): void {
  if ("deployment" in document) {
    throw new DocumentError(
      "PP6002",
      `${name} is a stack export: give it with --before, and a preview in its place`,
    );
  }
  const isDigest = ["steps", "changeSummary", "duration", "diagnostics"].some((key) => key in document);
  if (!isDigest) throw new DocumentError("PP6002", `${name} is no preview: ${PREVIEW}`);
}

/** How many unchanged resources no step shows. */
function countOmitted({ steps, summary }: Reading): number {
  const count = (wanted: string): number => steps.filter(({ op }) => op === wanted).length;
  const [shown, unchanged] = [count("same"), summary?.get("same") ?? 0];
  // A preview of a refresh alone shows unchanged resources as `refresh`.
  if (shown === 0 && count("refresh") >= unchanged) return 0;
  return Math.max(0, unchanged - shown);
}

/**
 * Reads the output of `pulumi preview --json` or `pulumi refresh --preview-only --json`. Secrets are blinded in it; what is not
 * known yet is `UNKNOWN`.
 *
 * @param input text or bytes, with Windows' newlines and a byte order mark too.
 * @param name what messages call it: a path.
 * @throws DocumentError in one line, where it is empty, cut off, no JSON, or something else.
 */
export function parsePreview(input: string | Uint8Array, name = "the preview"): Preview {
  const document = parseJson(input, name, PREVIEW);
  checkForm(document, name);
  const written = readDigest(document, name);
  checkCounts(written);
  const reading = { ...written, steps: nameRests(written.steps) };
  checkOrder(reading);
  checkReplaced(reading);
  checkStates(reading);
  checkKinds(reading);
  const { steps, problems } = reading;
  const { stack, project } = urnParts(steps[0]?.urn ?? "");
  return {
    stack: steps.length === 0 ? undefined : `${project}/${stack}`,
    steps,
    omittedUnchanged: countOmitted(reading),
    problems: removeRepetition(problems).flatMap((problem) => problem.split("\n")),
  };
}
