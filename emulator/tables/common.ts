import type { FieldSpec } from "../gateway/descriptor";
import {
  list,
  messageType,
  numberedEnum,
  object,
  text,
  enumOf,
  timestamp,
  bool,
} from "../gateway/descriptor";
import capabilityNumbers from "../data/capabilities.json";

export const times: Record<"createTime" | "updateTime", FieldSpec> = {
  createTime: timestamp({ outputOnly: true }),
  updateTime: timestamp({ outputOnly: true }),
};

export const uid: FieldSpec = text({ outputOnly: true });

export const capability = enumOf(numberedEnum("UNKNOWN", Object.entries(capabilityNumbers)));

/** The scope filter of lists. */
export const uidpFilter = object(
  messageType("chainguard.platform.common.UIDPFilter", {
    ancestorsOf: text(),
    descendantsOf: text(),
    childrenOf: text(),
    inRoot: bool(),
    ids: list(text()),
  }),
);

export const emptyMessage = messageType("google.protobuf.Empty", {});
