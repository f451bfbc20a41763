import type { Api, Props } from "../../engine/spec";
import { parentOf } from "../../api/uid";
import type { Directory } from "../graph/directory";
import { specOf } from "../graph/directory";
import type { InventoryObject } from "../documents/inventory";
import { readOnly } from "../../engine/readOnly";

/** An object in the form of an answer: the things that it names are told with their names. */
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
 * What an inventory can answer of the API, so that a kind that is made of others reads them as it reads the
 * server: the children of a parent.
 */
export function createSnapshotApi(directory: Directory): Api {
  let children: ReadonlyMap<string, readonly InventoryObject[]> | undefined;
  return readOnly({
    address: (collection, uid, suffix = "") => `${collection}/${uid ?? ""}${suffix}`,
    get: () => Promise.resolve({}),
    // eslint-disable-next-line @typescript-eslint/require-await -- the form of the API
    async *list(collection, query = {}) {
      children ??= childrenByParent(directory);
      const parent = query["uidp.children_of"];
      const key = childrenKey(collection, typeof parent === "string" ? parent : "");
      for (const object of children.get(key) ?? []) yield toResponse(object, directory);
    },
  });
}
