import type { Api, Props } from "../../engine/spec";
import { parentOf } from "../../api/uid";
import type { Directory } from "../directory";
import { specOf } from "../directory";
import type { InventoryObject } from "../inventory";
import { readOnly } from "../readOnly";

/** An object in the form of an answer: the things that it names are told with their names. */
function answerOf(object: InventoryObject, directory: Directory): Props {
  const named = Object.entries(object.inputs).flatMap(([key, value]): [string, Props][] => {
    const noun = /^(\w+)Uid$/.exec(key)?.[1];
    if (noun === undefined || typeof value !== "string") return [];
    return [[noun, { uid: value, name: directory.nameOf(value) ?? "" }]];
  });
  return { ...object.inputs, ...Object.fromEntries(named), uid: object.uid };
}

/**
 * What an inventory can answer of the API, so that a kind that is made of others reads them as it reads the
 * server: the children of a parent.
 */
export function snapshotApi(directory: Directory): Api {
  return readOnly({
    address: (collection, uid, suffix = "") => `${collection}/${uid ?? ""}${suffix}`,
    get: () => Promise.resolve({}),
    // eslint-disable-next-line @typescript-eslint/require-await -- the form of the API
    async *list(collection, query = {}) {
      const parent = query["uidp.children_of"];
      for (const object of directory.all()) {
        if (specOf(object.kind)?.collection !== collection || parentOf(object.uid) !== parent) continue;
        yield answerOf(object, directory);
      }
    },
  });
}
