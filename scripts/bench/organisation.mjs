// @ts-check
import { exportText, previewText } from "../lib/documents.cjs";

/*
 * Synthetic documents of one organisation: inventories, states and previews of any size, without a server. Nothing in it
 * is random and its shares are fixed, so that two sizes differ in nothing but size.
 */

export const root = "a".repeat(40);
const NODES = 40;

/** @param {number} n */
const part = (n) => n.toString(16).padStart(16, "0");
/** @typedef {{ kind: string, uid: string, inputs: Record<string, unknown> }} LiveObject */

/** The objects of an organisation, each with the next uid. */
class Objects {
  /** @type {LiveObject[]} */
  all = [{ kind: "Group", uid: root, inputs: { name: "acme" } }];

  /** @param {string} kind @param {string} parentUid @param {Record<string, unknown>} inputs */
  add(kind, parentUid, inputs) {
    const uid = `${parentUid}/${part(this.all.length)}`;
    this.all.push({ kind, uid, inputs: { parentUid, ...inputs } });
    return uid;
  }

  /** @param {number} count */
  addGroups(count) {
    /** @type {string[]} */
    const uids = [];
    for (let i = 0; i < count; i += 1) {
      const parentUid = i < NODES ? root : (uids[i % NODES] ?? root);
      uids.push(this.add("Group", parentUid, { name: `group ${i}` }));
    }
    return uids;
  }
}

/** @param {number} i */
const trustOf = (i) => ({
  issuer: "https://token.actions.githubusercontent.com",
  subject: `repo:acme/r${i}:ref:refs/heads/main`,
});
const CAPABILITIES = ["CAP_REPO_LIST", "CAP_TAG_CREATE"];

/**
 * An organisation: a tenth groups, a third identities, a fiftieth roles, the rest bindings.
 * @param {number} count
 * @returns {LiveObject[]}
 */
export function organisationOf(count) {
  const share = (/** @type {number} */ part) => Math.max(NODES, Math.floor(count * part));
  const objects = new Objects();
  const groups = objects.addGroups(share(0.1));
  const identities = Array.from({ length: share(0.33) }, (_, i) =>
    objects.add("Identity", root, { name: `identity ${i}`, claimMatch: trustOf(i) }),
  );
  const roles = Array.from({ length: share(0.02) }, (_, i) =>
    objects.add("Role", root, { name: `role ${i}`, capabilities: CAPABILITIES }),
  );
  for (let i = 0; objects.all.length < count; i += 1) {
    objects.add("RoleBinding", groups[i % groups.length] ?? root, {
      identityUid: identities[i % identities.length],
      roleUid: roles[i % roles.length],
    });
  }
  return objects.all;
}

/** @param {readonly LiveObject[]} objects @param {readonly string[]} kinds */
export function inventoryOf(objects, kinds) {
  return {
    schemaVersion: 1,
    root,
    takenAt: "2026-01-01T00:00:00Z",
    complete: true,
    refused: [],
    kinds,
    objects,
  };
}

/** @param {LiveObject} object @param {number} index */
const named = (object, index) => ({ ...object, name: `${object.kind}-${index}` });

/** @param {readonly LiveObject[]} objects */
export const exportOf = (objects) => exportText(objects.map(named));

/**
 * A preview of the objects.
 * @param {readonly LiveObject[]} objects
 * @param {(object: LiveObject, index: number) => LiveObject | undefined} after What the program declares; the same object
 *   if nothing changes.
 */
export const previewOf = (objects, after) =>
  previewText(
    objects.map((object, index) => {
      const now = after(object, index);
      return [named(object, index), now && named(now, index)];
    }),
  );
