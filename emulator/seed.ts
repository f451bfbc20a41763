import { decodeMessage } from "./gateway/decode";
import { timestampToMs } from "./gateway/scalars";
import { readJson } from "./gateway/strictJson";
import { storedParentUid } from "./dataFile";
import type { Store } from "./service/store";
import type { KindTable } from "./tables/kindTable";

/** Resources by collection, in the form of responses; each with a uid, or an id where its kind has no uid. */
export type Seed = Readonly<Record<string, readonly object[]>>;

/** Adds missing resources to a store without checks. @throws Error that names an invalid one. */
export function addSeed(seed: Seed, store: Store, tables: readonly KindTable[], now: number): void {
  for (const [collection, resources] of Object.entries(seed)) {
    const table = tables.find((each) => each.collection === collection);
    if (!table) throw new Error(`seed: unknown collection "${collection}"`);
    const { kind } = table;
    resources.forEach((resource, index) => {
      const { uid = "id" in resource ? resource.id : undefined } = resource as { uid?: unknown };
      if (typeof uid !== "string" || uid === "") throw new Error(`seed: ${collection}[${index}] has no uid`);
      if (store.find(kind, uid)) return;
      const text = JSON.stringify(resource);
      const node = readJson(text);
      if (!node) return;
      const value = decodeMessage(node, table.message, text);
      const createdAt = timestampToMs(value.createTime) ?? now;
      const updatedAt = timestampToMs(value.updateTime) ?? createdAt;
      value.uid = uid;
      store.add({
        kind,
        uid,
        parent: storedParentUid(uid, table),
        createdAt,
        updatedAt,
        value,
        builtIn: false,
      });
    });
  }
}
