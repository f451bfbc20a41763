import type { Props } from "../../engine/description";

/**
 * The document of `pulumi-platform inventory`. `npm run docs` makes `schema/inventory.schema.json` of these types:
 * tags such as `@pattern` go into it, and `@errorMessage` is what a reader says where a value does not fit.
 */

/** The version of the form of inventories. */
export const INVENTORY_VERSION = 1;

/**
 * @pattern ^[0-9a-f]{40}(/[0-9a-f]{16})*$
 * @errorMessage must be a uid: 40 hex digits, then 16 more after each slash
 */
export type Uid = string;

/** One object of the live organisation, in the form in which a program would declare it. */
export interface InventoryObject {
  /** The registry key: `RoleBinding`. */
  readonly kind: string;
  readonly uid: Uid;
  /** What a resource's arguments would hold, `parentUid` included; secrets are never there. */
  readonly inputs: Props;
  /** A built-in role: the platform's, no one's to manage. */
  readonly builtIn?: true;
  /** RFC 3339, as the server wrote it; absent where it tells none. */
  readonly createTime?: string;
  readonly updateTime?: string;
  readonly lastSeenTime?: string;
  /** What the server alone says and a review needs (an invite's `expirationTime`, …). */
  readonly details?: Props;
}

/** A list that the server refused or that broke off. */
export interface RefusedList {
  readonly kind: string;
  /** Below which group, or at which resource, the list was asked for. */
  readonly scope?: string;
  /** The name of a google.rpc code, or `CONNECTION`. */
  readonly code: string;
  readonly message: string;
}

/** The live organisation below one root group, sorted by kind and uid. */
export interface Inventory {
  readonly schemaVersion: typeof INVENTORY_VERSION;
  /** The uid of the group that it is about. */
  readonly root: Uid;
  /** RFC 3339: when the first list was asked for. */
  readonly takenAt: string;
  readonly complete: boolean;
  readonly refused: readonly RefusedList[];
  /** The kinds that were listed. */
  readonly kinds: readonly string[];
  /** Objects of other kinds that were asked for by their uids: one that is not below does not exist. */
  readonly asked?: readonly { readonly kind: string; readonly uid: string }[];
  readonly objects: readonly InventoryObject[];
}
