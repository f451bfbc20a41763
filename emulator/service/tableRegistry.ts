import type { KindTable } from "../tables/kindTable";

/** The tables of all kinds, by kind. */
export class TableRegistry {
  private readonly byKind: ReadonlyMap<string, KindTable>;

  constructor(readonly all: readonly KindTable[]) {
    this.byKind = new Map(all.map((table) => [table.kind, table]));
  }

  find(kind: string): KindTable | undefined {
    return this.byKind.get(kind);
  }

  require(kind: string): KindTable {
    const table = this.find(kind);
    if (!table) throw new Error(`no table for ${kind}`);
    return table;
  }
}
