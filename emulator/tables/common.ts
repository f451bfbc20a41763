import capabilityNumbers from "../data/capabilities.json";
import type { FieldFlags, FieldSpec, Format } from "../gateway/fields";
import { messageType, numberedEnumeration, text, timestamp } from "../gateway/fields";

// Fields and formats of several kinds.

export const times: Record<"createTime" | "updateTime", FieldSpec> = {
  createTime: timestamp({ outputOnly: true }),
  updateTime: timestamp({ outputOnly: true }),
};

export const uid: FieldSpec = text({ outputOnly: true });

export const capability = numberedEnumeration("UNKNOWN", Object.entries(capabilityNumbers));

export const emptyMessage = messageType({});

/** A regular expression that means the same in RE2 and in JavaScript. */
export function pattern(source: string, requirement = `must match "${source}"`): Format {
  const compiled = new RegExp(source, "u");
  return { requirement, accepts: (value) => compiled.test(value) };
}

/** Of all kinds with a name, except tags. */
export const nameFlags: FieldFlags = { required: true, format: pattern("^[a-z0-9 ._-]{1,}$") };

/** In RE2, `\S` excludes ASCII white space without the vertical tab; in JavaScript it excludes more. */
export const descriptionFlags: FieldFlags = {
  format: pattern("^[^\\t\\n\\f\\r]{0,512}$", 'must match "^[\\S ]{0,512}$"'),
};

const bundles = "application base byol ai ai-gpu featured fips commercial emeritoss".split(" ");
export const bundle: Format = {
  requirement: `must be one of ${bundles.join(", ")}`,
  accepts: (value) => bundles.includes(value),
};
