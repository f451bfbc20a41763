import { isUid } from "../api/uid";
import type { Props } from "../engine/spec";
import { isObject } from "../engine/values";
import { DocumentReader } from "./documents";
import { DocumentError } from "./jsonText";
import type { Inventory, InventoryObject, RefusedList } from "./inventory";

const TIMES = ["createTime", "updateTime", "lastSeenTime"] as const;

function readObject(reader: DocumentReader): InventoryObject {
  reader.only("kind", "uid", "inputs", "builtIn", "details", ...TIMES);
  const inputs = reader.member("inputs");
  const details = reader.optional("details");
  const times = TIMES.flatMap((key) => {
    const time = reader.optional(key);
    return time === undefined ? [] : [[key, time.text()] as const];
  });
  return {
    kind: reader.member("kind").text(),
    uid: reader.member("uid").matching(isUid, "must be a uid: 40 hex digits, then 16 more after each slash"),
    inputs: inputs.object() as Props,
    ...(reader.optional("builtIn")?.literal(true) ? { builtIn: true as const } : {}),
    ...Object.fromEntries(times),
    ...(details === undefined ? {} : { details: details.object() as Props }),
  };
}

function readRefused(reader: DocumentReader): RefusedList {
  reader.only("kind", "scope", "code", "message");
  const scope = reader.optional("scope")?.text();
  return {
    kind: reader.member("kind").text(),
    ...(scope === undefined ? {} : { scope }),
    code: reader.member("code").text(),
    message: reader.member("message").text(),
  };
}

function readAsked(reader: DocumentReader): { kind: string; uid: string } {
  reader.only("kind", "uid");
  return { kind: reader.member("kind").text(), uid: reader.member("uid").text() };
}

/**
 * Reads the document of `pulumi-platform inventory` back. `source` is how errors call it: the file's name.
 *
 * @throws DocumentError, one line that names the path of what is wrong: `inv.json: objects[3].uid must be a uid`.
 */
export function parseInventory(text: string, source: string): Inventory {
  const reader = DocumentReader.parse(text, source);
  const value = reader.object();
  if (isObject(value["deployment"])) {
    throw new DocumentError(
      `${source}: this is an export of a stack, not an inventory: give it to --state, and make an inventory with pulumi-platform inventory`,
    );
  }
  reader.member("schemaVersion").literal(1);
  reader.only("schemaVersion", "root", "takenAt", "complete", "refused", "kinds", "asked", "objects");
  const asked = reader.optional("asked")?.items(readAsked);
  const inventory = {
    schemaVersion: 1 as const,
    root: reader.member("root").matching(isUid, "must be the uid of a group"),
    takenAt: reader
      .member("takenAt")
      .matching((time) => !Number.isNaN(Date.parse(time)), "must be an RFC 3339 time"),
    complete: reader.member("complete").flag(),
    refused: reader.member("refused").items(readRefused),
    kinds: reader.member("kinds").items((item) => item.text()),
    ...(asked === undefined ? {} : { asked }),
    objects: reader.member("objects").items(readObject),
  };
  if (inventory.complete && inventory.refused.length > 0) {
    throw new DocumentError(`${source}: complete must be false where refused names lists`);
  }
  return inventory;
}
