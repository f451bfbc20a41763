import type { Entity } from "./model";

/** What a role allows, sorted; undefined where a part of it was not read. */
export function readRoleCapabilities(
  role: Pick<Entity, "inputs"> | undefined,
): readonly string[] | undefined {
  const value = role?.inputs["capabilities"];
  if (!Array.isArray(value)) return undefined;
  const names = value.filter((item): item is string => typeof item === "string" && /^CAP_/.test(item));
  return names.length === value.length ? [...new Set(names)].sort() : undefined;
}
