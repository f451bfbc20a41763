import type { Difference, ManagedCount, Report, TrustChange, VerifyReport } from "../report";
import type { Finding, Severity } from "../../review/finding";
import type { Grant, GrantChange, GroupNode } from "../../graph/grant";
import type { SourceLocation } from "../../documents/sourceLocation";
import { differenceKinds, driftDirections, severities } from "../../review/finding";

/** What a report says first. `state` is what colours and icons follow. */
export interface Verdict {
  readonly state: "clean" | "findings" | "failing" | "incomplete";
  /** One line, no name of anybody in it. */
  readonly line: string;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

const thresholds: Readonly<Record<Report["failOn"], string>> = {
  critical: "of severity critical",
  high: "of severity high or above",
  medium: "of severity medium or above",
  low: "of severity low or above",
  any: "of any kind",
  widened: "that widen access or are not managed",
  unmanaged: "not managed by any stack",
  never: "",
};

export function findingCount(report: Report): number {
  return severities.reduce((sum, severity) => sum + report.summary.findings[severity], 0);
}

/** The stacks of a report in one text; undefined where none is known. */
export function stacksOf({ stacks }: Report): string | undefined {
  return stacks.length === 0 ? undefined : stacks.join(", ");
}

export function groupsOf(report: Report): readonly GroupNode[] {
  return report.command === "verify" ? [] : report.groups;
}

export function trustOf(report: Report): readonly TrustChange[] {
  return report.command === "drift" ? [] : report.trust;
}

/** Changes that concern no access, a line each. */
export function unrelatedOf(report: Report): string[] {
  if (report.command !== "review") return [];
  return report.unrelated.map(({ kind, op, count }) => `${count} ${kind} ${op}`);
}

export function digestOf(report: Report): string | undefined {
  return report.command === "review" ? report.digest : undefined;
}

/** Finds the difference that a finding is about. */
export function differenceFinder(report: Report): (finding: Finding) => Difference | undefined {
  if (report.command !== "drift") return () => undefined;
  const differences = new Map(report.differences.map((one) => [one.fingerprint, one]));
  return ({ drift, fingerprint }) => (drift === undefined ? undefined : differences.get(fingerprint));
}

/** A row of numbers in the head of a report. */
export interface Tally {
  readonly label: string;
  readonly counts: readonly { readonly count: number; readonly name: string }[];
}

/** What the commands count, but for their findings. */
export function tallies(report: Report): Tally[] {
  const tally = <Name extends string>(
    label: string,
    counts: Readonly<Record<Name, number>>,
    names: readonly Name[],
  ): Tally => ({ label, counts: names.map((name) => ({ count: counts[name], name })) });
  switch (report.command) {
    case "review":
      return [tally("Grants", report.summary, [...changeOrder, "unchanged"])];
    case "drift": {
      const { summary } = report;
      const compared = tally("Compared", { resources: summary.compared }, ["resources"]);
      const differences = tally("Drift", summary.differences, differenceKinds);
      const access = tally("Access", summary.directions, driftDirections);
      const grants = report.grants.length === 0 ? [] : [tally("Grants", summary, changeOrder)];
      return report.differences.length === 0 ? [compared] : [compared, differences, access, ...grants];
    }
    case "verify":
      return [tally("Access", report.summary, ["confirmed", "unannounced", "missing", "unchanged"])];
  }
}

/** `2 gained, 0 lost`. */
export function tallyLine({ counts }: Tally): string {
  return counts.map(({ count, name }) => `${count.toLocaleString("en-US")} ${name}`).join(", ");
}

const share = ({ managed, total }: ManagedCount): string =>
  `${managed.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} (${total === 0 ? 100 : Math.floor((managed / total) * 100)} %)`;

/** What share of the organisation is in code: the whole, then each kind, then each group. */
export function coverageLines(report: Report): string[] {
  if (report.command !== "drift" || report.coverage === undefined) return [];
  const { byKind, byGroup, ...whole } = report.coverage;
  return [
    `everything: ${share(whole)}`,
    ...byKind.map(({ kind, ...count }) => `${kind}: ${share(count)}`),
    ...byGroup.map(({ path, ...count }) => `${path}: ${share(count)}`),
  ];
}

/** Ready answers to a difference: what each does, the text to copy, and its language. */
export function answersTo(difference: Difference | undefined) {
  const { revert, adopt, suppress } = difference?.answers ?? {};
  const answers = [
    { short: "put back", heading: "Put it back", text: revert, language: "sh" },
    { short: "take over", heading: "Take it over into the program", text: adopt, language: "ts" },
    { short: "accept", heading: "Accept it in the policy file", text: suppress, language: "yaml" },
  ];
  return answers.flatMap(({ text, ...rest }) => (text === undefined ? [] : [{ text, ...rest }]));
}

function verifyVerdict(report: VerifyReport): Verdict {
  const gap = report.complete ? "" : "; not all that was announced came or could be looked at";
  if (report.failing > 0) {
    const what = plural(report.failing, "finding");
    const line = `fails: ${what} of access that the review did not announce${gap}`;
    return { state: report.complete ? "failing" : "incomplete", line };
  }
  return report.complete
    ? { state: "clean", line: "passes: access is what the review announced" }
    : { state: "incomplete", line: `undecided${gap.replace(";", ":")}` };
}

/** How old something is: two units at most. */
function ageOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return plural(minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? plural(hours, "hour") : plural(Math.floor(hours / 24), "day");
}

/** Where a report comes from, in parts for people. */
export function provenanceParts(report: Report): string[] {
  const { commit, pullRequest, time, cli, package: version, inventoryAgeSeconds } = report.provenance;
  const plan = report.command === "drift" ? undefined : report.plan;
  const reviewDigest = report.command === "verify" ? report.reviewDigest : undefined;
  return [
    commit === undefined ? undefined : `commit ${commit.slice(0, 12)}`,
    pullRequest === undefined ? undefined : `pull request ${pullRequest}`,
    time,
    inventoryAgeSeconds === undefined ? undefined : `inventory ${ageOf(inventoryAgeSeconds)} old`,
    plan === undefined ? undefined : `update plan ${plan.digest.slice(0, 12)}`,
    reviewDigest === undefined ? undefined : `review ${reviewDigest.slice(0, 12)}`,
    cli === undefined ? undefined : `Pulumi ${cli}`,
    `pulumi-platform ${version}`,
  ].filter((part) => part !== undefined);
}

/** What fails a run; undefined where nothing does. */
function failingLine(report: Report): string | undefined {
  const { command, failing, failOn, stacks } = report;
  if (failing === 0) return undefined;
  const what = plural(failing, "finding");
  if (command === "drift" && failOn === "any") {
    const differences = plural(report.differences.length, "difference");
    return `fails: ${what}, ${differences} from the ${stacks.length === 0 ? "older inventory" : "recorded state"}`;
  }
  return `fails: ${what} ${thresholds[failOn]}`.trimEnd();
}

/** What a report that is complete and does not fail says. */
function passingVerdict(report: Report): Verdict {
  const found = findingCount(report);
  const passes = report.failOn === "never" ? "report only" : "passes";
  if (found > 0) {
    const rest = report.failOn === "never" ? "" : ", none that fails";
    return { state: "findings", line: `${passes}: ${plural(found, "finding")}${rest}` };
  }
  if (report.command === "drift") return { state: "clean", line: `${passes}: no drift` };
  const changes = report.grants.length;
  const access =
    changes === 0 ? "no change of access" : plural(changes, "change of access", "changes of access");
  return { state: "clean", line: `${passes}: ${access}, no finding` };
}

export function verdict(report: Report): Verdict {
  if (report.command === "verify") return verifyVerdict(report);
  const failing = failingLine(report);
  if (!report.complete) {
    const line =
      failing === undefined
        ? "undecided: not everything could be looked at"
        : `${failing}; not everything could be looked at`;
    return { state: "incomplete", line };
  }
  return failing === undefined ? passingVerdict(report) : { state: "failing", line: failing };
}

const titles: Readonly<Record<Report["command"], string>> = {
  review: "Access review",
  drift: "Drift",
  verify: "Access verification",
};

/** What the findings of a report are. */
export const findingHeadings: Readonly<Record<Report["command"], string>> = {
  review: "Risks",
  drift: "What differs",
  verify: "Not announced",
};

/** What the changes of access of a report are. */
export const grantHeadings: Readonly<Record<Report["command"], string>> = {
  review: "Who gains and loses what",
  drift: "Access gained and lost by drift",
  verify: "Announced and done",
};

/** What the reasons of an incomplete report are. */
export function incompleteHeading({ command }: Report): string {
  return command === "verify" ? "Missing or not looked at" : "Not looked at";
}

export function title(report: Report): string {
  return titles[report.command];
}

/** The name to show for something that may have none. */
export function nameOf(named: {
  readonly name?: string;
  readonly key?: string;
  readonly uid?: string;
  readonly urn?: string;
}): string {
  return named.name ?? named.uid ?? named.urn ?? named.key ?? "(no name)";
}

/** Who a subject is, and its own name where the display name does not hold it. */
export function subjectOf({ subject }: Grant): { readonly displayName: string; readonly name?: string } {
  const displayName = subject.displayName === "" ? nameOf(subject) : subject.displayName;
  const { name } = subject;
  return name === undefined || displayName.includes(name) ? { displayName } : { displayName, name };
}

/** A place from the root of the repository, with `/` and without `.`: `infra/index.ts`. */
export function pathOf(location: SourceLocation, sourceRoot = ""): string {
  const parts = `${sourceRoot}/${location.file}`.replaceAll("\\", "/").split("/");
  const kept: string[] = [];
  for (const part of parts) {
    if (part === "" || part === ".") continue;
    if (part === ".." && kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else kept.push(part);
  }
  return kept.join("/");
}

export function locationOf(finding: Finding): SourceLocation | undefined {
  return finding.location ?? finding.grant?.location;
}

/** `G1 owner-grant`; a drift's rule has the name of its id. */
export const ruleOf = ({ id, rule }: Finding): string => (id === rule ? id : `${id} ${rule}`);

/** `index.ts:12`. */
export function placeOf(location: SourceLocation | undefined, sourceRoot?: string): string | undefined {
  return location === undefined ? undefined : `${pathOf(location, sourceRoot)}:${location.line}`;
}

/**
 * Capabilities by what they are about, for people:
 * `CAP_IAM_ROLES_CREATE`, `CAP_IAM_ROLES_UPDATE` are `IAM_ROLES: create, update`. The order is kept.
 */
export function groupCapabilities(capabilities: readonly string[]): string[] {
  const groups = new Map<string, string[]>();
  for (const capability of capabilities) {
    const [, area, verb] = /^(?:CAP_)?(.+)_([A-Z]+)$/.exec(capability) ?? [];
    const key = area ?? capability;
    const verbs = groups.get(key) ?? [];
    if (verb !== undefined) verbs.push(verb.toLowerCase());
    groups.set(key, verbs);
  }
  return [...groups].map(([area, verbs]) => (verbs.length === 0 ? area : `${area}: ${verbs.join(", ")}`));
}

/** The most capabilities' groups that a form in lines shows; the page and the JSON show all. */
export const SHOWN_CAPABILITIES = 6;

export function capabilityWords(capabilities: readonly string[]): string[] {
  const groups = groupCapabilities(capabilities);
  if (groups.length <= SHOWN_CAPABILITIES) return groups;
  const rest = groups.length - SHOWN_CAPABILITIES;
  return [...groups.slice(0, SHOWN_CAPABILITIES), `and ${plural(rest, "more area")}`];
}

export const changeSigns: Readonly<Record<GrantChange["change"], string>> = {
  gained: "+",
  lost: "-",
  widened: "^",
  narrowed: "v",
};

export const changeOrder: readonly GrantChange["change"][] = ["gained", "widened", "lost", "narrowed"];

/** `2 critical, 1 high`: those that there are, worst first. */
export function severityCounts(report: Report): string {
  const present = severities.filter((severity) => report.summary.findings[severity] > 0);
  return present.map((severity: Severity) => `${report.summary.findings[severity]} ${severity}`).join(", ");
}
