import { DAY_MS } from "../../fields/formats";
import { aggregatedKind, objectKey } from "../../fields/resourceSpec";
import { isObject } from "../../fields/values";
import type { Props } from "../../fields/values";
import { parentUidOf } from "../../fields/wire";
import { kinds } from "../../kinds";
import { printable } from "../../text/printable";
import { documentProblem, DocumentError, parseJson, checkInputSizes, checkNameLengths } from "./jsonText";
import { specs } from "./specs";

/**
 * The document of `pulumi-platform inventory`. `npm run docs` writes `schema/inventory.schema.json` from these types and
 * their tags, such as `@pattern`; `@errorMessage` is the message about a value that does not match.
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
  /** The arguments that a resource would have, `parentUid` included and secrets excluded. */
  readonly inputs: Props;
  /** A built-in role: the platform's, no one's to manage. */
  readonly builtIn?: true;
  /** RFC 3339, as the server wrote it; absent if the response has none. */
  readonly createTime?: string;
  readonly updateTime?: string;
  readonly lastSeenTime?: string;
  /** What only the server sets and a review needs (an invite's `expirationTime`, …). */
  readonly details?: Props;
}

/** A list that the server refused, that broke off, or of which the caller may see a part only. */
export interface RefusedList {
  readonly kind: string;
  /** The group or resource whose list was refused. */
  readonly scope?: string;
  /** The name of a google.rpc code, or `CONNECTION`. */
  readonly code: string;
  /**
   * The code of the error, as in PP3403.
   *
   * @pattern ^PP[0-9]{4}$
   */
  readonly errorCode: string;
  readonly message: string;
}

/** The live organisation below one root group, sorted by kind and uid. */
export interface Inventory {
  readonly schemaVersion: typeof INVENTORY_VERSION;
  /** The uid of the group that it is about. */
  readonly root: Uid;
  /** RFC 3339: the time of the first list request. */
  readonly takenAt: string;
  /**
   * Who took it, as its token says. The bindings of an identity tell whether it may list all; absent where the token names
   * nobody.
   */
  readonly caller?: Uid;
  readonly complete: boolean;
  readonly refused: readonly RefusedList[];
  /** The kinds that were listed. */
  readonly kinds: readonly string[];
  /** Objects of other kinds that were read by their uids: one that is missing in `objects` does not exist. */
  readonly asked?: readonly { readonly kind: string; readonly uid: string }[];
  readonly objects: readonly InventoryObject[];
}

const kindSpecs = kinds.map(({ spec }) => spec);

/** The kinds that an inventory can contain. A kind that aggregates others is contained as its members. */
export const inventoryKinds: readonly string[] = kindSpecs
  .filter((spec) => aggregatedKind(spec) === undefined)
  .map(({ kind }) => kind);

/** The kinds that an inventory contains by default. */
export const listedKinds: readonly string[] = kindSpecs
  .filter((spec) => spec.listing?.onDemand !== true && aggregatedKind(spec) === undefined)
  .map(({ kind }) => kind);

/** Whether a uid is a group or lies below it. */
export function isWithin(uid: string, root: string): boolean {
  return uid === root || uid.startsWith(`${root}/`);
}

/** Whether an inventory contains every object of a kind at a uid: one that it lacks does not exist. */
export function listsObject(inventory: Inventory, kind: string, uid: string): boolean {
  const { root, kinds, refused, asked } = inventory;
  if (refused.some((list) => list.kind === kind)) return false;
  if (asked?.some((object) => object.kind === kind && object.uid === uid) === true) return true;
  return kinds.includes(kind) && isWithin(uid, root);
}

/** Why an inventory does not list everything that a review, or its check afterwards, has to see, a line each. */
export function inventoryGaps({ refused, kinds }: Inventory): string[] {
  const missing = listedKinds.filter((kind) => !kinds.includes(kind));
  return [
    ...(missing.length > 0
      ? [`the inventory does not list ${missing.join(", ")}: take it without --types, or with --types +KIND`]
      : []),
    ...refused.map(
      ({ kind, code, errorCode }) =>
        `the inventory lacks ${kind}: the server refused its list, or a part of it (${code}) (${errorCode})`,
    ),
  ];
}

/** What an inventory lacks, a line each. */
export function describeRefusals({ refused }: Inventory): string[] {
  return refused.map(
    ({ kind, scope, code, errorCode, message }) =>
      `${kind}${scope === undefined ? "" : ` at ${scope}`} was not read: ${code}: ${printable(message, 300)} (${errorCode})`,
  );
}

/** Days after which an inventory no longer counts as the live organisation. A nightly one is read for a day, or a weekend. */
const OLDEST_DAYS = 3;

/**
 * Why an inventory does not show what the server has now; undefined where it does.
 *
 * @param now milliseconds since the epoch.
 */
export function describeStaleness({ takenAt }: Inventory, now: number): string | undefined {
  const days = (now - Date.parse(takenAt)) / DAY_MS;
  if (days <= OLDEST_DAYS) return undefined;
  return `the inventory was taken ${Math.floor(days).toLocaleString("en-US")} days ago, at ${takenAt}, and what was changed at the server since is not seen: take it again (npx --no pulumi-platform inventory)`;
}

/**
 * No object is listed twice: which of the two is live would depend on the reader. And each lies in the group that its uid
 * begins with: so no group lies in one that lies in it.
 */
function objectProblem({ objects }: Inventory): string | undefined {
  const listed = new Set<string>();
  for (const [i, { kind, uid, inputs }] of objects.entries()) {
    const key = objectKey(kind, uid);
    if (listed.has(key)) return `objects[${i}] is ${kind} ${printable(uid, 80)} a second time`;
    listed.add(key);
    const spec = specs[kind];
    const { parentUid } = inputs;
    if (spec === undefined || parentUid === undefined) continue;
    const parent = parentUidOf(spec, uid);
    if (parentUid === parent) continue;
    return `objects[${i}].inputs.parentUid must be ${parent ?? "left out"}, where its uid ${printable(uid, 80)} says that it lies`;
  }
  return undefined;
}

/** Checks what a schema cannot: valid calendar times, and members that agree. */
function contentProblem({ takenAt, complete, refused }: Inventory): string | undefined {
  if (Number.isNaN(Date.parse(takenAt))) return "takenAt must be an RFC 3339 time";
  if (complete === (refused.length === 0)) return undefined;
  return complete
    ? "complete must be false where refused names lists"
    : "refused must name a list where complete is false";
}

/**
 * Reads the document of `pulumi-platform inventory` (`schema/inventory.schema.json`).
 *
 * @param name what messages call it: a path.
 * @throws DocumentError in one line that names the property: `objects[3].uid must be a uid`.
 */
export function parseInventory(input: string | Uint8Array, name = "the inventory"): Inventory {
  const file = printable(name, 200);
  const value = parseJson(input, file);
  if (isObject(value["deployment"])) {
    throw new DocumentError(
      "PP6002",
      `${file} is an export of a stack, not an inventory: give it to --state, and make an inventory with npx --no pulumi-platform inventory`,
    );
  }
  const refuse = (problem: string | undefined): void => {
    if (problem === undefined) return;
    throw new DocumentError("PP6003", `${file} is not a valid inventory: ${problem}`);
  };
  refuse(documentProblem(value, { name: "inventory", version: INVENTORY_VERSION }));
  const inventory = value as unknown as Inventory;
  refuse(contentProblem(inventory));
  for (const { kind, uid, inputs, details } of inventory.objects) {
    const who = `${file}: ${kind} ${printable(uid, 80)}`;
    checkNameLengths(who, { uid });
    checkInputSizes(who, kind, inputs);
    checkInputSizes(who, kind, details);
  }
  refuse(objectProblem(inventory));
  return inventory;
}
