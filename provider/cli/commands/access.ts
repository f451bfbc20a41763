import { printable } from "../../text/printable";
import { describeViolations, judgeAssertions } from "../../access/assertions/judgeAssertions";
import type { DescribedViolation } from "../../access/assertions/judgeAssertions";
import {
  accessRows,
  accessAsCsv,
  accessAsHtml,
  accessAsMarkdown,
  describeUnused,
  findUnused,
} from "../../access/report/accessTable";
import {
  acceptUnverified,
  checkSubject,
  effectiveAccess,
  holdersOfKey,
  othersNamed,
} from "../../access/graph/effectiveAccess";
import type { Access, AccessQuery, EffectiveAccess } from "../../access/graph/effectiveAccess";
import { urnParts } from "../../access/documents/engineState";
import { parseInventory } from "../../access/documents/inventory";
import { parsePreview } from "../../access/documents/preview";
import { json } from "../../access/report/render/escape";
import type { SignIn, UnusedAccess } from "../../access/report/accessTable";
import { unknownCapability } from "../../access/rules/capabilityEffects";
import { wholeOf } from "../../access/graph/entityKeys";
import type { AccessGraph, Entity } from "../../access/graph/model";
import { graphOf } from "../../access/graph/resolveGrants";
import { listFirst, plural } from "../../text/plain";
import { buildGraphs, joinSteps } from "../../access/graph/graphBuilder";
import { logError } from "../output/log";
import { UsageError, exitCodes } from "../framework/exitCodes";
import { writeResults } from "../output/writeFiles";
import { readFlaggedDocument } from "../input/readFiles";
import { readStates } from "../input/states";
import { readDriftPolicy } from "../policy/accessPolicy";
import { defineCommand } from "../framework/defineCommand";
import type { Flags, Values } from "../framework/flags";
import { outputFlag, readDestinations } from "../framework/options";

const forms = ["text", "json", "csv", "md", "html"] as const;

const flags = {
  who: {
    type: "string",
    value: "SUBJECT",
    help: "a uid, a name, a part of it or of the displayed name, the subject of a token, or the thumbprint or kid of a key; with each identity that takes its tokens",
  },
  can: {
    type: "string",
    value: "CAP_…",
    form: {
      pattern: /^CAP_[A-Z0-9_]+$/,
      must: "the full name of one capability, without * or ?, as in CAP_REPO_DELETE",
    },
    help: "only roles that hold this capability",
  },
  on: {
    type: "string",
    value: "GROUP",
    help: "a group's uid, name or path: access there, also by grants above it",
  },
  inventory: { type: "string", value: "FILE", help: "the live organisation (pulumi-platform inventory)" },
  state: {
    type: "string",
    multiple: true,
    value: "FILE",
    help: "a stack (pulumi stack export); * and ? match any characters",
  },
  preview: {
    type: "string",
    value: "FILE",
    help: "what a preview makes of it (pulumi preview --json --show-sames)",
  },
  policy: {
    type: "string",
    value: "FILE",
    help: "report what breaks the assertions of this policy file (access-policy.yaml), and end with 5",
  },
  unused: {
    type: "string",
    value: "DAYS",
    form: { pattern: /^[1-9]\d{0,4}d$/, must: "a number of days from 1d to 99999d, as in 90d" },
    help: "only identities that have not signed in for so long, as in 90d, or never and are older than that",
  },
  output: outputFlag(forms),
} as const satisfies Flags;

type KeyHolder = Pick<Entity, "name" | "uid" | "urn" | "location">;

/** What `-o json` contains. */
interface AccessDocument extends EffectiveAccess {
  readonly schemaVersion: 2;
  readonly complete: boolean;
  readonly incomplete: readonly string[];
  readonly query: AccessQuery;
  /** Of --policy: what breaks its assertions. */
  readonly violations?: readonly DescribedViolation[];
  /** Of --policy: the names in its assertions that nothing has. */
  readonly notes?: readonly string[];
  /** The identities that have the key which `who` names; absent where it names none. */
  readonly keyHolders?: readonly KeyHolder[] | undefined;
  /** The names that have `who` in them, where others are called so; absent where there are none. */
  readonly othersNamed?: readonly string[];
  /** Of --unused: the identities whose access is shown, and those of which nothing is known. */
  readonly unused?: UnusedAccess;
}

function formatAccess({ grant, inheritedBy, byTokensOf }: Access): string {
  const { role, group, sourceKind, urn, uid, location } = grant;
  const roleName = printable(role.label ?? role.name ?? `role ${role.uid ?? role.key}`, 80);
  const groupPath = printable(group.path, 200);
  const below = inheritedBy === undefined ? "" : ` (and so at ${printable(inheritedBy.path, 200)})`;
  const source = urn === undefined ? (uid ?? "") : urnParts(urn).name;
  const tokens = byTokensOf === undefined ? "" : `, with tokens of ${printable(byTokensOf, 80)}`;
  const at = location === undefined ? "" : `, ${location.file}:${location.line}`;
  return `  ${roleName} at ${groupPath}${below}\n    by ${sourceKind} ${printable(source, 120)}${printable(at, 200)}${tokens}`;
}

function formatBySubject(accesses: readonly Access[]): string[] {
  const bySubject = new Map<string, { displayName: string; lines: string[] }>();
  for (const access of accesses) {
    const { key, displayName } = access.grant.subject;
    const subject = bySubject.get(key) ?? { displayName: printable(displayName, 300), lines: [] };
    bySubject.set(key, subject);
    subject.lines.push(formatAccess(access));
  }
  return [...bySubject.values()].map(({ displayName, lines }) => [displayName, ...lines].join("\n"));
}

/** Each unused identity with where it is removed; its grants follow. */
function formatUnused({ days, before, unused, unknown }: UnusedAccess): string[] {
  const lineOf = (signIn: SignIn): string =>
    `  ${printable(`${signIn.name ?? signIn.key}: ${describeUnused(signIn)}`, 400)}`;
  const list = (heading: string, all: readonly SignIn[]): string[] =>
    all.length === 0 ? [] : [[heading, ...all.map(lineOf)].join("\n")];
  return [
    ...(unused.length === 0
      ? [`None is known to be unused for ${plural(days, "day")}, since ${before}.`]
      : []),
    ...list(`Not signed in for ${plural(days, "day")}, since ${before}: ${unused.length}`, unused),
    ...list(`Unknown, neither used nor unused: ${unknown.length}`, unknown),
  ];
}

/** Who has a key, with or without a grant: one that has leaked is taken from all of them. */
function formatKeyHolders(key: string, holders: readonly KeyHolder[]): string {
  const lines = holders.map(({ name, uid, urn, location }) => {
    const parts = [uid ?? urn ?? "", ...(location ? [`${location.file}:${location.line}`] : [])];
    return `  ${printable(`identity ${name ?? ""} (${parts.join(", ")})`, 400)}`;
  });
  return [
    `${plural(holders.length, "identity", "identities")} with the key ${printable(key, 120)}:`,
    ...lines,
  ].join("\n");
}

function formatText(document: AccessDocument): string {
  const { access, undecided, incomplete, violations = [], unused, keyHolders, query } = document;
  const others = document.othersNamed ?? [];
  const parts = [
    ...(keyHolders === undefined ? [] : [formatKeyHolders(query.who ?? "", keyHolders)]),
    ...(unused === undefined ? [] : formatUnused(unused)),
    ...violations.map(({ severity, message, details }) =>
      [
        `${severity}: ${printable(message, 400)}`,
        ...details.map((line) => `    ${printable(line, 400)}`),
      ].join("\n"),
    ),
    ...(access.length === 0 && unused === undefined
      ? ["No grant that is known here matches."]
      : formatBySubject(access)),
    ...(undecided.length === 0
      ? []
      : [
          "Unknown, because the documents do not say what the role allows (give --inventory):",
          ...formatBySubject(undecided),
        ]),
    ...(others.length === 0
      ? []
      : [
          `Not shown: ${plural(others.length, "more name has", "more names have")} ${printable(query.who ?? "", 80)} in it: ${listFirst(others.map((name) => printable(name, 80)))}`,
        ]),
    ...incomplete.map((reason) => `Incomplete: ${printable(reason, 400)}`),
  ];
  return `${parts.join("\n\n")}\n`;
}

export const command = defineCommand(
  {
    name: "access",
    usage: ["(--inventory | --state | --preview) FILE [options]"],
    about:
      "Shows who can do what where, and by which grant. An inventory, stacks and a preview are read together. - is standard input. csv, md " +
      "and html are one table of who has what, with the end of each grant, its path, and when the identity was last seen. " +
      "With --policy it says how the access breaks what the file forbids, requires and separates. With --unused it shows what " +
      "identities hold that nobody uses, and where to remove it.",
    flags,
    exitCodes: ["clean", "error", "usage", "incomplete", "reviewFindings"],
  },
  ({ values }) => showAccess(values),
);
export const { main } = command;

/** @throws UsageError for flags that do not go together. */
function checkFlags({ inventory, state, preview, unused }: Values<typeof flags>): void {
  const paths = [inventory, ...state, preview].filter((path) => path !== undefined);
  if (paths.length === 0) {
    throw new UsageError("PP5004", "access needs a document: give --inventory, --state or --preview");
  }
  if (paths.filter((path) => path === "-").length > 1) {
    throw new UsageError("PP5003", "only one document can come from standard input");
  }
  if (unused !== undefined && inventory === undefined) {
    throw new UsageError(
      "PP5003",
      "--unused needs --inventory: only the server knows when an identity signed in",
    );
  }
}

/** @throws UsageError for a capability that neither this version knows nor a role holds. */
function checkCapability(can: string, { grants }: AccessGraph): void {
  const problem = unknownCapability(
    can,
    grants.flatMap(({ role: { capabilities = [] } }) => capabilities),
  );
  if (problem !== undefined) throw new UsageError("PP5002", `--can ${can} ${problem}`);
}

/** @throws UsageError, DocumentError in one line. */
const readDocuments = async ({ inventory, state, preview }: Values<typeof flags>) => ({
  inventory: await readFlaggedDocument("--inventory", inventory, parseInventory),
  states: await readStates(state, [], undefined),
  preview: await readFlaggedDocument("--preview", preview, parsePreview),
});

type Documents = Awaited<ReturnType<typeof readDocuments>>;

/** The access graph that the documents describe together, and why it may lack something. */
function buildGraph({ inventory, states, preview }: Documents) {
  const resources = states.flatMap((state) => state.resources);
  const graphs = buildGraphs(joinSteps(preview?.steps ?? [], { resources }), inventory);
  const graph = acceptUnverified(graphs.after);
  const isWhole = inventory !== undefined || states.some(({ stack }) => stack === preview?.stack);
  const omitted = isWhole ? 0 : (preview?.omittedUnchanged ?? 0);
  const incomplete = [
    ...(preview?.problems ?? []),
    ...graphs.unresolved,
    ...(omitted > 0
      ? [`${omitted} unchanged resources are not shown: write the preview with --show-sames`]
      : []),
    ...(inventory?.complete === false ? ["the inventory is not complete"] : []),
    ...(graph.entities.size === 0
      ? ["nothing was read: the documents name no resource of the platform"]
      : []),
  ];
  // What a preview names anew has no name that anybody could have meant.
  const before = preview === undefined ? graph : acceptUnverified(graphs.before);
  return { graph, before, incomplete };
}

/** The same entities, with what unused identities hold, and what others hold by them. */
function withGrantsOf({ entities, grants }: AccessGraph, { unused }: UnusedAccess): AccessGraph {
  const keys = new Set(unused.map(({ key }) => key));
  return graphOf(
    entities,
    grants.filter(({ subject: { key } }) => keys.has(wholeOf(key) ?? key)),
  );
}

/** @throws UsageError, DocumentError in one line. */
async function showAccess(values: Values<typeof flags>): Promise<number> {
  checkFlags(values);
  const { who, can, on } = values;
  const days = values.unused === undefined ? undefined : Number.parseInt(values.unused, 10);
  const outputs = readDestinations(values.output, forms);
  const documents = await readDocuments(values);
  const { graph, before, incomplete } = buildGraph(documents);
  if (can !== undefined) checkCapability(can, graph);
  if (who !== undefined) checkSubject(graph, who);
  const keyHolders = (who === undefined ? [] : holdersOfKey(graph, who)).map(
    ({ name, uid, urn, location }): KeyHolder => ({ name, uid, urn, location }),
  );
  const others = who === undefined ? [] : othersNamed(graph, who);
  const { inventory } = documents;
  const unused =
    days === undefined || inventory === undefined ? undefined : findUnused(graph, inventory, days);
  const shown = unused === undefined ? graph : withGrantsOf(graph, unused);
  const policy = readDriftPolicy(values.policy);
  const judged = {
    before,
    after: graph,
    changes: [],
    inventories: inventory === undefined ? [] : [inventory],
  };
  const violations = policy && describeViolations(judged, policy.assertions);
  // What was not read may have the name.
  const notes = policy && (incomplete.length === 0 ? judgeAssertions(judged, policy.assertions).unknown : []);
  const document: AccessDocument = {
    schemaVersion: 2,
    complete: incomplete.length === 0,
    incomplete,
    query: { who, can, on },
    ...effectiveAccess(shown, { who, can, on }),
    ...(keyHolders.length > 0 && { keyHolders }),
    ...(others.length > 0 && { othersNamed: others }),
    unused,
    violations,
    notes,
  };
  for (const line of notes ?? []) logError(line);
  const hasStacks = documents.states.length > 0 || documents.preview !== undefined;
  const broken = (violations ?? []).map(({ severity, message }) => `${severity}: ${message}`);
  const table = { rows: accessRows(document, shown, hasStacks, unused), incomplete, broken };
  writeResults(outputs, {
    text: () => formatText(document),
    json: () => `${json(document)}\n`,
    csv: () => accessAsCsv(table),
    md: () => accessAsMarkdown(table),
    html: () => accessAsHtml(table),
  });
  // The other formats contain the reasons.
  if (outputs.some(({ format }) => format === "csv")) {
    for (const reason of incomplete) logError(`incomplete: ${printable(reason, 400)}`);
    for (const line of broken) logError(printable(line, 400));
  }
  if (broken.length > 0) return exitCodes.reviewFindings;
  return document.complete ? exitCodes.clean : exitCodes.incomplete;
}
