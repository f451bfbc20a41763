// @ts-check
/*
 * Synthetic documents of one organisation: inventories, states and previews of any size, without a server. Nothing in it
 * is random and its shares are fixed, so that two sizes differ in nothing but size.
 */

export const root = "a".repeat(40);
const NODES = 40;

/** @param {number} n */
const part = (n) => n.toString(16).padStart(16, "0");
/** @typedef {{ kind: string, uid: string, inputs: Record<string, unknown> }} LiveObject */

/** @param {string} kind */
const providerText = (kind) => `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`;

/**
 * An organisation: a tenth groups, a third identities, a fiftieth roles, the rest bindings.
 * @param {number} count
 * @returns {LiveObject[]}
 */
export function organisationOf(count) {
  const [groups, identities, roles] = [0.1, 0.33, 0.02].map((share) =>
    Math.max(NODES, Math.floor(count * share)),
  );
  /** @type {LiveObject[]} */
  const objects = [{ kind: "Group", uid: root, inputs: { name: "acme" } }];
  /** @type {string[]} */
  const groupUids = [];
  for (let i = 0; i < (groups ?? 0); i += 1) {
    const parentUid = i < NODES ? root : (groupUids[i % NODES] ?? root);
    const uid = `${parentUid}/${part(objects.length)}`;
    groupUids.push(uid);
    objects.push({ kind: "Group", uid, inputs: { parentUid, name: `group ${i}` } });
  }
  const identityUids = Array.from({ length: identities ?? 0 }, (_, i) => {
    const uid = `${root}/${part(objects.length)}`;
    const claimMatch = {
      issuer: "https://token.actions.githubusercontent.com",
      subject: `repo:acme/r${i}:ref:refs/heads/main`,
    };
    objects.push({ kind: "Identity", uid, inputs: { parentUid: root, name: `identity ${i}`, claimMatch } });
    return uid;
  });
  const roleUids = Array.from({ length: roles ?? 0 }, (_, i) => {
    const uid = `${root}/${part(objects.length)}`;
    objects.push({
      kind: "Role",
      uid,
      inputs: { parentUid: root, name: `role ${i}`, capabilities: ["CAP_REPO_LIST", "CAP_TAG_CREATE"] },
    });
    return uid;
  });
  for (let i = 0; objects.length < count; i += 1) {
    const parentUid = groupUids[i % groupUids.length] ?? root;
    const inputs = {
      parentUid,
      identityUid: identityUids[i % identityUids.length],
      roleUid: roleUids[i % roleUids.length],
    };
    objects.push({ kind: "RoleBinding", uid: `${parentUid}/${part(objects.length)}`, inputs });
  }
  return objects;
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
function resourceOf({ kind, uid, inputs }, index) {
  const type = `pulumi-nodejs:dynamic/platform:${kind}`;
  const urn = `urn:pulumi:production::acme::${type}::${kind}-${index}`;
  const held = { __provider: providerText(kind), ...inputs };
  return { urn, type, custom: true, id: uid, inputs: held, outputs: held };
}

/** @param {readonly LiveObject[]} objects */
export function exportOf(objects) {
  return JSON.stringify({ version: 3, deployment: { resources: objects.map(resourceOf) } });
}

/**
 * A preview of the objects.
 * @param {readonly LiveObject[]} objects
 * @param {(object: LiveObject, index: number) => LiveObject | undefined} after What the program declares; the same object
 *   if nothing changes.
 */
export function previewOf(objects, after) {
  const steps = objects.map((object, index) => {
    const now = after(object, index);
    const oldState = resourceOf(object, index);
    if (now === undefined) return { op: "delete", urn: oldState.urn, oldState };
    const newState = { ...resourceOf(now, index), propertyDependencies: {} };
    return { op: now === object ? "same" : "update", urn: oldState.urn, oldState, newState };
  });
  return JSON.stringify({ steps, changeSummary: {} });
}
