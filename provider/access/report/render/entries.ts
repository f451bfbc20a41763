import type { SourceLocation } from "../../documents/sourceLocation";
import { subjectKinds } from "../../graph/accessKinds";
import { tupleOf } from "../../graph/grant";
import type { GrantChange, Named } from "../../graph/grant";
import type { Finding } from "../../review/finding";
import { findRule } from "../../rules";
import type { Difference, FieldChange, Report, TrustChange } from "../report";
import {
  describeField,
  differenceFinder,
  findLocation,
  formatTime,
  listRemedies,
  listTrustChanges,
} from "./words";

/**
 * What a reader sees as one thing: all findings that one change of the program, or one difference, leads to. Text,
 * Markdown and the page print the same entries, each in its own marks.
 */
export interface Entry {
  /** Worst first; at least one. */
  readonly findings: readonly [Finding, ...Finding[]];
  /** The worst finding of each rule. */
  readonly rules: readonly Finding[];
  /** What the worst one says. */
  readonly message: string;
  /** What the others say. */
  readonly others: readonly Finding[];
  /** The resource: `Identity ci-deployer`; empty where there is none. */
  readonly about: string;
  readonly location?: SourceLocation;
  /** The resource whose change alters what existing grants mean. */
  readonly change?: ChangedResource;
  readonly fields: readonly FieldChange[];
  /** The grants that the change widens or narrows without touching them. */
  readonly grants: readonly GrantChange[];
  /** What an outsider could write to match a pattern. */
  readonly accepts: readonly string[];
  /** Of each rule: why it matters, and what to do. */
  readonly advice: readonly Advice[];
  readonly details: readonly string[];
  /** When something was changed by hand, and by whom. */
  readonly when?: string;
  readonly who?: string;
  /** Commands, code and policy entries that settle it; of what is accepted none. */
  readonly remedies: readonly Remedy[];
  /** Why the policy file accepts it. */
  readonly accepted: readonly string[];
}

export interface Advice {
  /** The id of the rule: `G1`. */
  readonly id: string;
  /** Absent of what is no rule, such as a difference. */
  readonly why?: string;
  readonly fixes: readonly string[];
}

export interface Remedy {
  readonly short: string;
  readonly heading: string;
  readonly text: string;
  readonly language: string;
}

/** A resource whose change alters what existing grants mean: a role, an identity, a provider of identities. */
type ChangedResource = Omit<TrustChange, "grants">;

function changedResources(report: Report): readonly ChangedResource[] {
  if (report.command !== "drift") return listTrustChanges(report);
  return report.differences
    .filter(({ kind }) => kind === "changed")
    .map(({ type, ...rest }) => ({ ...rest, kind: type }));
}

/** Whether the grant itself stays, so that the change of its holder or its role explains it. */
export function isIndirect({ before, grant }: GrantChange): boolean {
  return before?.role.key === grant.role.key && before.group.key === grant.group.key;
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

  ofGrant(change: GrantChange): ChangedResource | undefined {
    if (!isIndirect(change)) return undefined;
    const { subject, role } = change.grant;
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

/** One resource is one entry; a finding about none stands alone. */
function resourceKey({ id, severity, kind, urn, uid, fingerprint }: Finding): string {
  if (id === UNRESOLVED && severity === "low") return UNRESOLVED;
  const resource = urn ?? uid;
  return resource === undefined ? `finding ${fingerprint}` : `${kind} ${resource}`;
}

/** Turns the findings of a report into entries, in the order of the worst finding of each. */
export class EntryList {
  readonly open: readonly Entry[];
  /** Of what the policy file accepts. */
  readonly accepted: readonly Entry[];
  private readonly causes: CauseFinder;
  private readonly grants = new Map<ChangedResource, GrantChange[]>();
  private readonly findDifference: (finding: Finding) => Difference | undefined;

  constructor(report: Report) {
    this.causes = new CauseFinder(report);
    this.findDifference = differenceFinder(report);
    for (const change of report.grants) {
      const cause = this.causes.ofGrant(change);
      if (cause === undefined) continue;
      const known = this.grants.get(cause);
      if (known === undefined) this.grants.set(cause, [change]);
      else known.push(change);
    }
    this.open = this.entriesOf(report.findings);
    this.accepted = this.entriesOf(report.suppressed);
  }

  /** The change that explains the change of a grant; undefined where the grant itself changes. */
  causeOf(change: GrantChange): object | undefined {
    return this.causes.ofGrant(change);
  }

  private entriesOf(findings: readonly Finding[]): Entry[] {
    const groups = new Map<ChangedResource | string, [Finding, ...Finding[]]>();
    for (const finding of findings) {
      const key = this.causes.ofFinding(finding) ?? resourceKey(finding);
      const known = groups.get(key);
      if (known === undefined) groups.set(key, [finding]);
      else known.push(finding);
    }
    return [...groups].map(([key, grouped]) =>
      key === UNRESOLVED && grouped.length > 1
        ? this.unresolvedEntry(grouped)
        : this.entry(grouped, typeof key === "string" ? undefined : key),
    );
  }

  private entry(findings: readonly [Finding, ...Finding[]], change: ChangedResource | undefined): Entry {
    const [first, ...others] = findings;
    const difference = findings.map(this.findDifference).find((found) => found !== undefined);
    const fields = change?.fields ?? difference?.fields ?? [];
    // Some rules repeat in their details what the fields say.
    const repeated = new Set(fields.map(describeField));
    const rules = new Map<string, Finding>();
    for (const finding of findings) if (!rules.has(finding.id)) rules.set(finding.id, finding);
    const resource = change ?? { kind: first.kind, name: first.name ?? first.grant?.subject.name };
    return {
      findings,
      rules: [...rules.values()],
      message: first.message,
      others: others.filter(({ message }) => message !== first.message),
      about: [resource.kind, resource.name].filter((part) => part !== undefined).join(" "),
      location: change?.location ?? findLocation(first),
      change,
      fields,
      grants: change === undefined ? [] : (this.grants.get(change) ?? []),
      accepts: unique(findings.map(({ counterexample }) => counterexample)),
      advice: adviceOf(findings),
      details: unique(findings.flatMap(({ details }) => details)).filter((line) => !repeated.has(line)),
      when: difference?.at === undefined ? undefined : formatTime(difference.at),
      who: difference?.actor,
      remedies: remediesOf(findings, difference),
      accepted: unique(findings.map(({ suppression }) => describeSuppression(suppression))),
    };
  }

  /** References that are not known before the update say little one by one: they are one entry. */
  private unresolvedEntry(findings: readonly [Finding, ...Finding[]]): Entry {
    const [first, ...others] = findings;
    const message = `${first.message}, and ${others.length.toLocaleString("en-US")} more like this`;
    const names = unique(others.map(({ name, urn, message: text }) => name ?? urn ?? text));
    return {
      ...this.entry(findings, undefined),
      message,
      others: [],
      details: [...first.details, `also: ${names.join(", ")}`],
    };
  }
}

const unique = (texts: readonly (string | undefined)[]): string[] => [
  ...new Set(texts.filter((text) => text !== undefined)),
];

function adviceOf(findings: readonly Finding[]): Advice[] {
  return [...new Set(findings.map(({ id }) => id))].flatMap((id) => {
    const why = findRule(id)?.why;
    const fixes = unique(findings.filter((finding) => finding.id === id).map(({ advice }) => advice));
    return why === undefined && fixes.length === 0
      ? []
      : [{ id, ...(why === undefined ? {} : { why }), fixes }];
  });
}

function describeSuppression(suppression: Finding["suppression"]): string | undefined {
  if (suppression === undefined) return undefined;
  const { reason, expires } = suppression;
  return expires === undefined ? reason : `${reason} (until ${expires})`;
}

function remediesOf(
  findings: readonly [Finding, ...Finding[]],
  difference: Difference | undefined,
): Remedy[] {
  if (findings[0].suppression !== undefined) return [];
  const remedies = listRemedies(difference);
  const entries = unique(findings.map(({ policyEntry }) => policyEntry));
  if (entries.length === 0 || difference?.answers.suppress !== undefined) return remedies;
  const text = entries.join("\n");
  return [
    ...remedies,
    { short: "suppress", heading: "Suppress it in the policy file", text, language: "yaml" },
  ];
}
