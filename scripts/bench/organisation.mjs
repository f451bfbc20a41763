// @ts-check
import { previewText } from "../lib/documents.cjs";
import { createObjects, generateOrganisation } from "../lib/organisation/index.cjs";

/*
 * Documents of a generated organisation, without a server: objects and previews of any size.
 */

export const root = "a".repeat(40);
/** @typedef {{ name: string, kind: string, uid: string, inputs: Record<string, unknown> }} LiveObject */

/**
 * The objects of an organisation: a tenth groups, a third identities, a fiftieth roles, the rest bindings.
 * @param {number} count
 * @returns {LiveObject[]}
 */
export function liveObjects(count) {
  const share = (/** @type {number} */ part) => Math.floor(count * part);
  const counts = { Group: share(0.1), Identity: share(0.33), Role: share(0.02) };
  const bindings = count - 1 - counts.Group - counts.Identity - counts.Role;
  const declared = generateOrganisation({ seed: 1, counts: { ...counts, RoleBinding: bindings } });
  let parts = 0;
  const nextPart = () => (parts += 1).toString(16).padStart(16, "0");
  // None of these kinds is a part of another one.
  return createObjects(declared, root, nextPart, () => false);
}

/**
 * A preview of the objects.
 * @param {readonly LiveObject[]} objects
 * @param {(object: LiveObject, index: number) => LiveObject | undefined} after What the program declares; the same object
 *   if nothing changes.
 */
export const previewOf = (objects, after) =>
  previewText(objects.map((object, index) => [object, after(object, index)]));
