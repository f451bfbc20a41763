// @ts-check
const { OrganisationBuilder } = require("./builder.cjs");
const { makers } = require("./makers.cjs");
const { plainKinds, plainMaker } = require("./plainKinds.cjs");

/*
 * The one generator of organisations: what a program would declare, of all kinds and of any size. The tests give it to a
 * server as what people made by hand (test/support/organisation.ts), the chaos runs write a program of it, and the
 * benchmarks make documents of it.
 */

/** @typedef {import("./builder.cjs").Declarations} Declarations */
/** @typedef {import("./plainKinds.cjs").PlainKind} PlainKind */

/**
 * @typedef {object} OrganisationOptions
 * @property {number} seed
 * @property {Readonly<Record<string, number>>} counts How many of each kind, beside the organisation itself.
 * @property {readonly PlainKind[]} [plain] Kinds that the generator has no entry for.
 * @property {boolean} [isVaried] With odd names and descriptions, and each form of an argument that the API takes.
 * @property {Readonly<Record<string, readonly string[]>>} [existing] Uids of objects by kind that are not declared.
 * @property {number} [now] Milliseconds since 1970; what expires does so around it.
 */

/**
 * An organisation with so many objects of each kind; fewer where an object would equal another, or where each parent
 * has the one that it may have.
 * @param {OrganisationOptions} options
 * @returns {Declarations} in an order in which each finds what it refers to
 */
function generateOrganisation(options) {
  const builder = new OrganisationBuilder(options);
  const plain = (options.plain ?? []).map((kind) => /** @type {const} */ ([kind.kind, plainMaker(kind)]));
  const { Group, Identity, Role, RoleBinding, Repo, ...others } = makers;
  const basis = { Group, Identity, Role, RoleBinding, Repo };
  for (const [kind, make] of [...Object.entries(basis), ...plain, ...Object.entries(others)]) {
    if (make === undefined) continue;
    const count = options.counts[kind] ?? 0;
    for (let i = 0; i < count; i += 1) builder.add(kind, make);
  }
  return builder.declared;
}

/**
 * The value with each reference `${name}` replaced.
 * @param {unknown} value
 * @param {(name: string, reference: string) => string} replace
 */
function replaceReferences(value, replace) {
  const text = JSON.stringify(value ?? null);
  return JSON.parse(text.replace(/\$\{([\w-]+)\}/g, (reference, name) => replace(name, reference)));
}

/**
 * Returns the objects that a server would hold of declarations.
 * @param {Declarations} declarations
 * @param {string} root The uid of the organisation.
 * @param {() => string} nextPart The last part of the next uid.
 * @param {(kind: string) => boolean} sharesParentUid Whether objects of a kind have the uid of their parent.
 * @returns {{ name: string, kind: string, uid: string, inputs: Record<string, unknown> }[]}
 */
function createObjects(declarations, root, nextPart, sharesParentUid) {
  /** @type {Map<string, string>} */
  const uids = new Map();
  return Object.entries(declarations).map(([name, { kind, args }]) => {
    const inputs = replaceReferences(args, (name, reference) => uids.get(name) ?? reference);
    const parentUid = inputs["parentUid"];
    const uid =
      parentUid === undefined ? root : sharesParentUid(kind) ? parentUid : `${parentUid}/${nextPart()}`;
    uids.set(name, uid);
    return { name, kind, uid, inputs };
  });
}

module.exports = { createObjects, generateOrganisation, plainKinds, replaceReferences };
