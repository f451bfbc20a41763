import type { SourceLocation } from "../../documents/sourceLocation";
import { subjectKinds } from "../../graph/accessKinds";
import { tupleOf } from "../../graph/grant";
import type { GrantChange, Named } from "../../graph/grant";
import { urnParts } from "../../documents/engineState";
import { isHighOrCritical } from "../../review/finding";
import type { Finding, Severity } from "../../review/finding";
import { findRule } from "../../rules";
import { plural } from "../../../text/plain";
import type { Difference, FieldChange, Report, TrustChange } from "../report";
import { addTo } from "../../../fields/values";
import { chooseName, describeField, findLocation, formatTime, listTrustChanges, nameSubject } from "./words";

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
  /** The grants that the change widens or narrows without touching them. */
  readonly grants: readonly GrantChange[];
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
  | { readonly kind: "holders"; readonly items: readonly Holder[]; readonly heading: string }
  | { readonly kind: "lines"; readonly items: readonly string[] }
  | ({ readonly kind: "code" } & Remedy);

/** `fix`: what to do. `if kept`: what to do with drift that is not undone. Each of the texts is a line of its own. */
export interface Labelled {
  readonly label: "suppressed" | "accepts" | "why" | "fix" | "if kept" | "when" | "who";
  readonly texts: readonly string[];
}

/** A further finding of an entry, with its own details, reason and fix. */
export interface OtherFinding {
  readonly finding: Finding;
  readonly answers: readonly Block[];
}

/** Whose grants a change alters; of one holder each grant stands alone, without the name. */
export interface Holder {
  readonly name?: string;
  readonly grants: readonly GrantLine[];
}

/** A command, code or an entry of the policy file that settles a finding. */
export interface Remedy {
  readonly short: string;
  readonly heading: string;
  readonly text: string;
  readonly language: string;
  /** Whether it is an entry of the policy file for what a rule finds, and not for a difference. */
  readonly isOfRule: boolean;
}

/** A change of a grant in words. What was before stands beside it where it is something else. */
export interface GrantLine {
  readonly source: GrantChange;
  readonly change: GrantChange["change"];
  readonly who: string;
  /** The name of the holder, where `who` does not contain it. */
  readonly name?: string;
  readonly role: string;
  readonly group: string;
  readonly before: { readonly who?: string; readonly role?: string; readonly group?: string };
}

export function describeChange(source: GrantChange): GrantLine {
  const { change, grant, before } = source;
  const { displayName, name } = nameSubject(grant);
  const [role, group] = [chooseName(grant.role), grant.group.path];
  const oldWho = before && nameSubject(before).displayName;
  const oldRole = before && chooseName(before.role);
  return {
    source,
    change,
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
  /** Changes of roles and of trust that no entry shows. */
  readonly unreported: readonly Entry[];
  private readonly causes: CauseFinder;
  private readonly grants = new Map<ChangedResource, GrantChange[]>();
  private readonly differences: ReadonlyMap<string, Difference>;
  private readonly ownRules: Report["ownRules"];
  private readonly isDrift: boolean;

  constructor(report: Report) {
    this.isDrift = report.command === "drift";
    this.ownRules = report.ownRules;
    this.causes = new CauseFinder(report);
    const differences = report.command === "drift" ? report.differences : [];
    this.differences = new Map(differences.map((one) => [one.fingerprint, one]));
    for (const change of report.grants) {
      const cause = this.causes.ofGrant(change);
      if (cause !== undefined) addTo(this.grants, cause, change);
    }
    const explained = new Set<object>();
    this.open = this.entriesOf(report.findings, explained);
    this.accepted = this.entriesOf(report.suppressed, new Set());
    this.unreported = listTrustChanges(report)
      .filter((change) => !explained.has(change))
      .map(unreportedEntry);
  }

  /** The change that explains the change of a grant; undefined where the grant itself changes. */
  causeOf(change: GrantChange): object | undefined {
    return this.causes.ofGrant(change);
  }

  private entriesOf(findings: readonly Finding[], explained: Set<object>): Entry[] {
    const groups = new Map<ChangedResource | string, [Finding, ...Finding[]]>();
    for (const finding of findings) {
      addTo(groups, this.causes.ofFinding(finding) ?? resourceKey(finding), finding);
    }
    return [...groups].map(([key, grouped]) => {
      if (typeof key !== "string") explained.add(key);
      if (key === UNRESOLVED && grouped.length > 1) return this.unresolvedEntry(grouped);
      return this.entry(grouped, typeof key === "string" ? undefined : key);
    });
  }

  private entry(findings: readonly [Finding, ...Finding[]], change: ChangedResource | undefined): Entry {
    const [first] = findings;
    const difference = findings.map((finding) => this.differenceOf(finding)).find((one) => one !== undefined);
    const fields = change?.fields ?? difference?.fields ?? [];
    const grants = change === undefined ? [] : (this.grants.get(change) ?? []);
    const rules = new Map<string, Finding>();
    for (const finding of findings) if (!rules.has(finding.id)) rules.set(finding.id, finding);
    const resource = change ?? { kind: first.kind, name: first.name ?? first.grant?.subject.name };
    const said = new Set<string>();
    const same = findings.filter(({ message }) => message === first.message);
    const others = findings.filter(({ message }) => message !== first.message);
    // Some rules repeat in their details what the fields say.
    const repeated = new Set(fields.map(describeField));
    const explain = (all: readonly Finding[], ...more: readonly Labelled[]): Block[] =>
      blocks(
        lineBlock(...unique(all.flatMap(({ details }) => details)).filter((line) => !repeated.has(line))),
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
      about: [resource.kind, resource.name].filter((part) => part !== undefined).join(" "),
      location: change?.location ?? findLocation(first),
      grants,
      isAccepted: first.suppression !== undefined,
      facts: blocks(
        labelled({ label: "suppressed", texts: reasons }),
        {
          kind: "findings",
          items: others.map((finding) => ({ finding, answers: explain([finding]) })),
        },
        { kind: "fields", items: fields },
        affectedHolders(grants),
      ),
      // Of a difference the commands come first: they are what a reader came for.
      answers: difference === undefined ? [...explanation, ...remedies] : [...remedies, ...explanation],
    };
  }

  /** What an outsider could write, why a finding matters and what to do, as far as an entry has not said it. */
  private adviceOf({ id, advice, counterexample, drift }: Finding, said: Set<string>): Labelled[] {
    const rule = findRule(id);
    // What a rule would have a program say does not undo what was done by hand.
    const isForProgram = this.isDrift && drift === undefined && rule?.driftAdvice === undefined;
    const rows = [
      { label: "accepts", text: counterexample },
      { label: "why", text: this.ownRules?.find((own) => own.id === id)?.why ?? rule?.why },
      { label: isForProgram ? "if kept" : "fix", text: advice },
    ] as const;
    return rows.flatMap(({ label, text }) => {
      if (text === undefined || said.has(`${id} ${text}`)) return [];
      said.add(`${id} ${text}`);
      return [{ label, texts: [text] }];
    });
  }

  private differenceOf({ drift, fingerprint }: Finding): Difference | undefined {
    return drift === undefined ? undefined : this.differences.get(fingerprint);
  }

  /** References that are not known before the update say little one by one: they are one entry. */
  private unresolvedEntry(findings: readonly [Finding, ...Finding[]]): Entry {
    const [first, ...others] = findings;
    const names = unique(
      others.map(
        ({ name, urn, message }) => name ?? (urn === undefined ? message : urnParts(urn).name || urn),
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
    grants: [],
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

/** Of the grants that a change explains; the table below the findings has all. */
const MOST_GRANTS = 20;

/** Each holder once, with the grants that a change of a role or of trust alters without touching them. */
function affectedHolders(grants: readonly GrantChange[]): Block {
  const shown = grants.slice(0, MOST_GRANTS).map(describeChange);
  const holders = new Map<string, GrantLine[]>();
  for (const line of shown) {
    const name = line.name === undefined ? line.who : `${line.who} (${line.name})`;
    addTo(holders, name, line);
  }
  const [only] = holders.size === 1 && shown.length === grants.length ? holders.keys() : [];
  const more = grants.length - shown.length;
  const of = only ?? plural(holders.size, "holder");
  return {
    kind: "holders",
    heading: `Affects ${plural(grants.length, "grant")} of ${of}${more === 0 ? "" : `, the first ${shown.length} listed`}`,
    items:
      only === undefined
        ? [...holders].map(([name, lines]) => ({ name, grants: lines }))
        : shown.map((line) => ({ grants: [line] })),
  };
}

function describeSuppression(suppression: Finding["suppression"]): string | undefined {
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
    { short: "restore", heading: "Restore it", text: revert, language: "sh" },
    { short: "update the program", heading: "Update the program", text: adopt, language: "ts" },
    {
      short: "suppress",
      heading: "Suppress it in the policy file",
      text: entries === "" ? undefined : entries,
      language: "yaml",
    },
  ];
  const isOfRule = difference === undefined;
  return remedies.flatMap(({ text, ...rest }) => (text === undefined ? [] : [{ ...rest, text, isOfRule }]));
}
