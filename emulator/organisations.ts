import acme from "./data/acme.json";
import { decodeMessage } from "./gateway/request";
import { timestampToMs } from "./gateway/time";
import type { Json } from "./gateway/json";
import type { Store } from "./service/store";
import type { KindTable } from "./tables/kindTable";

/** Resources by collection, in the form of responses; each with a uid, or an id where its kind has no uid. */
export type Seed = Readonly<Record<string, readonly object[]>>;

/** Adds missing resources to a store without checks. @throws Error that names an invalid one. */
export function addSeed(seed: Seed, store: Store, tables: readonly KindTable[], now: number): void {
  for (const [collection, resources] of Object.entries(seed)) {
    const table = tables.find((each) => each.collection === collection);
    if (!table) throw new Error(`seed: unknown collection "${collection}"`);
    resources.forEach((resource, index) => {
      const { uid = "id" in resource ? resource.id : undefined } = resource as { uid?: unknown };
      if (typeof uid !== "string" || uid === "") throw new Error(`seed: ${collection}[${index}] has no uid`);
      if (store.find(table.kind, uid)) return;
      // As JSON, so that members that are undefined count as absent.
      const value = decodeMessage(JSON.parse(JSON.stringify(resource)) as Json, table.message);
      const createdAt = timestampToMs(value.createTime) ?? now;
      const updatedAt = timestampToMs(value.updateTime) ?? createdAt;
      store.restore(table, uid, { value: { ...value, uid }, createdAt, updatedAt });
    });
  }
}

/** The organisations that the emulator brings along, by name. */
const organisations = { acme } as const satisfies Record<string, Seed>;

export type SeedName = keyof typeof organisations;

export const seedNames = Object.keys(organisations) as readonly SeedName[];

/** @throws Error for a name that is not in the list. */
export function resolveSeed(seed: Seed | SeedName = {}): Seed {
  if (typeof seed !== "string") return seed;
  if (Object.hasOwn(organisations, seed)) return organisations[seed];
  throw new Error(`seed must be an object or one of ${seedNames.join(", ")}, not "${seed}"`);
}
