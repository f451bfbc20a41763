import type { FieldSpec } from "../gateway/fields";
import { list, messageType, numberedEnumeration, object, text, timestamp, bool } from "../gateway/fields";
import capabilityNumbers from "../data/capabilities.json";

export const times: Record<"createTime" | "updateTime", FieldSpec> = {
  createTime: timestamp({ outputOnly: true }),
  updateTime: timestamp({ outputOnly: true }),
};

export const uid: FieldSpec = text({ outputOnly: true });

export const capability = numberedEnumeration("UNKNOWN", Object.entries(capabilityNumbers));

/** The scope filter of lists. */
export const uidpFilter = object({
  ancestorsOf: text(),
  descendantsOf: text(),
  childrenOf: text(),
  inRoot: bool(),
  ids: list(text()),
});

export const emptyMessage = messageType({});
