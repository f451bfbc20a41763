import { plural } from "../../../text/plain";
import { getOrCompute } from "../../../fields/values";
import type { SourceLocation } from "../../documents/engineState";
import { NOT_IN_PROGRAM } from "../../graph/grant";
import type { Grant, GrantChange } from "../../graph/grant";
import type { Finding } from "../../review/finding";
import { familyOf } from "../../rules/capabilityEffects";
import { reportedEffects } from "../../rules/data/capabilityFamilies";
import type { FieldChange, Report, TrustChange } from "../report";
import { uriPath } from "./escape";
import type { RenderOptions } from "./renderOptions";

/** Joins the names of a report's stacks; undefined if none is known. */
export function joinStacks({ stacks }: Report): string | undefined {
  return stacks.length === 0 ? undefined : stacks.join(", ");
}

export function listTrustChanges(report: Report): readonly TrustChange[] {
  return report.command === "drift" ? [] : report.trust;
}

/** `2026-05-11 06:00 UTC`, in every form; the text itself where it is no such time. */
export function formatTime(time: string): string {
  const [, day, minute] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):[\d.]+Z$/.exec(time) ?? [];
  return day === undefined || minute === undefined ? time : `${day} ${minute} UTC`;
}

/** `claimMatch.subject: a → b`. */
export const describeField = ({ path, before, after }: FieldChange): string =>
  `${path}: ${before ?? "not set"} → ${after ?? "not set"}`;

/** What a property loses and gains: the members of a set, or the two values. Undefined is "not set". */
export function fieldSides({ before, after, added, removed }: FieldChange) {
  return added === undefined && removed === undefined
    ? { isSet: false, before: [before], after: [after] }
    : { isSet: true, before: removed ?? [], after: added ?? [] };
}

/** A property that differs, in one line. @param show How a value is shown. */
export function fieldLine(
  field: FieldChange,
  path: string,
  show: (text: string) => string,
  minus: string,
): string {
  const { isSet, before, after } = fieldSides(field);
  const showSide = (side: readonly (string | undefined)[], sign: string): string[] =>
    side.map((text) => `${sign}${text === undefined ? "not set" : show(text)}`);
  return isSet
    ? `${path}: ${[...showSide(after, "+ "), ...showSide(before, `${minus} `)].join(", ")}`
    : `${path}: ${[...showSide(before, ""), ...showSide(after, "")].join(" → ")}`;
}

export const titles: Readonly<Record<Report["command"], string>> = {
  review: "Access review",
  drift: "Drift",
  verify: "Access verification",
};

/** Chooses the name to show for something that may have none. */
export function chooseName(named: {
  readonly label?: string;
  readonly name?: string;
  readonly key?: string;
  readonly uid?: string;
  readonly urn?: string;
}): string {
  return named.label ?? named.name ?? named.uid ?? named.urn ?? named.key ?? "(no name)";
}

/** Names a subject: its display name, and its own name if the display name does not contain it. */
export function nameSubject({ subject }: Grant): {
  readonly displayName: string;
  readonly name?: string;
} {
  const displayName = subject.displayName === "" ? chooseName(subject) : subject.displayName;
  const { name } = subject;
  return name === undefined || displayName.includes(name) ? { displayName } : { displayName, name };
}

/** Formats a file's path from the root of the repository, with `/` and without `.`: `provider/index.ts`. */
export function repositoryPath(location: SourceLocation, sourceRoot = ""): string {
  const parts = `${sourceRoot}/${location.file}`.replaceAll("\\", "/").split("/");
  const kept: string[] = [];
  for (const part of parts) {
    if (part === "" || part === ".") continue;
    if (part === ".." && kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else kept.push(part);
  }
  return kept.join("/");
}

export function findLocation(finding: Finding): SourceLocation | undefined {
  return finding.location ?? finding.grant?.location;
}

/** Where a change of access stands. What a review calls lost stood in the file as it was: a line of it is none of the new one. */
export const placeOfChange = (
  command: Report["command"],
  { change, grant }: GrantChange,
): SourceLocation | undefined => (command === "review" && change === "lost" ? undefined : grant.location);

/** Formats the rule of a finding: `G1 owner-grant`. In drift both are the same, and shown once. */
export const formatRule = ({ id, rule }: Finding): string => (id === rule ? id : `${id} ${rule}`);

/** Formats a location as `index.ts:12`. */
export function formatLocation(
  location: SourceLocation | undefined,
  sourceRoot?: string,
): string | undefined {
  return location === undefined ? undefined : `${repositoryPath(location, sourceRoot)}:${location.line}`;
}

/**
 * Capabilities by what they are about, for people:
 * `CAP_IAM_ROLES_CREATE`, `CAP_IAM_ROLES_UPDATE` are `IAM_ROLES: create, update`. The order is kept.
 */
export function groupCapabilities(capabilities: readonly string[]): string[] {
  const groups = new Map<string, string[]>();
  for (const capability of capabilities) {
    const [, area, verb] = /^(?:CAP_)?(.+)_([A-Z]+)$/.exec(capability) ?? [];
    const verbs = getOrCompute(groups, area ?? capability, () => []);
    if (verb !== undefined) verbs.push(verb.toLowerCase());
  }
  return [...groups].map(([area, verbs]) => (verbs.length === 0 ? area : `${area}: ${verbs.join(", ")}`));
}

/** The most capabilities' groups that a form in lines shows; the page and the JSON show all. */
const SHOWN_CAPABILITIES = 6;

/** The place of a capability where only the worst are shown: who may take over the access of others first, who may read last. */
function rankOf(capability: string): number {
  const { effect } = familyOf(capability);
  const place = reportedEffects.findIndex((each) => each.effect === effect);
  return place < 0 ? reportedEffects.length : place;
}

export function capabilityWords(capabilities: readonly string[]): string[] {
  const groups = groupCapabilities(capabilities);
  if (groups.length <= SHOWN_CAPABILITIES) return groups;
  const worstFirst = groupCapabilities(capabilities.toSorted((a, b) => rankOf(a) - rankOf(b)));
  const rest = groups.length - SHOWN_CAPABILITIES;
  return [...worstFirst.slice(0, SHOWN_CAPABILITIES), `and ${plural(rest, "more area")}`];
}

export const changeSigns: Readonly<Record<GrantChange["change"], string>> = {
  gained: "+",
  lost: "-",
  widened: "^",
  narrowed: "v",
};

/** What drift calls a grant that may have been there before all programs: nobody can say that it was gained. */
export const UNDECLARED = "not in the program";

/** What a review calls one of several grants of which the update makes one. */
export const POSSIBLE = "may be gained";

type ChangeWord = GrantChange["change"] | typeof UNDECLARED | typeof POSSIBLE;

/** What a change of access is called. */
export function changeWord({ change, reason, grant }: GrantChange): ChangeWord {
  if (reason === NOT_IN_PROGRAM) return UNDECLARED;
  return change === "gained" && grant.isOneOf === true ? POSSIBLE : change;
}

export const changeOrder: readonly GrantChange["change"][] = ["gained", "widened", "lost", "narrowed"];

const routes = {
  github: { line: "blob", commit: "commit", pullRequest: "pull" },
  gitlab: { line: "-/blob", commit: "-/commit", pullRequest: "-/merge_requests" },
} as const;

/** Addresses of what a report names, in the repository that the CI's environment tells. */
export class RepositoryLinks {
  constructor(
    private readonly report: Report,
    private readonly options: RenderOptions,
  ) {}

  /** A line at the report's commit; undefined where the repository or the commit is unknown. */
  line(location: SourceLocation): string | undefined {
    const { commit, sourceRoot } = this.options;
    const path = repositoryPath(location, sourceRoot);
    // A browser would take .. out of the address, and so leave the repository.
    if (commit === undefined || path.split("/").some((part) => part === ".." || part === "."))
      return undefined;
    return this.address("line", `${commit}/${uriPath(path)}#L${Math.max(1, Math.floor(location.line))}`);
  }

  commit(): string | undefined {
    const { commit } = this.options;
    return commit === undefined ? undefined : this.address("commit", commit);
  }

  pullRequest(): string | undefined {
    const { pullRequest } = this.report.provenance;
    return pullRequest === undefined ? undefined : this.address("pullRequest", pullRequest);
  }

  private address(route: keyof (typeof routes)["github"], rest: string): string | undefined {
    if (this.options.repository === undefined) return undefined;
    const { host, url } = this.options.repository;
    return `${url}/${routes[host][route]}/${rest}`;
  }
}
