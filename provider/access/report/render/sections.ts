import { addTo, groupBy, getOrCompute } from "../../../fields/values";
import { plural, quoteWord } from "../../../text/plain";
import { lineage } from "../../../text/uid";
import { urnParts } from "../../documents/engineState";
import type { SourceLocation } from "../../documents/engineState";
import { subjectKinds } from "../../graph/accessKinds";
import { nameIn, pathIn, tupleOf } from "../../graph/grant";
import type { Grant, GrantChange, Subject, Named } from "../../graph/grant";
import { describeMembers, describePresence } from "../../effects";
import { differenceKinds, driftDirections, severities, isHighOrCritical } from "../../review/finding";
import type { Finding, Severity } from "../../review/finding";
import { findRule } from "../../rules";
import { countUnlisted, weighGrants } from "../fitReport";
import type { ManagedCount, Report, Difference, FieldChange, TrustChange } from "../report";
import { shorten } from "./escape";
import type { RenderOptions } from "./renderOptions";
import {
  RepositoryLinks,
  POSSIBLE,
  UNDECLARED,
  changeOrder,
  changeWord,
  chooseName,
  formatTime,
  joinStacks,
  nameSubject,
  titles,
  describeField,
  findLocation,
  listTrustChanges,
} from "./words";

/*
 * What a report says, from top to bottom: the verdict, who gains or loses the most, the numbers, where it comes from, and then
 * its sections. Every form prints these, and decides nothing but how they look.
 */

/** What every form says first. */
export interface Head {
  /** `Access review`, and the stacks that it is of. */
  readonly title: string;
  readonly stacks?: string;
  readonly verdict: Verdict;
  readonly headline?: Headline;
  readonly tallies: readonly Tally[];
  readonly origins: readonly Origin[];
  readonly digest?: string;
}

export function headOf(report: Report, options: RenderOptions): Head {
  return {
    title: titles[report.command],
    stacks: joinStacks(report),
    verdict: verdict(report),
    headline: headlineOf(report),
    tallies: tallies(report),
    origins: originsOf(report, options),
    digest: report.command === "review" ? report.digest : undefined,
  };
}

/** A part of a report below its head. */
export interface Section {
  readonly id: string;
  readonly heading: string;
  /** How many things it is about: findings, not entries. */
  readonly count: number;
  /** `from 7 causes`. */
  readonly of?: string;
  /** `alert`: belongs to the verdict. `open`: a reader must see it. `closed`: a reader opens it. */
  readonly place: "alert" | "open" | "closed";
  readonly content:
    | { readonly kind: "lines"; readonly items: readonly string[]; readonly commands?: readonly string[] }
    | { readonly kind: "entries"; readonly items: readonly Entry[] }
    | { readonly kind: "grants"; readonly items: readonly GrantChange[] };
}

const findingHeadings: Readonly<Record<Report["command"], string>> = {
  review: "Risks",
  drift: "What differs",
  verify: "Not announced",
};

const grantHeadings: Readonly<Record<Report["command"], string>> = {
  review: "Who gains and loses what",
  drift: "Access gained and lost by drift",
  verify: "Announced and applied",
};

/** The parts of a report, in their order. Of those that are empty, only findings and grants are there: that there is none says something. */
export function sectionsOf(report: Report, { open, accepted, unreported }: EntryList): Section[] {
  const { command, findings, suppressed, policy, unresolved, incomplete } = report;
  const section = (
    id: string,
    heading: string,
    content: Section["content"],
    more: Partial<Section> = {},
  ): Section => ({ id, heading, count: content.items.length, place: "closed", content, ...more });
  const lines = (items: readonly string[] = []): Section["content"] => ({ kind: "lines", items });
  const entries = (items: readonly Entry[]): Section["content"] => ({ kind: "entries", items });
  const grants = (items: readonly GrantChange[]): Section["content"] => ({
    kind: "grants",
    items: changeOrder.flatMap((kind) => items.filter(({ change }) => change === kind)),
  });
  const from = (causes: readonly Entry[], { length: count }: Report["findings"]): Partial<Section> => ({
    count,
    of: causes.length === count ? undefined : `from ${plural(causes.length, "cause")}`,
  });
  const sections = [
    section(
      "incomplete",
      command === "verify" ? "Missing or not checked" : "Not checked",
      lines(incomplete),
      { place: "alert" },
    ),
    section("findings", findingHeadings[command], entries(open), {
      place: "open",
      ...from(open, findings),
      ...ofAll(findings.length, report.complete ? 0 : countFound(report)),
    }),
    section("grants", grantHeadings[command], grants(listOpenGrants(report)), {
      place: "open",
      ...ofAll(report.grants.length, report.grants.length + countUnlisted(report)),
    }),
    section("trust", "Roles and trust changed", entries(unreported)),
    section("suppressed", "Suppressed by the policy file", entries(accepted), from(accepted, suppressed)),
    section("accepted", "Access that the policy file accepts", grants(listAcceptedGrants(report))),
    section("coverage", "Coverage", lines(coverageLines(report))),
    section("unusedIdentities", "Unused access", unusedContent(report)),
    section("unresolved", "Unresolved", lines(unresolved)),
    section("policyChanged", "Policy file changed", lines(policy.changed), { place: "open" }),
    section("expired", "Expired suppressions", lines(policy.expired), { place: "open" }),
    section("standing", "Assertions broken before", lines(policy.standing)),
    section("unused", "Without effect in the policy file", lines(policy.unused), { place: "open" }),
    section("unrelated", "Other changes", lines(unrelatedLines(report))),
  ];
  return sections.filter(({ id, count }) => count > 0 || id === "findings" || id === "grants");
}

/** What no other part names: changes that concern no access, and what is new or goes and grants nothing itself. */
function unrelatedLines(report: Report): string[] {
  if (report.command !== "review") return [];
  return report.unrelated.map(({ kind, op, count, names = [] }) => {
    const what = `${count} ${kind} ${op}`;
    if (names.length === 0) return what;
    const more = count - names.length;
    return `${what}: ${names.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
  });
}

/** How many there are, where not all are listed. */
const ofAll = (listed: number, all: number): Pick<Section, "of"> =>
  listed >= all ? {} : { of: `of ${all.toLocaleString("en-US")}` };

/**
 * Changes of access of which the policy file accepts all that was found. One that changes the file too accepts nothing here:
 * else a change could take its own access out of sight.
 */
export function listAcceptedGrants(report: Report): readonly GrantChange[] {
  if (report.command === "drift") return report.acceptedGrants ?? [];
  if ((report.policy.changed ?? []).length > 0) return [];
  // A finding that is not listed may be about any.
  if (!report.complete && countFound(report) > report.findings.length) return [];
  const tuples = (findings: Report["findings"]): Set<string> =>
    new Set(findings.flatMap(({ grant }) => (grant === undefined ? [] : [tupleOf(grant)])));
  const [open, suppressed] = [tuples(report.findings), tuples(report.suppressed)];
  return report.grants.filter(({ grant }) => {
    const tuple = tupleOf(grant);
    return suppressed.has(tuple) && !open.has(tuple);
  });
}

/** The changes of access that nobody has accepted. */
export function listOpenGrants(report: Report): readonly GrantChange[] {
  if (report.command === "drift") return report.grants;
  const accepted = new Set(listAcceptedGrants(report));
  return report.grants.filter((change) => !accepted.has(change));
}

/** What a report says first. `state` is what colours and icons follow. */
interface Verdict {
  readonly state: "clean" | "findings" | "failing" | "incomplete";
  /** One line, no name of anybody in it. */
  readonly line: string;
}

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

/** What fails a run; undefined where nothing does. */
function failingLine(report: Report): string | undefined {
  const { command, failing, failOn, stacks } = report;
  if (failing === 0) return undefined;
  const what = plural(failing, "finding");
  if (command === "drift" && failOn === "any") {
    const open = report.findings.filter(({ drift }) => drift !== undefined);
    const differences = plural(open.length, "difference");
    return `fails: ${what}, ${differences} from the ${stacks.length === 0 ? "older inventory" : "recorded state"}`;
  }
  const which = command === "verify" ? "that the review did not announce" : thresholds[failOn];
  return `fails: ${what} ${which}`.trimEnd();
}

/** How many findings there are, listed or not. */
const countFound = ({ summary }: Report): number =>
  severities.reduce((sum, severity) => sum + summary.findings[severity], 0);

/** What a report that is complete and does not fail says. */
function passingVerdict(report: Report): Verdict {
  if (report.command === "verify")
    return { state: "clean", line: "passes: everything is as the review announced" };
  const found = countFound(report);
  const passes = report.failOn === "never" ? "report only" : "passes";
  if (found > 0) {
    const rest = report.failOn === "never" ? "" : ", none meets --fail-on";
    return { state: "findings", line: `${passes}: ${plural(found, "finding")}${rest}` };
  }
  const changes = report.grants.length;
  const access =
    changes === 0 ? "no change of access" : plural(changes, "change of access", "changes of access");
  if (report.command !== "drift") return { state: "clean", line: `${passes}: ${access}, no finding` };
  const { differences, suppressed } = report;
  if (differences.length === 0 && changes === 0) return { state: "clean", line: `${passes}: no drift` };
  const grants = changes === 0 ? "no grant gained, lost or changed" : access;
  // A difference that the policy suppresses still is one, and the headline names it.
  const parts = [
    plural(differences.length, "difference"),
    grants,
    `no finding, ${suppressed.length} suppressed`,
  ];
  return { state: "clean", line: `${passes}: ${parts.join(", ")}` };
}

export function verdict(report: Report): Verdict {
  const failing = failingLine(report);
  if (report.complete)
    return failing === undefined ? passingVerdict(report) : { state: "failing", line: failing };
  const gap =
    report.command === "verify"
      ? "announced changes are missing or could not be checked"
      : "not everything could be checked";
  return { state: "incomplete", line: failing === undefined ? `incomplete: ${gap}` : `${failing}; ${gap}` };
}

/** A report in one sentence: it holds names that somebody chose. */
interface Headline {
  /** `2 identities gain owner at acme`. */
  readonly main: string;
  /** `4 more changes of access`. */
  readonly rest?: string;
}

const verbs: Readonly<Record<GrantChange["change"], readonly [one: string, many: string]>> = {
  gained: ["gains", "gain"],
  widened: ["gains more access as", "gain more access as"],
  lost: ["loses", "lose"],
  narrowed: ["loses some access as", "lose some access as"],
};

/** What several subjects of one type are called. A name tells nothing: that of a service account may hold an @ too. */
const subjectNouns: Readonly<Record<Subject["type"], string>> = {
  identity: "identities",
  invite: "invites",
  identityProvider: "identity providers",
  externalGroup: "directory groups",
  service: "services",
  unknown: "subjects",
};

function countSubjects(grants: readonly Grant[]): string {
  const subjects = new Map(grants.map((grant) => [grant.subject.key, grant]));
  const [only, ...more] = subjects.values();
  if (only !== undefined && more.length === 0) return nameSubject(only).displayName;
  const types = new Set(Array.from(subjects.values(), ({ subject }) => subject.type));
  const [type = "unknown"] = types.size === 1 ? types : [];
  return `${subjects.size.toLocaleString("en-US")} ${subjectNouns[type]}`;
}

/**
 * The changes that matter most: those of the worst finding, with all that change alike. Of those that are equally bad it is what
 * gives or takes the most.
 */
function mostSevere(report: Report, changes: readonly GrantChange[]): GrantChange[] {
  const weigh = weighGrants(report.findings);
  const alike = new Map<string, { changes: GrantChange[]; weight: number; capabilities: number }>();
  for (const change of changes) {
    const { role, group } = change.grant;
    const key = JSON.stringify([changeWord(change), role.key, group.key]);
    const weight = weigh(change) * 10 + changeOrder.indexOf(change.change);
    const known = getOrCompute(alike, key, () => ({ changes: [], weight, capabilities: 0 }));
    known.changes.push(change);
    known.weight = Math.min(known.weight, weight);
    const { capabilitiesAdded: added, capabilitiesRemoved: removed } = change;
    known.capabilities = Math.max(known.capabilities, added.length + removed.length);
  }
  const sorted = [...alike.values()].sort(
    (a, b) => a.weight - b.weight || b.capabilities - a.capabilities || b.changes.length - a.changes.length,
  );
  return sorted[0]?.changes ?? [];
}

/** The report in one sentence: who gains or loses the most. Undefined where no grant changes. */
export function headlineOf(report: Report): Headline | undefined {
  // Changes of a verification that nobody announced come before those that somebody did.
  const isAnnounced = report.command !== "verify" || report.unannounced.length === 0;
  const changes = isAnnounced ? listOpenGrants(report) : report.unannounced;
  const shownChanges = mostSevere(report, changes);
  const [first] = shownChanges;
  if (first === undefined) return undefined;
  const { role, group } = first.grant;
  const grants = shownChanges.map(({ grant }) => grant);
  const isOne = new Set(grants.map(({ subject }) => subject.key)).size === 1;
  const [one, many] = verbs[first.change];
  const unlisted = countUnlisted(report);
  // Some of those that are not listed may be alike.
  const atLeast = unlisted > 0 && !isOne ? "at least " : "";
  const word = changeWord(first);
  const isOld = word === UNDECLARED;
  const verb = word === POSSIBLE ? "may gain" : isOld ? (isOne ? "has" : "have") : isOne ? one : many;
  // The sentence is cut at its end: a long name must leave room for the place.
  const called = nameIn({ ...role, name: role.name && shorten(role.name, 100) });
  const what = `${called} at ${shorten(pathIn(group.path), 120)}${isOld ? `, which is ${UNDECLARED}` : ""}`;
  const isOpen = word === POSSIBLE && !isOne;
  const who = isOpen ? `one or more of ${countSubjects(grants)}` : countSubjects(grants);
  const hint = isOpen ? " (create them in an earlier change to see which)" : "";
  const main = `${atLeast}${who} ${verb} ${what}${hint}`;
  const hiddenCount = changes.length + unlisted - shownChanges.length;
  return {
    main,
    ...(hiddenCount === 0
      ? {}
      : { rest: plural(hiddenCount, "more change of access", "more changes of access") }),
  };
}

/** A row of numbers in the head of a report. */
export interface Tally {
  readonly label: string;
  readonly counts: readonly { readonly count: number; readonly name: string }[];
}

/** What the commands count: of each row the numbers that are not 0. */
function tallies(report: Report): Tally[] {
  const tally = <Name extends string>(
    label: string,
    counts: Readonly<Record<Name, number>>,
    names: readonly Name[],
  ): Tally => ({
    label,
    counts: names.map((name) => ({ count: counts[name], name })).filter(({ count }) => count > 0),
  });
  const { findings, suppressed } = report.summary;
  const found = tally("Findings", { ...findings, suppressed }, [...severities, "suppressed"]);
  const accepted = listAcceptedGrants(report);
  switch (report.command) {
    case "review": {
      const { unchanged } = report.summary;
      const open = changeOrder.map((kind) => {
        const count = accepted.filter(({ change }) => change === kind).length;
        return [kind, report.summary[kind] - count] as const;
      });
      const counts = { ...Object.fromEntries(open), accepted: accepted.length, unchanged };
      return [found, tally<string>("Grants", counts, [...changeOrder, "accepted", "unchanged"])];
    }
    case "drift": {
      const { summary } = report;
      const compared = tally("Compared", { resources: summary.compared }, ["resources"]);
      const differences = tally("Drift", summary.differences, differenceKinds);
      const access = tally("Access", summary.directions, driftDirections);
      const older = report.grants.filter((change) => changeWord(change) === UNDECLARED).length;
      const changes = { ...summary, gained: summary.gained - older, [UNDECLARED]: older };
      const names = [...changeOrder, UNDECLARED] as const;
      const grants = report.grants.length === 0 ? [] : [tally("Grants", changes, names)];
      return report.differences.length === 0
        ? [found, compared]
        : [found, compared, differences, access, ...grants];
    }
    case "verify":
      return [found, tally("Access", report.summary, ["confirmed", "unannounced", "missing", "unchanged"])];
  }
}

/** `2 gained, 1 lost`. */
export function tallyLine({ counts }: Tally): string {
  if (counts.length === 0) return "none";
  return counts.map(({ count, name }) => `${count.toLocaleString("en-US")} ${name}`).join(", ");
}

const share = ({ managed, total }: ManagedCount): string =>
  `${managed.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} (${total === 0 ? 100 : Math.floor((managed / total) * 100)} %)`;

/** What share of the organisation is in code: the whole, then each kind, then each group. */
function coverageLines(report: Report): string[] {
  if (report.command !== "drift" || report.coverage === undefined) return [];
  const { byKind, byGroup, ...whole } = report.coverage;
  const alike = groupBy(byGroup, ({ path }) => [path]);
  return [
    `all objects: ${share(whole)}; one resource may manage several`,
    ...byKind.map(({ kind, ...count }) => `${kind}: ${share(count)}`),
    ...byGroup.map(({ path, uid, ...count }) => {
      const isOnly = alike.get(path)?.length === 1;
      return `${path}${isOnly ? "" : ` (uid ${uid})`}: ${share(count)}`;
    }),
  ];
}

/** How many identities nobody uses, and what lists them, below each group that was compared. */
function unusedContent(report: Report): Section["content"] {
  if (report.command !== "drift" || report.unusedIdentities === undefined)
    return { kind: "lines", items: [] };
  const { days, unused, unknown } = report.unusedIdentities;
  const who = plural(unused, "identity has", "identities have");
  const rest = unknown === 0 ? "" : `; of ${unknown.toLocaleString("en-US")} more nobody knows`;
  const groups = new Set(report.coverage?.byGroup.map(({ uid }) => uid));
  const roots = [...groups].filter((uid) => lineage(uid).filter((above) => groups.has(above)).length === 1);
  return {
    kind: "lines",
    items: [`${who} not signed in for ${days} days${rest}. List them:`],
    commands: roots.flatMap((root) => [
      `npx --no pulumi-platform inventory --root ${quoteWord(root)} -o json=inventory.json`,
      `npx --no pulumi-platform access --inventory inventory.json --unused ${days}d`,
    ]),
  };
}

/** Where a report comes from: one thing that it knows. */
export interface Origin {
  /** `commit 1f2e3d4c5b6a`. */
  readonly text: string;
  /** Whether a reader wants to know it first. */
  readonly isMain?: true;
  readonly address?: string;
}

/** Of the digest of a commit, a plan or a report: what people read. */
const DIGEST_SHOWN = 12;

function originsOf(report: Report, options: RenderOptions): Origin[] {
  const links = new RepositoryLinks(report, options);
  const { commit, pullRequest, time, cli, package: version, inventoryAgeSeconds: age } = report.provenance;
  const plan = report.command === "drift" ? undefined : report.plan?.digest;
  const review = report.command === "verify" ? report.reviewDigest : undefined;
  const proposal = options.repository?.host === "gitlab" ? "merge request" : "pull request";
  const about = (word: string, value: string | undefined, more: Partial<Origin> = {}): Origin[] =>
    value === undefined ? [] : [{ text: `${word} ${value}`, ...more }];
  return [
    ...about("commit", commit?.slice(0, DIGEST_SHOWN), { isMain: true, address: links.commit() }),
    ...about(proposal, pullRequest, { isMain: true, address: links.pullRequest() }),
    { text: formatTime(time), isMain: true },
    ...about("inventory", age === undefined ? undefined : `${ageOf(age)} old`, { isMain: true }),
    ...about("update plan", plan?.slice(0, DIGEST_SHOWN)),
    ...about("review", review?.slice(0, DIGEST_SHOWN)),
    ...about("Pulumi", cli),
    ...about("pulumi-platform", version),
  ];
}

/** All of it in one line. */
export const originLine = (origins: readonly Origin[]): string => origins.map(({ text }) => text).join(", ");

/** How old something is: two units at most. */
function ageOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return plural(minutes, "minute");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? plural(hours, "hour") : plural(Math.floor(hours / 24), "day");
}

/**
 * What a reader sees as one thing: all findings that one change of the program, or one difference, leads to; or a change of
 * trust that no finding is about. Text, Markdown and the page print the same entries and blocks, each in its own marks.
 */
export interface Entry {
  /** Worst first; empty where no finding is about the change. */
  readonly findings: readonly Finding[];
  /** That of the worst finding. */
  readonly severity?: Severity;
  /** The worst finding of each rule. */
  readonly rules: readonly Finding[];
  /** What the worst one says. */
  readonly message: string;
  /** The resource: `Identity ci-deployer`; empty where there is none. */
  readonly about: string;
  readonly location?: SourceLocation;
  /** Whether the policy file accepts it. */
  readonly isAccepted: boolean;
  /** What was found. */
  readonly facts: readonly Block[];
  /** Why it matters and what to do: a page folds it, and a short comment leaves it out. */
  readonly answers: readonly Block[];
}

/** A part of an entry. */
export type Block =
  | { readonly kind: "labelled"; readonly items: readonly Labelled[] }
  | { readonly kind: "findings"; readonly items: readonly OtherFinding[] }
  | { readonly kind: "fields"; readonly items: readonly FieldChange[] }
  | { readonly kind: "lines"; readonly items: readonly string[] }
  | ({ readonly kind: "code" } & Remedy);

/** `fix`: what to do. `if kept`: what to do with drift that is not undone. Each of the texts is a line of its own. */
export interface Labelled {
  readonly label: "suppressed" | "accepts" | "why" | "fix" | "if kept" | "when" | "who";
  readonly texts: readonly string[];
}

/** Further findings of an entry that a page and a comment show at once: many holders can have one role. */
export const MOST_OPEN_FINDINGS = 20;

/** A further finding of an entry, with its own details, reason and fix. */
interface OtherFinding {
  readonly finding: Finding;
  /** Where it is, if that is not where its entry is. */
  readonly location?: SourceLocation;
  readonly answers: readonly Block[];
}

/** A command, code or an entry of the policy file that settles a finding. */
interface Remedy {
  readonly short: string;
  readonly heading: string;
  readonly text: string;
  readonly language: string;
  /** Whether it is an entry of the policy file for what a rule finds, and not for a difference. */
  readonly isOfRule: boolean;
}

/** A change of a grant in words. What was before stands beside it where it is something else. */
export interface GrantLine {
  readonly who: string;
  /** The name of the holder, where `who` does not contain it. */
  readonly name?: string;
  readonly role: string;
  readonly group: string;
  readonly before: { readonly who?: string; readonly role?: string; readonly group?: string };
}

export function describeChange({ grant, before }: GrantChange): GrantLine {
  const { displayName, name } = nameSubject(grant);
  const [role, group] = [chooseName(grant.role), pathIn(grant.group.path)];
  const oldWho = before && nameSubject(before).displayName;
  const oldRole = before && chooseName(before.role);
  return {
    who: displayName,
    name,
    role,
    group,
    before: {
      who: oldWho === displayName ? undefined : oldWho,
      role: oldRole === role ? undefined : oldRole,
      group: before?.group.key === grant.group.key ? undefined : before?.group.path,
    },
  };
}

/** A resource whose change alters what existing grants mean: a role, an identity, a provider of identities. */
type ChangedResource = Omit<TrustChange, "grants">;

function changedResources(report: Report): readonly ChangedResource[] {
  if (report.command !== "drift") return listTrustChanges(report);
  return report.differences
    .filter(({ kind }) => kind === "changed")
    .map(({ type, ...rest }) => ({ ...rest, kind: type }));
}

/** Finds the change that explains a finding or a change of a grant. */
class CauseFinder {
  private readonly changes = new Map<string, ChangedResource>();
  private readonly grants = new Map<string, GrantChange>();

  constructor(report: Report) {
    for (const change of changedResources(report)) {
      for (const id of [change.urn, change.uid]) {
        if (id !== undefined) this.changes.set(`${change.kind} ${id}`, change);
      }
    }
    for (const change of report.grants) this.grants.set(tupleOf(change.grant), change);
  }

  private ofGrant(change: GrantChange): ChangedResource | undefined {
    const { before, grant } = change;
    const { subject, role, group } = grant;
    // Only where the grant itself stays does the change of its holder or its role explain it.
    if (before?.role.key !== role.key || before.group.key !== group.key) return undefined;
    const [ofSubject, ofRole] = [this.find(subject), this.find(role, "Role")];
    const isOfRole = change.capabilitiesAdded.length + change.capabilitiesRemoved.length > 0;
    return isOfRole ? (ofRole ?? ofSubject) : (ofSubject ?? ofRole);
  }

  ofFinding({ kind, urn, uid, grant }: Finding): ChangedResource | undefined {
    const own = kind === undefined ? undefined : this.find({ urn, uid }, kind);
    if (own !== undefined || grant === undefined) return own;
    const change = this.grants.get(tupleOf(grant));
    return change === undefined ? undefined : this.ofGrant(change);
  }

  private find(
    { urn, uid }: Pick<Partial<Named>, "urn" | "uid">,
    kind?: string,
  ): ChangedResource | undefined {
    const kinds = kind === undefined ? subjectKinds : [kind];
    for (const each of kinds) {
      const found = this.changes.get(`${each} ${urn}`) ?? this.changes.get(`${each} ${uid}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** The rule of a reference that the update sets: a new program has one for most of its resources. */
const UNRESOLVED = "X2";

const isUnresolvedKey = (key: string): boolean => key.startsWith(`${UNRESOLVED} `);

/** One resource is one entry; a finding about none stands alone, and unresolved ones stand together to which the same applies. */
function resourceKey({ id, severity, kind, urn, uid, fingerprint, advice }: Finding): string {
  if (id === UNRESOLVED && severity === "low") return `${UNRESOLVED} ${advice}`;
  const resource = urn ?? uid;
  return resource === undefined ? `finding ${fingerprint}` : `${kind} ${resource}`;
}

/**
 * What the findings of a resource say but for which one it is: who holds a role and where, who is trusted anew. Resources of which
 * the same is said are one entry. What is severe has an entry of its own, and so has drift, which has commands of its own.
 */
function likenessOf(findings: readonly Finding[]): string | undefined {
  const isAlone = ({ severity, drift, urn, uid }: Finding): boolean =>
    isHighOrCritical(severity) || drift !== undefined || (urn ?? uid) === undefined;
  if (findings.some(isAlone)) return undefined;
  return JSON.stringify(
    findings.map(({ id, severity, kind, field, details, advice, counterexample, grant, suppression }) => [
      ...[id, severity, kind, field, details, advice, counterexample],
      ...[grant?.role.key, suppression],
    ]),
  );
}

/** Turns the findings of a report into entries, in the order of the worst finding of each. */
export class EntryList {
  readonly open: readonly Entry[];
  /** Of what the policy file accepts. */
  readonly accepted: readonly Entry[];
  /** Changes of roles and of trust that no entry shows. */
  readonly unreported: readonly Entry[];
  private readonly causes: CauseFinder;
  private readonly differences: ReadonlyMap<string, Difference>;

  constructor(private readonly report: Report) {
    this.causes = new CauseFinder(report);
    const differences = report.command === "drift" ? report.differences : [];
    this.differences = new Map(differences.map((one) => [one.fingerprint, one]));
    const explained = new Set<object>();
    this.open = this.entriesOf(report.findings, explained);
    this.accepted = this.entriesOf(report.suppressed, new Set());
    this.unreported = listTrustChanges(report)
      .filter((change) => !explained.has(change))
      .map(unreportedEntry);
  }

  private entriesOf(findings: readonly Finding[], explained: Set<object>): Entry[] {
    const groups = new Map<ChangedResource | string, [Finding, ...Finding[]]>();
    for (const finding of findings) {
      addTo(groups, this.causes.ofFinding(finding) ?? resourceKey(finding), finding);
    }
    const alike = new Map<ChangedResource | string, [Finding, ...Finding[]]>();
    const said = new Set<string>();
    for (const [key, grouped] of groups) {
      if (typeof key !== "string") explained.add(key);
      const likeness = typeof key === "string" && !isUnresolvedKey(key) ? likenessOf(grouped) : undefined;
      const sentences = grouped.map(({ message }) => JSON.stringify([likeness, message]));
      // Two of which the very same is said could not be told apart in one entry.
      const isJoined = likeness !== undefined && !sentences.some((each) => said.has(each));
      for (const each of sentences) said.add(each);
      for (const finding of grouped) addTo(alike, isJoined ? likeness : key, finding);
    }
    return [...alike].map(([key, grouped]) => {
      if (typeof key === "string" && isUnresolvedKey(key) && grouped.length > 1)
        return this.unresolvedEntry(grouped);
      return this.entry(grouped, typeof key === "string" ? undefined : key);
    });
  }

  private entry(findings: readonly [Finding, ...Finding[]], change: ChangedResource | undefined): Entry {
    const [first] = findings;
    const difference = findings
      .map(({ drift, fingerprint }) => drift && this.differences.get(fingerprint))
      .find((one) => one !== undefined);
    const fields = change?.fields ?? difference?.fields ?? [];
    const rules = new Map<string, Finding>();
    for (const finding of findings) if (!rules.has(finding.id)) rules.set(finding.id, finding);
    // A finding about a grant has the name of its subject: a reader of the program looks for that of the resource.
    const inProgram = first.urn === undefined ? undefined : urnParts(first.urn).name;
    const name =
      first.grant === undefined ? (first.name ?? inProgram) : (inProgram ?? first.grant.subject.name);
    const resource = change ?? { kind: first.kind, name };
    const count = change === undefined ? new Set(findings.map(resourceKey)).size : 1;
    const said = new Set<string>();
    const same = findings.filter(({ message }) => message === first.message);
    // What one rule says of several holders stands together.
    const others = [...rules.keys()].flatMap((id) =>
      findings.filter((finding) => finding.id === id && finding.message !== first.message),
    );
    const location = change?.location ?? findLocation(first);
    const locationOf = (finding: Finding): SourceLocation | undefined => {
      const own = findLocation(finding);
      return JSON.stringify(own) === JSON.stringify(location) ? undefined : own;
    };
    // Some rules repeat in their details what the fields say.
    const repeated = new Set(
      fields.flatMap((field) => [
        describeField(field),
        `${field.path}: ${describeMembers(field.added ?? [], field.removed ?? [])}`,
        `${field.path}: ${describePresence(field.before !== undefined, field.after !== undefined)}`,
      ]),
    );
    // What several holders get by one role is said once.
    const detailed = new Set<string>();
    const detailsOf = ({ details }: Finding): readonly string[] => {
      const whole = details.join("\n");
      if (detailed.has(whole)) return [];
      detailed.add(whole);
      return details;
    };
    const explain = (all: readonly Finding[], ...more: readonly Labelled[]): Block[] =>
      blocks(
        lineBlock(
          ...unique(all.flatMap(detailsOf)).filter((line) => !repeated.has(line.replace(/ \([^()]*\)$/, ""))),
        ),
        labelled(...more, ...joinRows(all.flatMap((finding) => this.adviceOf(finding, said)))),
      );
    const explanation = explain(
      same,
      { label: "when", texts: difference?.at === undefined ? [] : [formatTime(difference.at)] },
      { label: "who", texts: unique([difference?.actor]) },
    );
    const remedies = remediesOf(findings, difference).map((remedy): Block => ({ kind: "code", ...remedy }));
    const reasons = unique(findings.map(({ suppression }) => describeSuppression(suppression)));
    return {
      findings,
      severity: first.severity,
      rules: [...rules.values()],
      message: first.message,
      about: [resource.kind, resource.name, count > 1 ? `and ${count - 1} more` : undefined]
        .filter((part) => part !== undefined)
        .join(" "),
      location,
      isAccepted: first.suppression !== undefined,
      facts: blocks(
        labelled({ label: "suppressed", texts: reasons }),
        {
          kind: "findings",
          items: others.map((finding) => ({
            finding,
            location: locationOf(finding),
            answers: explain([finding]),
          })),
        },
        { kind: "fields", items: fields },
      ),
      // Of a difference the commands come first: they are what a reader came for.
      answers: difference === undefined ? [...explanation, ...remedies] : [...remedies, ...explanation],
    };
  }

  /** What an outsider could write, why a finding matters and what to do, as far as an entry has not said it. */
  private adviceOf({ id, advice, counterexample, drift }: Finding, said: Set<string>): Labelled[] {
    const { command, ownRules } = this.report;
    const rule = findRule(id);
    // What a rule would have a program say does not undo what was done by hand.
    const isForProgram = command === "drift" && drift === undefined && rule?.driftAdvice === undefined;
    const rows = [
      { label: "accepts", text: counterexample },
      { label: "why", text: ownRules?.find((own) => own.id === id)?.why ?? rule?.why },
      { label: isForProgram ? "if kept" : "fix", text: advice },
    ] as const;
    return rows.flatMap(({ label, text }) => {
      if (text === undefined || said.has(`${id} ${text}`)) return [];
      said.add(`${id} ${text}`);
      return [{ label, texts: [text] }];
    });
  }

  /** References that are not known before the update say little one by one: they are one entry. */
  private unresolvedEntry(findings: readonly [Finding, ...Finding[]]): Entry {
    const [first, ...others] = findings;
    const names = unique(
      others.map(({ name, urn, kind = "", message }) =>
        `${kind} ${name ?? (urn === undefined ? message : urnParts(urn).name || urn)}`.trimStart(),
      ),
    );
    const entry = this.entry(findings, undefined);
    return {
      ...entry,
      facts: entry.facts.filter(({ kind }) => kind !== "findings"),
      message: `${first.message}, and ${others.length.toLocaleString("en-US")} more like this`,
      answers: [
        lineBlock(`also: ${names.join(", ")}`),
        ...entry.answers.filter(({ kind }) => kind !== "lines"),
      ],
    };
  }
}

const lineBlock = (...items: readonly string[]): Block => ({ kind: "lines", items });

function unreportedEntry({ kind, name, grants, location, fields }: TrustChange): Entry {
  return {
    findings: [],
    rules: [],
    message: `${kind} ${name}`,
    about: `affects ${plural(grants, "grant")}`,
    location,
    isAccepted: false,
    facts: blocks({ kind: "fields", items: fields }),
    answers: [],
  };
}

/** Whether a page shows the answers of an entry at once. */
export function isUrgent({ severity, isAccepted }: Entry): boolean {
  return severity !== undefined && isHighOrCritical(severity) && !isAccepted;
}

const unique = (texts: readonly (string | undefined)[]): string[] => [
  ...new Set(texts.filter((text) => text !== undefined)),
];

/** The blocks that say something. */
const blocks = (...all: readonly Block[]): Block[] =>
  all.filter((block) => block.kind === "code" || block.items.length > 0);

const labelled = (...rows: readonly Labelled[]): Block => ({
  kind: "labelled",
  items: rows.filter(({ texts }) => texts.length > 0),
});

/** Rows of one label as one row. */
function joinRows(rows: readonly Labelled[]): Labelled[] {
  const labels = [...new Set(rows.map(({ label }) => label))];
  return labels.map((label) => ({
    label,
    texts: unique(rows.filter((row) => row.label === label).flatMap(({ texts }) => texts)),
  }));
}

export function describeSuppression(suppression: Finding["suppression"]): string | undefined {
  if (suppression === undefined) return undefined;
  const { reason, expires } = suppression;
  return expires === undefined ? reason : `${reason} (until ${expires})`;
}

/** The ways to settle findings; of what is accepted there is none. */
function remediesOf(
  findings: readonly [Finding, ...Finding[]],
  difference: Difference | undefined,
): readonly Remedy[] {
  if (findings[0].suppression !== undefined) return [];
  const { revert, adopt, suppress } = difference?.answers ?? {};
  // Of a difference too, each rule that reports it needs an entry of its own.
  const entries = unique([suppress, ...findings.map(({ policyEntry }) => policyEntry)]).join("\n");
  const remedies = [
    // What no stack manages may have been there before all programs.
    difference?.kind === "unmanaged"
      ? { short: "delete", heading: "Delete it", text: revert, language: "sh" }
      : { short: "restore", heading: "Restore it", text: revert, language: "sh" },
    { short: "update the program", heading: "Update the program", text: adopt, language: "ts" },
    {
      short: "suppress, below allow in the policy file",
      heading: "Suppress it in the policy file, below allow",
      text: entries === "" ? undefined : entries,
      language: "yaml",
    },
  ];
  const isOfRule = difference === undefined;
  return remedies.flatMap(({ text, ...rest }) => (text === undefined ? [] : [{ ...rest, text, isOfRule }]));
}
