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

/** All resources in memory. */
export class Store {
  /** Caller and group of every request for access; not in the data file. */
  readonly accessRequests = new Set<string>();
  private readonly byKind = new Map<string, Map<string, Entry>>();
  private readonly people = new Map<string, Person>();

  /** @param onChange called after every change. */
  constructor(
    readonly tables: readonly KindTable[],
    private readonly onChange: () => void,
  ) {
    this.clear();
  }

  clear(): void {
    this.accessRequests.clear();
    this.people.clear();
    for (const table of this.tables) {
      const { kind } = table;
      this.byKind.set(kind, new Map());
      for (const { uid, parent = "", value } of table.builtIn?.() ?? []) {
        const createdAt = timestampToMs(value.createTime) ?? 0;
        const updatedAt = timestampToMs(value.updateTime) ?? createdAt;
        this.add({ kind, uid, parent, createdAt, updatedAt, value: { ...value, uid }, builtIn: true });
      }
    }
    this.onChange();
  }

  tableOf(kind: string): KindTable {
    const table = this.tables.find((each) => each.kind === kind);
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
    this.onChange();
  }

  /** Adds a resource that was stored before, whose uid tells its parent. */
  restore(
    { kind, hasUidOfParent }: KindTable,
    uid: string,
    stored: Pick<Entry, "value" | "createdAt" | "updatedAt">,
  ): void {
    const parent = hasUidOfParent ? uid : uid.slice(0, Math.max(0, uid.lastIndexOf("/")));
    this.add({ kind, uid, parent, ...stored, builtIn: false });
  }

  update(entry: Entry, value: Message, updatedAt: number): void {
    entry.value = value;
    entry.updatedAt = updatedAt;
    this.onChange();
  }

  remove(entry: Entry): void {
    this.byKind.get(entry.kind)?.delete(entry.uid);
    this.onChange();
  }

  /** The kind is needed, because an account association has the uid of its group but not its children. */
  childrenOf({ kind, uid }: Pick<Entry, "kind" | "uid">): readonly Entry[] {
    return this.tables
      .filter((table) => table.parent === kind)
      .flatMap((table) => [...this.all(table.kind)].filter(({ parent }) => parent === uid));
  }

  /** Resources whose field has this uid. */
  referrersOf(kind: string, field: string, uid: string): readonly Entry[] {
    return [...this.all(kind)].filter(({ value }) => value[field] === uid);
  }

  all(kind: string): Iterable<Entry> {
    return this.byKind.get(kind)?.values() ?? [];
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
}

export function personUid(issuer: string, subject: string): string {
  return createHash("sha1")
    .update(`person ${JSON.stringify([issuer, subject])}`)
    .digest("hex");
}
