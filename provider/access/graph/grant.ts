import { compareTexts } from "../../fields/values";
import { LONGEST_SHOWN_NAME, plainOrQuoted } from "../trust/quote";
import type { SourceLocation } from "../documents/engineState";

/** Something that a report speaks of: an identity, a role, a group. */
export interface Named {
  /** Stable within the report: the uid where it is known, else the urn. */
  readonly key: string;
  readonly uid?: string;
  readonly urn?: string;
  /** The resource's own name; undefined if it is unknown. */
  readonly name?: string;
  /** Where another object of the kind has the same name: the name, and what tells this one apart. */
  readonly label?: string;
}

/** What to call it, so that no two are called alike. A name that reads as more than a name is in quotes. */
export function nameIn({ label, name, uid, key }: Named): string {
  return label ?? (name === undefined ? (uid ?? key) : plainOrQuoted(name, LONGEST_SHOWN_NAME));
}

/** The path of a group in a sentence, each name as `nameIn` writes it. */
export function pathIn(path: string): string {
  return path
    .split(" / ")
    .map((name) => plainOrQuoted(name, LONGEST_SHOWN_NAME))
    .join(" / ");
}

/** "owner on acme / payments". */
export const roleOn = ({ role, group, isOneOf }: Pick<Grant, "role" | "group" | "isOneOf">): string =>
  `${isOneOf === true ? "perhaps " : ""}${nameIn(role)} on ${pathIn(group.path)}`;

/** What to call a subject in a few words: its label or its name, or how it is described where it has none. */
export function shortName(subject: Subject): string {
  return subject.name === undefined ? (subject.label ?? subject.displayName) : nameIn(subject);
}

/** The identity, invite, directory group or service that has a grant. */
export interface Subject extends Named {
  readonly type: "identity" | "invite" | "identityProvider" | "externalGroup" | "service" | "unknown";
  /** For people: "GitHub Actions of acme/pay, branch main". */
  readonly displayName: string;
  /** Whether more than one outsider can be it: a pattern, an invite without an e-mail address. */
  readonly matchesMany: boolean;
}

export interface GrantedRole extends Named {
  readonly builtIn: boolean;
  /** Undefined where they are not known. Sorted. */
  readonly capabilities?: readonly string[];
}

export interface Scope extends Named {
  /** Names from the root down, joined by " / ": "acme / payments". */
  readonly path: string;
  readonly isRoot: boolean;
}
/** One subject holding one role at one group and everything below it. */
export interface Grant {
  readonly subject: Subject;
  readonly role: GrantedRole;
  readonly group: Scope;
  /** The kind of resource that grants it: `RoleBinding`, `GroupAccess`, `GroupInvite`, … */
  readonly sourceKind: string;
  readonly urn?: string;
  readonly uid?: string;
  readonly location?: SourceLocation;
  /** It is one of several that its resource may grant: which of them is known after the update only. */
  readonly isOneOf?: true;
}

export interface GrantChange {
  readonly change: "gained" | "lost" | "widened" | "narrowed";
  /** After the change; before it where it is lost. */
  readonly grant: Grant;
  /** Where it is widened or narrowed: what it was. */
  readonly before?: Grant;
  /** In words: "role gains 3 capabilities", "moves from acme / payments up to acme". */
  readonly reason: string;
  readonly capabilitiesAdded: readonly string[];
  readonly capabilitiesRemoved: readonly string[];
}
/** A node of the tree of groups, with what changes there. */
export interface GroupNode extends Scope {
  readonly parentKey?: string;
  readonly change: "added" | "removed" | "moved" | "renamed" | "same";
}
/** The reason of a change that is a new grant, and nothing else. */
export const NEW_GRANT = "new grant";

/** The reason of a grant in drift that no state has recorded, and that may be older than all that is. */
export const NOT_IN_PROGRAM = "is not in the program";

/** Whether a change gives more access. */
export const isGain = ({ change }: Pick<GrantChange, "change">): boolean =>
  change === "gained" || change === "widened";

/** Who, what and where, as one text: two resources that grant the same have the same. */
export function tupleOf({ subject, role, group }: Pick<Grant, "subject" | "role" | "group">): string {
  return JSON.stringify([subject.key, role.key, group.key]);
}
/** The order in which people look for grants; the same for the same grants. */
export function compareGrants(a: Grant, b: Grant): number {
  const name = ({ name, key }: Named) => name ?? key;
  return (
    compareTexts(a.subject.displayName, b.subject.displayName) ||
    compareTexts(name(a.role), name(b.role)) ||
    compareTexts(a.group.path, b.group.path) ||
    compareTexts(a.sourceKind, b.sourceKind) ||
    compareTexts(a.urn ?? a.uid ?? "", b.urn ?? b.uid ?? "") ||
    compareTexts(a.subject.key + a.role.key + a.group.key, b.subject.key + b.role.key + b.group.key)
  );
}
