import type { Finding, Grant, GrantChange, Report, Severity, SourceLocation } from "../report";
import { severities } from "../report";

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

/** How many grants change. */
export function accessChanges({ summary }: Report): number {
  return summary.gained + summary.lost + summary.widened + summary.narrowed;
}

function verifyVerdict(report: Report): Verdict {
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

/** Where a report comes from, in parts for people; empty where nothing is known. */
export function provenanceParts({ provenance, plan, reviewDigest }: Report): string[] {
  if (provenance === undefined) return [];
  const { commit, pullRequest, time, cli, package: version, inventoryAgeSeconds } = provenance;
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

export function verdict(report: Report): Verdict {
  if (report.command === "verify") return verifyVerdict(report);
  const found = findingCount(report);
  const what = report.command === "drift" ? "drift" : "finding";
  const changes = accessChanges(report);
  const failing =
    report.failing === 0
      ? undefined
      : report.command === "drift" && report.failOn === "any"
        ? `fails: ${plural(report.failing, "difference")} from the ${report.stack === undefined ? "older inventory" : "recorded state"}`
        : `fails: ${plural(report.failing, what === "drift" ? "difference" : what)} ${thresholds[report.failOn]}`.trimEnd();
  if (!report.complete) {
    return {
      state: "incomplete",
      line: `${failing ?? "undecided"}${failing === undefined ? ": not everything could be looked at" : "; not everything could be looked at"}`,
    };
  }
  if (failing !== undefined) return { state: "failing", line: failing };
  const passes = report.failOn === "never" ? "report only" : "passes";
  if (found > 0) {
    const noun = report.command === "drift" ? "difference" : "finding";
    const rest = report.failOn === "never" ? "" : ", none that fails";
    return { state: "findings", line: `${passes}: ${plural(found, noun)}${rest}` };
  }
  if (report.command === "drift") return { state: "clean", line: `${passes}: no drift` };
  const access =
    changes === 0 ? "no change of access" : plural(changes, "change of access", "changes of access");
  return { state: "clean", line: `${passes}: ${access}, no finding` };
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
  drift: "Who gains and loses what",
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

/** Who a subject is: its words, and its name where they do not hold it. */
export function subjectOf({ subject }: Grant): { readonly words: string; readonly name?: string } {
  const words = subject.words === "" ? nameOf(subject) : subject.words;
  const name = subject.name;
  return name === undefined || words.includes(name) ? { words } : { words, name };
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
