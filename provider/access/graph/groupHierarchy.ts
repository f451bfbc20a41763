import { groupBy, getOrCompute } from "../../fields/values";
import { printable } from "../../text/printable";
import { isUid, parentOf } from "../../text/uid";
import { urnParts } from "../documents/engineState";
import {
  DocumentError,
  formatCount,
  LONGEST_GROUP_PATH,
  MOST_GROUP_LEVELS,
  overLimit,
} from "../documents/jsonText";
import { plainOrQuoted } from "../trust/quote";
import { foldName } from "../trust/writingSystems";
import { textMeant } from "./describedFields";
import { type Named, type Subject } from "./grant";
import type { Scope } from "./grant";
import { withoutRetained } from "./entityKeys";
import type { Entities } from "./model";
import { isCalledByName } from "./accessKinds";
import { isUnread } from "./unread";

/**
 * The path of a group: names from the root down. A slash in a name is escaped, so that one group whose name is
 * `acme / sandbox` does not have the path of the group sandbox in acme.
 */
export function groupPath(names: readonly string[]): string {
  return names.map((name) => name.replace(/[\\/]/g, "\\$&")).join(" / ");
}

/** Groups by key: their names and places. */
export class GroupHierarchy {
  private readonly scopes = new Map<string, Scope>();
  private readonly chains = new Map<string, readonly string[]>();

  constructor(private readonly entities: Entities) {}

  /** The key of the parent; undefined for a root, and if it is unknown. */
  parentOf(key: string): string | undefined {
    const entity = this.entities.get(key);
    if (entity === undefined) return isUid(key) ? parentOf(key) : undefined;
    const parent = entity.inputs["parentUid"];
    // A uid contains the parent's uid; the inputs of a resource read with `.get` are unverified.
    const isReliable = typeof parent === "string" && parent !== "" && !isUnread(parent) && !entity.claimed;
    if (isReliable) return parent;
    return entity.uid === undefined ? undefined : parentOf(entity.uid);
  }

  /** The group that an identity lies in: it acts there and below only. Undefined for other holders, and where it is not known. */
  ownGroupOf({ type, key }: Subject): string | undefined {
    return type === "identity" ? this.parentOf(key) : undefined;
  }

  /** Whether a holder can do at a group what its roles allow. */
  actsAt(subject: Subject, group: string): boolean {
    const own = this.ownGroupOf(subject);
    if (own === undefined) return !isUnread(this.entities.get(subject.key)?.inputs["parentUid"]);
    return this.chain(group).includes(own);
  }

  /**
   * The group from which downwards a holder can do what its roles at a group allow: that of its identity, where this lies below
   * it. Undefined where it never can.
   */
  actsFrom(subject: Subject, group: string): string | undefined {
    const own = this.ownGroupOf(subject);
    if (own === undefined || this.chain(group).includes(own)) return group;
    return this.chain(own).includes(group) ? own : undefined;
  }

  /**
   * The key itself and its ancestors', from below.
   *
   * @throws DocumentError where groups are nested too deeply, since what is compared for each of them has all above it, and
   *   where a group lies in itself: nobody can say who has access there.
   */
  chain(key: string): readonly string[] {
    return getOrCompute(this.chains, key, () => this.findChain(key));
  }

  private findChain(key: string): readonly string[] {
    const chain: string[] = [];
    for (let at: string | undefined = key; at !== undefined; at = this.parentOf(at)) {
      if (chain.includes(at)) {
        const names = chain
          .slice(chain.indexOf(at))
          .map((each) => printable(labelByKey(this.entities, each), 80));
        throw new DocumentError(
          "PP6003",
          `the document says that the group ${names.join(" lies in ")} lies in ${names[0] ?? ""}: write it again`,
        );
      }
      if (chain.length === MOST_GROUP_LEVELS) {
        const name = printable(labelByKey(this.entities, key), 80);
        throw overLimit(`the group ${name} lies below more groups`, String(MOST_GROUP_LEVELS), "move it up");
      }
      chain.push(at);
    }
    return chain;
  }

  /** @throws DocumentError as `chain` does, and where the names in a path are too long together. */
  scope(key: string): Scope {
    return getOrCompute(this.scopes, key, () => {
      const chain = this.chain(key);
      const entity = this.entities.get(key);
      return {
        ...findNamed(this.entities, key),
        path: this.pathOf(chain),
        isRoot:
          chain.length === 1 &&
          (isUid(key) || (entity !== undefined && !isUnread(entity.inputs["parentUid"]))),
      };
    });
  }

  private pathOf(chain: readonly string[]): string {
    const names = chain.map((step) => labelByKey(this.entities, step)).reverse();
    const path = groupPath(names);
    if (path.length <= LONGEST_GROUP_PATH) return path;
    throw overLimit(
      `the path of the group ${printable(names.at(-1) ?? "", 80)}, its name and those above it, has ${formatCount(path.length)} characters`,
      formatCount(LONGEST_GROUP_PATH),
      "write shorter names",
    );
  }
}

export function findNamed(entities: Entities, key: string): Named {
  const entity = entities.get(key);
  if (entity) return { key, uid: entity.uid, urn: entity.urn, name: entity.name };
  return { key, ...(isUid(key) ? { uid: key } : {}) };
}

/**
 * The names of objects of which another one of the kind has the same name, each with what tells it apart: the issuer of a
 * provider, the group that it is in, and its uid.
 */
export function distinctLabels(entities: Entities): ReadonlyMap<string, string> {
  const named = [...entities.values()].filter(({ kind, name }) => isCalledByName(kind) && name !== undefined);
  const alike = groupBy(named, ({ kind, name = "" }) => [JSON.stringify([kind, foldName(name)])]);
  const hierarchy = new GroupHierarchy(entities);
  const labels = new Map<string, string>();
  for (const namesakes of alike.values()) {
    const isAlone = new Set(namesakes.map(({ key }) => withoutRetained(key))).size < 2;
    if (isAlone) continue;
    for (const namesake of namesakes) {
      const { key, uid, name = "", inputs, builtIn } = namesake;
      const { parentUid } = inputs;
      const issuer = textMeant(namesake, "signIn.issuer");
      const isPlaced = typeof parentUid === "string" && parentUid !== "" && !isUnread(parentUid);
      const parts = [
        ...(issuer === undefined ? [] : [issuer]),
        ...(builtIn ? ["built in"] : isPlaced ? [`in ${hierarchy.scope(parentUid).path}`] : []),
        uid === undefined ? "new" : `uid ${uid.includes("/") ? `…${uid.slice(uid.lastIndexOf("/"))}` : uid}`,
      ];
      labels.set(key, `${plainOrQuoted(name)} (${parts.join(", ")})`);
    }
  }
  return labels;
}

/** What to call something in few letters: its name, the program's name of it, or the end of its uid. */
export function labelByKey(entities: Entities, key: string): string {
  const entity = entities.get(key);
  if (entity?.name !== undefined) return entity.name;
  if (entity?.urn !== undefined) {
    const { formerName = urnParts(entity.urn).name, unread = [] } = entity;
    // The program chooses the name of a resource: it may be that of another object.
    return unread.some(({ path }) => path === "name") ? `${formerName} (name not known)` : formerName;
  }
  return isUid(key) ? key.slice(key.lastIndexOf("/") + 1).slice(0, 12) : key;
}
