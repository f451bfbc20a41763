import { printable } from "../../api/errors";
import { isObject, sortedJson } from "../../engine/values/values";
import { sha256 } from "./digest";
import { cliVersionOf, readState, urnParts } from "./engineState";
import type { RecordedResource } from "./engineState";
import { DocumentError } from "./jsonText";
import { parseJson } from "./parseJson";
import type { Preview, PreviewStep } from "./preview";

/** What an update plan allows for one resource. */
export interface PlannedResource {
  readonly urn: string;
  /** In the engine's words, in order. */
  readonly steps: readonly string[];
  /** The arguments, read as those of a preview. Undefined where the plan shows none: of a delete. */
  readonly state?: RecordedResource;
}

/** An update plan, as `pulumi preview --save-plan` writes it. */
export interface UpdatePlan {
  /** SHA-256 of the file as it is, hex: the engine may read a file otherwise than this parser does. */
  readonly digest: string;
  /** The version of the CLI that wrote it. */
  readonly cli?: string;
  readonly resources: readonly PlannedResource[];
}

function readGoal(urn: string, value: unknown, name: string): PlannedResource {
  const steps = isObject(value) ? value["steps"] : undefined;
  if (!isObject(value) || !Array.isArray(steps) || steps.some((step) => typeof step !== "string")) {
    throw new DocumentError(
      "PP6003",
      `${name} is not an update plan that this version can read: ${printable(urnParts(urn).name, 80)} has no steps`,
    );
  }
  const { type } = urnParts(urn);
  const { state } = value;
  return {
    urn,
    steps: steps as string[],
    ...(isObject(state) ? { state: readState({ urn, type, inputs: state }, "events") } : {}),
  };
}

/**
 * Reads an update plan.
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line.
 */
export function parsePlan(input: string | Uint8Array, name = "the plan"): UpdatePlan {
  const value = parseJson(input, name, "write it with pulumi preview --save-plan");
  const resources = isObject(value) ? value["resourcePlans"] : undefined;
  if (!isObject(value) || !isObject(resources)) {
    throw new DocumentError(
      "PP6002",
      `${name} is not an update plan: write it with pulumi preview --json --show-sames --save-plan plan.json`,
    );
  }
  return {
    digest: sha256(input),
    cli: cliVersionOf(value["manifest"]),
    resources: Object.entries(resources).map(([urn, resource]) => readGoal(urn, resource, name)),
  };
}

/** The provider resources of the engine are in a plan and in no preview. */
const isProviderResource = (urn: string): boolean => urnParts(urn).type.startsWith("pulumi:providers:");

/** What a preview of a refresh does first is in no plan. */
const isRefresh = ({ op }: PreviewStep): boolean => op === "refresh";

function findProblem(urn: string, planned: PlannedResource | undefined, steps: readonly PreviewStep[]) {
  const { type, name } = urnParts(urn);
  const who = `${printable(type.slice(type.lastIndexOf(":") + 1), 80)} ${printable(name, 80)}`;
  const ops = [...new Set(steps.map(({ op }) => op))].sort();
  if (planned === undefined) return `${who} is in the preview (${ops.join(", ")}) and not in the plan`;
  const allowed = [...new Set(planned.steps)].sort();
  if (ops.length === 0) {
    return allowed.join() === "same"
      ? undefined
      : `${who} is in the plan (${allowed.join(", ")}) and not in the preview`;
  }
  if (allowed.join() !== ops.join()) {
    return `${who}: the plan allows ${allowed.join(", ")}, and the preview shows ${ops.join(", ")}`;
  }
  const shown = steps.findLast(({ after }) => after !== undefined)?.after;
  if (shown === undefined || planned.state === undefined) return undefined;
  const text = ({ inputs, secretPaths }: RecordedResource): string =>
    sortedJson([inputs, [...secretPaths].sort()]);
  return text(shown) !== text(planned.state)
    ? `${who}: the plan has other arguments than the preview`
    : undefined;
}

/** Where a plan and a preview do not say the same, a line each: one of them is of another run. */
export function comparePlan(
  plan: UpdatePlan,
  { steps, omittedUnchanged: omittedUnchanged }: Preview,
): string[] {
  const shown = new Map<string, PreviewStep[]>();
  for (const step of steps) {
    if (isRefresh(step)) continue;
    const all = shown.get(step.urn);
    if (all) all.push(step);
    else shown.set(step.urn, [step]);
  }
  const planned = new Map(plan.resources.map((resource) => [resource.urn, resource]));
  const isHidden = (urn: string): boolean =>
    omittedUnchanged > 0 && !shown.has(urn) && planned.get(urn)?.steps.join() === "same";
  return [...new Set([...shown.keys(), ...planned.keys()])]
    .filter((urn) => !isProviderResource(urn) && !isHidden(urn))
    .sort()
    .flatMap((urn) => findProblem(urn, planned.get(urn), shown.get(urn) ?? []) ?? []);
}
