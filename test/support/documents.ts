import { reportProblem } from "../../provider/access/report/parseReport";
import type { Sources } from "../../provider/access/review/compare";
import type { Inventory, InventoryObject } from "../../provider/access/documents/inventory";
import { parsePreview } from "../../provider/access/documents/preview";
import type { Preview } from "../../provider/access/documents/preview";
import type { Provenance, Report, ReviewReport } from "../../provider/access/report/report";
import { review } from "../../provider/access/report/reviewReport";
import { defaultRuleOptions, findingsOf } from "../../provider/access/rules";
import { withNamedKinds } from "./namedKinds";
import type { Props } from "../../provider/fields/values";

/*
 * Documents as the CLI writes them, without the members that no review reads.
 */

export const urn = (kind: string, name: string): string =>
  `urn:pulumi:production::acme::pulumi-nodejs:dynamic/platform:${kind}::${name}`;

export interface StateOptions {
  readonly id?: string;
  readonly dependencies?: Record<string, string[]>;
  /** Further members of the state: `external`, `retainOnDelete`, `type`, … */
  readonly [flag: string]: unknown;
}

/** The text by which the engine finds the code of a kind, written out: it is in every state that was ever made. */
const textOf = (kind: string): string => `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`;

/** One resource of a state. */
export function state(
  kind: string,
  name: string,
  inputs: Props,
  { id, dependencies, ...rest }: StateOptions = {},
) {
  return {
    urn: urn(kind, name),
    type: `pulumi-nodejs:dynamic/platform:${kind}`,
    ...(id === undefined ? {} : { id }),
    inputs: { __provider: textOf(kind), ...inputs },
    ...(dependencies === undefined ? {} : { propertyDependencies: dependencies }),
    ...rest,
  };
}

export type State = ReturnType<typeof state>;

export const step = (op: string, before?: State, after?: State) => ({
  op,
  urn: (after ?? before)?.urn,
  oldState: before,
  newState: after,
});

export const same = (one: State) => step("same", one, one);

/** A digest that counts its own steps. */
export function preview(...steps: { op: string }[]): Preview {
  const summary = new Map<string, number>();
  for (const { op } of steps) {
    if (!["read", "refresh", "discard"].includes(op)) summary.set(op, (summary.get(op) ?? 0) + 1);
  }
  return parsePreview(JSON.stringify({ steps, changeSummary: Object.fromEntries(summary) }));
}

/** A complete inventory of these objects. */
export function inventoryOf(root: string, ...objects: InventoryObject[]): Inventory {
  return {
    schemaVersion: 1,
    root,
    takenAt: "2026-05-30T00:00:00Z",
    complete: true,
    refused: [],
    kinds: [],
    objects,
  };
}

/** Where the reports of tests come from. */
export const PROVENANCE: Provenance = { time: "2026-06-01T00:00:00.000Z", package: "1.2.3" };

/** The report of all rules, as the command line makes it without a flag. */
export function judge(given: Preview, more: Omit<Sources, "preview"> = {}): ReviewReport {
  const now = Date.parse("2026-06-01T00:00:00Z");
  const report = review(
    { preview: given, ...more },
    {
      provenance: PROVENANCE,
      failOn: "high",
      rules: (comparison) => withNamedKinds(findingsOf(comparison, defaultRuleOptions(now))),
    },
  );
  // What post and verify refuse is no report.
  const problem = reportProblem(JSON.parse(JSON.stringify(report)));
  if (problem !== undefined) throw new Error(problem);
  return report;
}

/** Each finding that fails a run: `X3 sink of subscription events is secret: …`. */
export function failing({ findings }: Report): string[] {
  return findings
    .filter(({ severity }) => severity === "critical" || severity === "high")
    .map(({ id, message }) => `${id} ${message}`);
}
