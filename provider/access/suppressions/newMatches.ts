import { accessKinds } from "../graph/accessKinds";
import { isHiddenProperty } from "../graph/resourcePlan";
import { GroupHierarchy } from "../graph/groupHierarchy";
import type { Entity } from "../graph/model";
import type { Comparison } from "../review/comparison";
import { canReport } from "../rules/rule";
import { findRule } from "../rules";
import { describeTrust } from "../graph/trust";
import type { NewMatch } from "../rules/ruleOptions";
import { trustMatches } from "../trust/addressGlob";
import { globMatches } from "../trust/glob";
import { isExpired } from "./applyPolicy";
import { displayNameOf, escapeName } from "./matchTexts";
import { matchKeys } from "./policyDocument";
import type { MatchKey, Policy, PolicyEntry } from "./policyDocument";

/** A string of an object that a glob is compared with; `unknown` is one that may become any. */
type Text = string | undefined | typeof UNKNOWN_TEXT;

const UNKNOWN_TEXT = Symbol("unknown");

/** An object on one side of a change. */
interface Side {
  readonly entity: Entity;
  readonly hierarchy: GroupHierarchy;
  readonly hidesParent?: true;
}

const isHolder = ({ kind }: Entity): boolean => accessKinds[kind]?.describeHolder !== undefined;

/** What an object alone decides of what an exception matches. */
function ownKeys(entity: Entity, { match = {} }: PolicyEntry): readonly MatchKey[] {
  const keys: readonly MatchKey[] = isHolder(entity)
    ? ["name", "subject", "issuer"]
    : entity.kind === "Role" && match.role !== undefined
      ? ["role"]
      : entity.kind === "Group" && match.group !== undefined
        ? ["group"]
        : ["name"];
  return keys.filter((key) => match[key] !== undefined && !/^[*?]+$/.test(match[key]));
}

function textsOf({ entity, hierarchy, hidesParent }: Side, key: MatchKey): readonly Text[] {
  const name = isHiddenProperty(entity, "name") ? UNKNOWN_TEXT : entity.name;
  const trust = describeTrust(entity);
  if (key === "subject") return [displayNameOf(entity), name, trust?.subject];
  if (key === "issuer") return [trust?.issuer];
  if (key !== "group") return [name];
  const path =
    hidesParent === true || isHiddenProperty(entity, "parentUid")
      ? UNKNOWN_TEXT
      : hierarchy.scope(entity.key).path;
  return [name === UNKNOWN_TEXT ? name : path, name === UNKNOWN_TEXT ? name : escapeName(entity)];
}

function matchesAll(side: Side | undefined, keys: readonly MatchKey[], { match = {} }: PolicyEntry): boolean {
  if (side === undefined) return false;
  return keys.every((key) => {
    const glob = match[key] ?? "";
    const matches = key === "subject" || key === "issuer" ? trustMatches : globMatches;
    return textsOf(side, key).some(
      (text) => text === UNKNOWN_TEXT || (text !== undefined && matches(glob, text)),
    );
  });
}

/** Whether findings that an entry is for can be about an object, or about a grant to it, of it or in it. */
function isConcerned({ rule, type }: PolicyEntry, entity: Entity): boolean {
  if (isHolder(entity) || entity.kind === "Role" || entity.kind === "Group") return true;
  if (type !== undefined && type !== entity.kind) return false;
  const found = rule === undefined ? undefined : findRule(rule);
  return found === undefined || canReport(found, entity.kind);
}

/** Evaluates the exceptions of a policy on what was there before a change and on what is there after it. */
class NewMatches {
  private readonly before: GroupHierarchy;
  private readonly after: GroupHierarchy;
  private readonly written: ReadonlySet<string | undefined>;

  constructor(private readonly comparison: Comparison) {
    this.before = new GroupHierarchy(comparison.recorded ?? new Map());
    this.after = new GroupHierarchy(comparison.after.entities);
    this.written = new Set(
      comparison.changes.flatMap(({ op, after }) =>
        op === "create" || op === "update" || op === "replace" ? [after?.key] : [],
      ),
    );
  }

  /** A reference to what exists that the preview does not know may name any group. */
  private hidesParent({ assumptions = [] }: Entity): boolean {
    const { entities } = this.comparison.after;
    return assumptions.some(
      ({ property, key }) => property === "parentUid" && entities.get(key)?.uid !== undefined,
    );
  }

  private sides(entity: Entity): { readonly before?: Side; readonly after: Side } {
    const record = this.comparison.recorded?.get(entity.uid ?? "");
    return {
      ...(record === undefined ? {} : { before: { entity: record, hierarchy: this.before } }),
      after: { entity, hierarchy: this.after, ...(this.hidesParent(entity) ? { hidesParent: true } : {}) },
    };
  }

  /** The path of a group changes with each group above it; all else only with itself. */
  private isChanged({ kind, key, uid }: Entity): boolean {
    return this.written.has(key) || (kind === "Group" && this.comparison.recorded?.has(uid ?? "") === true);
  }

  /** A group comes with the one above it: only one that moved there is news. */
  private isCovered(entity: Entity, keys: readonly MatchKey[], entry: PolicyEntry): boolean {
    if (!keys.includes("group")) return false;
    const [, above = ""] = this.after.chain(entity.key);
    const parent = this.comparison.after.entities.get(above);
    if (parent === undefined || !matchesAll(this.sides(parent).after, ["group"], entry)) return false;
    const { before } = this.sides(entity);
    return before === undefined || before.hierarchy.parentOf(before.entity.key) === parent.uid;
  }

  *of(entry: PolicyEntry): Generator<{ readonly entity: Entity; readonly keys: readonly MatchKey[] }> {
    for (const entity of this.comparison.after.entities.values()) {
      if (!this.isChanged(entity) || !isConcerned(entry, entity)) continue;
      const keys = ownKeys(entity, entry);
      if (keys.length === 0) continue;
      const { before, after } = this.sides(entity);
      if (!matchesAll(after, keys, entry) || matchesAll(before, keys, entry)) continue;
      if (!this.isCovered(entity, keys, entry)) yield { entity, keys };
    }
  }
}

/**
 * Finds what begins to match an exception by a change: the change itself is judged without it, and the next one is not.
 * An entry with a fingerprint accepts one finding, whatever matches it.
 */
export function findNewMatches(policy: Policy, now: number, comparison: Comparison): NewMatch[] {
  const found = new NewMatches(comparison);
  return policy.entries.flatMap((entry) => {
    // A uid of its own stays with its object.
    const isOpen = matchKeys.some((key) => key !== "uid" && entry.match?.[key] !== undefined);
    if (!isOpen || entry.fingerprint !== undefined || isExpired(entry, now)) return [];
    return Array.from(found.of(entry), ({ entity, keys }) => ({
      entity,
      condition: matchKeys
        .filter((key) => keys.includes(key))
        .map((key) => `${key}: ${entry.match?.[key] ?? ""}`)
        .join(", "),
      entry: `${policy.file}:${entry.line}`,
    }));
  });
}
