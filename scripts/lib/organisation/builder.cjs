// @ts-check
const { pick, randomOf } = require("../random.cjs");

/**
 * @typedef {{ kind: string, args: Record<string, unknown> }} Declaration
 * @typedef {Record<string, Declaration>} Declarations By name; `${name}` in an argument is the uid of another.
 */

/** Groups below groups lie no deeper. */
const DEEPEST_GROUP = 4;
const WORDS = "pay web data ml ops core edge audit class new default await 1st a.b x_y q-r".split(" ");

const DESCRIPTIONS = [
  "",
  "one line",
  'with "quotes" and \\ and `ticks` ${not}',
  "it's */ odd // <b>",
  "ünïcødé 日本 😀",
  "x".repeat(200),
];

/** Declarations that grow by one resource after the other. */
class OrganisationBuilder {
  /** @type {Declarations} */
  declared = { org: { kind: "Group", args: { name: "acme" } } };
  /** References to the objects of each kind. @type {Record<string, string[]>} */
  references;
  /** Groups that may have groups, with how deep they lie. @type {{ reference: string, depth: number }[]} */
  parents = [{ reference: "${org}", depth: 0 }];
  /** What the parents of each kind have one of already: how many of them. @type {Record<string, number>} */
  used = {};
  /** The grants of the bindings so far: group, identity and role. @type {Set<string>} */
  granted = new Set();
  number = 0;

  /** @param {import("./index.cjs").OrganisationOptions} options */
  constructor({ seed, isVaried = false, existing = {}, now = Date.now() }) {
    this.random = randomOf(seed);
    this.isVaried = isVaried;
    this.now = now;
    this.references = Object.fromEntries(Object.entries(existing).map(([kind, uids]) => [kind, [...uids]]));
    this.references["Group"] = ["${org}"];
  }

  /** Draws a whole number from 0 to below the limit. @param {number} limit */
  randomBelow(limit) {
    return Math.floor(this.random() * limit);
  }

  /** Decides by chance whether a variation is used; never in an organisation that does not vary. @param {number} share */
  isChosen(share = 0.5) {
    return this.isVaried && this.random() < share;
  }

  /** @template T @param {readonly T[]} items */
  pickOne(items) {
    return pick(this.random, items);
  }

  /** Draws a reference to an object of a kind. @param {string} kind */
  pickReference(kind) {
    return this.pickOne(this.references[kind] ?? []);
  }

  /** A group for a new group to lie in: one of the latest, so that the tree is as deep as it may be. @param {string} group */
  parentOfGroup(group) {
    const { reference, depth } = this.pickOne(this.parents.slice(-40));
    if (depth + 1 < DEEPEST_GROUP) this.parents.push({ reference: group, depth: depth + 1 });
    return reference;
  }

  /** Draws a description that a program, a page or a shell could misread. */
  pickOddText() {
    return this.pickOne(DESCRIPTIONS);
  }

  /** Creates the name and the description of an object. @param {string} kind */
  createTexts(kind) {
    if (!this.isVaried) return { name: `${kind.toLowerCase()}-${this.number}` };
    const name = this.isChosen(0.3)
      ? this.pickOne(WORDS)
      : `${this.pickOne(WORDS)} ${this.randomBelow(1000)}`;
    return { name, description: this.pickOddText() };
  }

  /** Finds the next parent that has no object of a kind yet. @param {string} kind @param {string} parent */
  findNextWithout(kind, parent) {
    const index = this.used[kind] ?? 0;
    this.used[kind] = index + 1;
    return this.references[parent]?.[index];
  }

  /** A grant that no other binding gives; people also give one twice, which a program may not. */
  newGrant() {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const grant = {
        parentUid: this.pickReference("Group"),
        identityUid: this.pickReference("Identity"),
        roleUid: this.pickReference("Role"),
      };
      const key = Object.values(grant).join(" ");
      if (!this.isVaried && this.granted.has(key)) continue;
      this.granted.add(key);
      return grant;
    }
    return undefined;
  }

  /** @param {string} kind @param {import("./makers.cjs").Maker} make */
  add(kind, make) {
    this.number += 1;
    const args = make(this, this.number);
    if (args === undefined) return;
    const name = `${kind}-${this.number}`;
    this.declared[name] = { kind, args };
    (this.references[kind] ??= []).push(`\${${name}}`);
  }
}

exports.OrganisationBuilder = OrganisationBuilder;
