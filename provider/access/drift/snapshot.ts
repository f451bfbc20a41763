import type { ReadingApi } from "../../fields/resourceSpec";
import type { Props } from "../../fields/values";
import { parentOf } from "../../text/uid";
import type { Directory } from "../graph/directory";
import { specOf } from "../graph/directory";
import type { InventoryObject } from "../documents/inventory";

/** An object as a response of the server, which names each object that it refers to. */
function toResponse(object: InventoryObject, directory: Directory): Props {
  const named = Object.entries(object.inputs).flatMap(([key, value]): [string, Props][] => {
    const noun = /^(\w+)Uid$/.exec(key)?.[1];
    if (noun === undefined || typeof value !== "string") return [];
    return [[noun, { uid: value, name: directory.nameOf(value) ?? "" }]];
  });
  return { ...object.inputs, ...Object.fromEntries(named), uid: object.uid };
}

const childrenKey = (collection: string, parent: string): string => JSON.stringify([collection, parent]);

/** All objects, by collection and parent. */
function childrenByParent(directory: Directory): Map<string, InventoryObject[]> {
  const children = new Map<string, InventoryObject[]>();
  for (const object of directory.all()) {
    const key = childrenKey(specOf(object.kind)?.collection ?? "", parentOf(object.uid) ?? "");
    const siblings = children.get(key);
    if (siblings === undefined) children.set(key, [object]);
    else siblings.push(object);
  }
  return children;
}

/**
 * An API that responds from inventories, so that a kind that aggregates others reads them as it reads the server.
 * It lists the children of a parent.
 */
export function createSnapshotApi(directory: Directory): ReadingApi {
  let children: ReadonlyMap<string, readonly InventoryObject[]> | undefined;
  return {
    address: (collection, uid, suffix = "") => `${collection}/${uid ?? ""}${suffix}`,
    get: () => Promise.resolve({}),
    // eslint-disable-next-line @typescript-eslint/require-await -- the form of the API
    async *list(collection, query = {}) {
      children ??= childrenByParent(directory);
      const parent = query["uidp.children_of"];
      const key = childrenKey(collection, typeof parent === "string" ? parent : "");
      for (const object of children.get(key) ?? []) yield toResponse(object, directory);
    },
  };
}
