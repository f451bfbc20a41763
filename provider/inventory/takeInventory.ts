import type { Inventory } from "../access/documents/inventory";
import type { Client } from "../api/client";
import { InventoryReader } from "./inventoryReader";

/** What to read of the live organisation. */
export interface InventoryRequest {
  /** The uid of a group: the group itself and everything below it are listed. */
  readonly root: string;
  /** Names of kinds to list; by default `listedKinds`. */
  readonly kinds?: readonly string[];
  /** Objects of kinds that are not listed, by kind, to read by their uids. */
  readonly additionalUids?: ReadonlyMap<string, readonly string[]>;
  /** Parents whose children are listed, by the kind of the children. */
  readonly parentsToList?: ReadonlyMap<string, Iterable<string>>;
  /** Whether the group may have been deleted: its inventory is then empty, and no error. */
  readonly isRootOptional?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called after each page or object with the number of objects of the kind so far. */
  readonly progress?: (kind: string, count: number) => void;
}

/**
 * Lists the live organisation below one group: at most one list call for each kind and 200 objects. A list
 * that is refused or breaks off is named in `refused`, and `complete` is false.
 *
 * @throws ApiError with code UNAUTHENTICATED where the server refuses the token; ConnectionError or Error where
 * the group itself cannot be read.
 */
export function takeInventory(client: Client, request: InventoryRequest): Promise<Inventory> {
  return new InventoryReader(client, request).read();
}
