import { failedPrecondition } from "../gateway/status";
import type { Reference } from "../tables/kindTable";
import type { Entry, Store } from "./store";
import type { TableRegistry } from "./tableRegistry";

/** Checks that nothing prevents a delete. @throws StatusError code 9 that names the children or the users. */
export function checkDelete(store: Store, tables: TableRegistry, entry: Entry): void {
  const title = `${entry.kind} "${entry.uid}"`;
  const children = store
    .childrenOf(entry)
    .filter((child) => !tables.find(child.kind)?.behaviour?.isDeletedWithParent);
  if (tables.find(entry.kind)?.behaviour?.refusesDeleteWithChildren && children.length > 0) {
    const description = `${title} still has ${describeEntries(tables, children)}`;
    throw failedPrecondition("RESOURCE_NOT_EMPTY", entry.uid, description);
  }
  for (const { referrers, onDelete } of findReferrers(store, tables, entry)) {
    if (onDelete !== "refuse" || referrers.length === 0) continue;
    const description = `${title} is used by ${describeEntries(tables, referrers)}`;
    throw failedPrecondition("RESOURCE_IN_USE", entry.uid, description);
  }
}

/** Removes a resource with its children and everything that refers to it. */
export function removeEntry(store: Store, tables: TableRegistry, entry: Entry): void {
  for (const child of store.childrenOf(entry)) removeEntry(store, tables, child);
  for (const { referrers } of findReferrers(store, tables, entry)) {
    for (const referrer of referrers) removeEntry(store, tables, referrer);
  }
  store.remove(entry);
}

function findReferrers(
  store: Store,
  tables: TableRegistry,
  entry: Entry,
): { referrers: readonly Entry[]; onDelete: Reference["onDelete"] }[] {
  return tables.all.flatMap(({ kind, behaviour }) =>
    (behaviour?.references ?? [])
      .filter((reference) => reference.kind === entry.kind)
      .map(({ field, onDelete }) => ({ referrers: store.referrersOf(kind, field, entry.uid), onDelete })),
  );
}

const maxNames = 10;

/** For example `2 repos (nginx, redis), 1 identities (ci)`. */
function describeEntries(tables: TableRegistry, entries: readonly Entry[]): string {
  const byCollection = new Map<string, string[]>();
  for (const { kind, uid, value } of entries) {
    const collection = tables.find(kind)?.collection ?? kind;
    byCollection.set(collection, [...(byCollection.get(collection) ?? []), (value.name ?? uid) as string]);
  }
  return [...byCollection]
    .map(([collection, names]) => {
      const shown = names.slice(0, maxNames).join(", ");
      return `${names.length} ${collection} (${shown}${names.length > maxNames ? ", …" : ""})`;
    })
    .join(", ");
}
