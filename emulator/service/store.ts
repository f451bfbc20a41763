import { createHash, randomBytes } from "node:crypto";
import type { Message } from "../gateway/fields";
import { timestampToMs } from "../gateway/time";
import type { KindTable } from "../tables/kindTable";

export interface Entry {
  readonly kind: string;
  readonly uid: string;
  /** The uid up to its last slash, or the same uid for a kind that has its parent's; "" for roots. */
  readonly parent: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  updatedAt: number;
  value: Message;
  readonly builtIn: boolean;
}

export interface Person {
  readonly issuer: string;
  readonly subject: string;
}

const builtInCache = new WeakMap<KindTable, readonly Entry[]>();

/** The built-in resources of a kind: they never change, so all servers of a process share them. */
function builtInEntries(table: KindTable): readonly Entry[] {
  const known = builtInCache.get(table);
  if (known) return known;
  const entries = (table.builtIn?.() ?? []).map(({ uid, parent = "", value }): Entry => {
    const createdAt = timestampToMs(value.createTime) ?? 0;
    const updatedAt = timestampToMs(value.updateTime) ?? createdAt;
    const shared = Object.freeze({ ...value, uid });
    return Object.freeze({
      kind: table.kind,
      uid,
      parent,
      createdAt,
      updatedAt,
      value: shared,
      builtIn: true,
    });
  });
  builtInCache.set(table, entries);
  return entries;
}

/** All resources in memory, with indexes for deletes, filters and pages. */
export class Store {
  /** Caller and group of every request for access; not in the data file. */
  readonly accessRequests = new Set<string>();
  private readonly tableByKind: ReadonlyMap<string, KindTable>;
  private readonly byKind = new Map<string, Map<string, Entry>>();
  private readonly children = new Map<string, Set<Entry>>();
  private readonly referrers = new Map<string, Set<Entry>>();
  private readonly sortedCache = new Map<string, Entry[]>();
  private readonly people = new Map<string, Person>();

  /** @param onChange called after every change. */
  constructor(
    readonly tables: readonly KindTable[],
    private readonly onChange: () => void = () => undefined,
  ) {
    this.tableByKind = new Map(tables.map((table) => [table.kind, table]));
    this.clear();
  }

  clear(): void {
    this.accessRequests.clear();
    for (const index of [this.children, this.referrers, this.sortedCache, this.people]) index.clear();
    for (const table of this.tables) {
      this.byKind.set(table.kind, new Map());
      for (const entry of builtInEntries(table)) this.add(entry);
    }
    this.onChange();
  }

  tableOf(kind: string): KindTable {
    const table = this.tableByKind.get(kind);
    if (!table) throw new Error(`no table for ${kind}`);
    return table;
  }

  find(kind: string, uid: string): Entry | undefined {
    return this.byKind.get(kind)?.get(uid);
  }

  /** Whether there is a resource with this uid; a person counts as an identity. */
  exists(kind: string, uid: string): boolean {
    return this.find(kind, uid) !== undefined || (kind === "Identity" && this.people.has(uid));
  }

  add(entry: Entry): void {
    this.byKind.get(entry.kind)?.set(entry.uid, entry);
    if (entry.parent !== "") addTo(this.children, this.parentKey(entry), entry);
    this.forEachReference(entry, entry.value, (key) => addTo(this.referrers, key, entry));
    this.invalidate(entry.kind);
  }

  update(entry: Entry, value: Message, updatedAt: number): void {
    this.forEachReference(entry, entry.value, (key) => removeFrom(this.referrers, key, entry));
    entry.value = value;
    entry.updatedAt = updatedAt;
    this.forEachReference(entry, value, (key) => addTo(this.referrers, key, entry));
    this.invalidate(entry.kind);
  }

  remove(entry: Entry): void {
    this.byKind.get(entry.kind)?.delete(entry.uid);
    if (entry.parent !== "") removeFrom(this.children, this.parentKey(entry), entry);
    this.forEachReference(entry, entry.value, (key) => removeFrom(this.referrers, key, entry));
    this.invalidate(entry.kind);
  }

  childrenOf({ kind, uid }: Pick<Entry, "kind" | "uid">): readonly Entry[] {
    return [...(this.children.get(`${kind} ${uid}`) ?? [])];
  }

  /** Resources whose field has this uid. */
  referrersOf(kind: string, field: string, uid: string): readonly Entry[] {
    return [...(this.referrers.get(`${kind}.${field}.${uid}`) ?? [])];
  }

  /** All of a kind in this order, cached until the kind changes. */
  listSorted(kind: string, order: string, compare: (one: Entry, other: Entry) => number): readonly Entry[] {
    const key = `${kind} ${order}`;
    let entries = this.sortedCache.get(key);
    if (!entries) {
      entries = [...(this.byKind.get(kind)?.values() ?? [])].sort(compare);
      this.sortedCache.set(key, entries);
    }
    return entries;
  }

  all(kind: string): Iterable<Entry> {
    return this.byKind.get(kind)?.values() ?? [];
  }

  hasAny(kind: string): boolean {
    return (this.byKind.get(kind)?.size ?? 0) > 0;
  }

  newUid(parent: string): string {
    return parent === "" ? randomBytes(20).toString("hex") : `${parent}/${randomBytes(8).toString("hex")}`;
  }

  /** Registers the person with this issuer and subject, and returns the uid, which depends on them alone. */
  ensurePerson(issuer: string, subject: string): string {
    const uid = personUid(issuer, subject);
    if (!this.people.has(uid)) {
      this.people.set(uid, { issuer, subject });
      this.onChange();
    }
    return uid;
  }

  findPerson(uid: string): Person | undefined {
    return this.people.get(uid);
  }

  listPeople(): Person[] {
    return [...this.people.values()];
  }

  /** The key includes the kind, because an account association has the uid of its group but not its children. */
  private parentKey(entry: Entry): string {
    return `${this.tableOf(entry.kind).parent} ${entry.parent}`;
  }

  /** Drops the cached lists of a kind that has changed. */
  private invalidate(kind: string): void {
    for (const key of this.sortedCache.keys()) if (key.startsWith(`${kind} `)) this.sortedCache.delete(key);
    this.onChange();
  }

  private forEachReference(entry: Entry, value: Message, visit: (key: string) => void): void {
    const { references = [] } = this.tableOf(entry.kind);
    for (const { field } of references) visit(`${entry.kind}.${field}.${value[field] as string}`);
  }
}

export function personUid(issuer: string, subject: string): string {
  return createHash("sha1")
    .update(`person ${JSON.stringify([issuer, subject])}`)
    .digest("hex");
}

function addTo<T>(index: Map<string, Set<T>>, key: string, item: T): void {
  const known = index.get(key);
  if (known) known.add(item);
  else index.set(key, new Set([item]));
}

/** Removes empty sets too, because uids are never used again. */
function removeFrom<T>(index: Map<string, Set<T>>, key: string, item: T): void {
  const known = index.get(key);
  known?.delete(item);
  if (known?.size === 0) index.delete(key);
}
