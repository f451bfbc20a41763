import type { Entity } from "../graph/model";
import { isJudged, isName } from "../graph/fieldAccess";
import { mapLeaves, ownMember } from "../graph/references";
import { isUnread } from "../graph/unread";
import { specs } from "../documents/specs";
import { isCalledByName } from "../graph/accessKinds";
import { groupBy } from "../graph/grantIndex";
import type { Grant } from "../graph/grant";
import type { Severity } from "../review/finding";
import { findMixedWord, foldName } from "../trust/writingSystems";
import { isBuiltInRole } from "./builtInRoles";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { everyKind, isPulledByName } from "./kindConditions";
import type { Rule } from "./rule";
import { labelEntity, nounOf } from "./wording";
import { plural } from "../../text/plain";

/** The strings of a resource that matter, and its name, by path. */
function stringsOf(entity: Entity | undefined): ReadonlyMap<string, string> {
  const strings = new Map<string, string>();
  const spec = specs[entity?.kind ?? ""];
  if (entity === undefined || spec === undefined) return strings;
  mapLeaves(spec, entity.inputs, (value, { path, property, field }) => {
    const whole = ownMember(spec.fields, property);
    const matters = isName(path) || (isJudged(field) && whole !== undefined && isJudged(whole));
    if (matters && typeof value === "string" && !isUnread(value)) strings.set(path, value);
    return value;
  });
  return strings;
}

const writeOut = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16) ?? ""}}`);

function findLookalikes(facts: Facts): FindingInput[] {
  return [...facts.writes(everyKind)].flatMap(({ before, after }) => {
    const known = new Set(stringsOf(before).values());
    return [...stringsOf(after)].flatMap(([path, text]): FindingInput[] => {
      const word = known.has(text) ? undefined : findMixedWord(text);
      if (word === undefined) return [];
      return [
        facts.aboutEntity(after, {
          severity: isName(path) ? "medium" : "high",
          field: path,
          message: `${path} of ${labelEntity(after)} has letters of several alphabets, which look alike: ${JSON.stringify(word)}`,
          details: [`written out: ${writeOut(word)}`, `the whole value: ${writeOut(text)}`],
          pins: text,
          advice: "check each letter: write the word in letters of one alphabet if that is what is meant",
        }),
      ];
    });
  });
}

/** Whether objects of the kind are found by their names and those of the groups above: images are pulled by that path. */
const isFoundByPath = (kind: string): boolean =>
  kind === "Group" || (isPulledByName(kind) && specs[kind]?.identifiedBy === undefined);

const isFoundByName = (kind: string): boolean => isFoundByPath(kind) || isCalledByName(kind);

/** What an object is found by, as readers see it. */
function addressOf(facts: Facts, { kind, key, name = "" }: Entity, side: "before" | "after"): string {
  return JSON.stringify([kind, foldName(isFoundByPath(kind) ? facts.pathOf(key, side) : name)]);
}

const isAtSamePlace = (one: Entity, other: Entity): boolean =>
  one.inputs["parentUid"] === other.inputs["parentUid"];

/** What is found by a name, or below it. */
interface Use {
  readonly grants: number;
  /** Some grant allows more than to read. */
  readonly isStrong: boolean;
  /** What images are pulled by. */
  readonly pulled: number;
}

/** Answers what was found by each name before a change, and what a name gives after it. */
class KnownNames {
  private known: ReadonlyMap<string, readonly Entity[]> | undefined;
  private grants: ReadonlyMap<string, readonly Grant[]> | undefined;
  private pulled: ReadonlyMap<string, readonly Entity[]> | undefined;

  constructor(private readonly facts: Facts) {}

  /** The object that was found where a new, renamed or moved one is found now. */
  findNamesake(before: Entity | undefined, after: Entity): Entity | undefined {
    const { facts } = this;
    const address = addressOf(facts, after, "after");
    if (before !== undefined && addressOf(facts, before, "before") === address && before.name === after.name)
      return undefined;
    this.known ??= groupBy(
      [...facts.comparison.before.entities.values()].filter(
        ({ kind, name }) => name !== undefined && isFoundByName(kind),
      ),
      (each) => [addressOf(facts, each, "before")],
    );
    return this.known.get(address)?.find((other) => {
      if (other.key === after.key || other.key === before?.key || isBuiltInRole(other)) return false;
      if (before !== undefined) return true;
      // A resource that is renamed in its program is deleted and created. Groups of one organisation have identities of one name.
      return isFoundByPath(after.kind) || isAtSamePlace(other, after)
        ? !facts.isDeleted(other.key)
        : after.kind === "Role";
    });
  }

  useOf({ kind, key }: Entity): Use {
    const grants = this.grantsOf(kind, key);
    return {
      grants: grants.length,
      isStrong: grants.some(({ role }) => this.facts.roles.mayWrite(role)),
      pulled: isFoundByPath(kind) ? this.pulledFrom(key).length : 0,
    };
  }

  private grantsOf(kind: string, key: string): readonly Grant[] {
    const { facts } = this;
    if (kind === "Role") return facts.after.ofRole(key);
    if (!isFoundByPath(kind)) return facts.grantsThrough(key);
    this.grants ??= groupBy(facts.comparison.after.grants, ({ group }) => facts.groupAndAbove(group.key));
    return this.grants.get(key) ?? [];
  }

  private pulledFrom(key: string): readonly Entity[] {
    const { facts } = this;
    this.pulled ??= groupBy(
      [...facts.comparison.after.entities.values()].filter(({ kind }) => isPulledByName(kind)),
      (entity) => facts.groupAndAbove(entity.key),
    );
    return this.pulled.get(key) ?? [];
  }
}

/** What a new name means to whoever chooses by names; undefined where nobody can take it for another one. */
function judgeName(
  facts: Facts,
  names: KnownNames,
  before: Entity | undefined,
  after: Entity,
): { readonly severity: Severity; readonly why: string } | undefined {
  const isRenamed = before === undefined || before.name !== after.name;
  if (
    isRenamed &&
    after.kind === "Role" &&
    facts.roles.hasName(foldName(after.name ?? "")) &&
    !isBuiltInRole(after)
  ) {
    return { severity: "medium", why: "that is the name of a role of the platform, and this one is not" };
  }
  const other = names.findNamesake(before, after);
  if (other !== undefined && isFoundByPath(after.kind)) {
    const path = facts.pathOf(after.key, "after");
    return {
      severity: "high",
      why: `${path} was the path of another one, ${other.uid ?? other.urn ?? other.key}, and whatever names this path may mean the new one`,
    };
  }
  if (other !== undefined) {
    const group = facts.groupOf(other)?.path;
    const place = group === undefined ? "" : ` in ${group}`;
    return {
      severity: "medium",
      why: `that was the name of another one${place}, ${other.uid ?? other.urn ?? other.key}`,
    };
  }
  if (before === undefined || !isRenamed) return undefined;
  const { grants, isStrong, pulled } = names.useOf(after);
  const uses = [
    ...(grants > 0
      ? [`${plural(grants, "grant")} ${isFoundByPath(after.kind) ? "there or below" : "through it"}`]
      : []),
    ...(pulled > 0 ? [`images are pulled by it`] : []),
  ];
  if (uses.length === 0) return undefined;
  return {
    severity: isStrong || pulled > 0 ? "medium" : "low",
    why: `${uses.join(", ")}, and whoever knew the name may take it for another one`,
  };
}

function describeNaming(before: Entity | undefined, after: Entity): string {
  if (before === undefined) return `${nounOf(after.kind)} ${JSON.stringify(after.name)} is new`;
  if (before.name === after.name) return `${labelEntity(after)} lies in another group`;
  return `${labelEntity(before)} is called ${JSON.stringify(after.name)} from now on`;
}

/** Objects whose new name readers may take for that of another one. */
function findTakenNames(facts: Facts): FindingInput[] {
  const names = new KnownNames(facts);
  return [...facts.writes(isFoundByName)].flatMap(({ before, after }): FindingInput[] => {
    if (after.name === undefined) return [];
    const judged = judgeName(facts, names, before, after);
    if (judged === undefined) return [];
    return [
      facts.aboutEntity(after, {
        severity: judged.severity,
        field: "name",
        message: `${describeNaming(before, after)}: ${judged.why}`,
        pins: after.name,
        advice:
          "choose a name that nothing else of the kind has or had, and say in the pull request why it changes",
      }),
    ];
  });
}

export const lookalike: Rule = {
  id: "X6",
  name: "look-alike",
  severities: ["high", "medium", "low"],
  when: "high for a path that another group or repository had, and for a value that matters. Low for a new name of what only reads; otherwise medium",
  what: "A new word has letters of several alphabets, such as a Cyrillic `а` in a Latin word. It is in a name, or in a value that matters, such as a mail address, an issuer or the address of a sink. A domain is one word, also in punycode. Scripts that people write together, such as Latin and Japanese, are not reported. Or a role, an identity or an identity provider takes a name that another one had, or that is a role of the platform. Case, spaces and invisible letters make no other name. Or a group or a repository takes the path of another one. Or one of these is renamed that gives something, or that images are pulled by: two of them can exchange their names in several changes. Each of these changes is reported, since no review knows the names of earlier ones. Not reported: an identity of a name that another group has, and a new name of what nobody uses.",
  why: "Who reads the change takes it for another name or domain, which they trust. A stranger can register the domain that looks alike. Pulls, exceptions, lookups and lists of grants find groups, repositories and roles by name: after the change they mean another one.",
  fix: "Write the word in letters of one alphabet. Choose a name that nothing else of the kind has or had, and keep the name of what is in use.",
  except:
    "For a domain that really has such a name, after a person has compared its letters. For a new name, once those who use the old one know.",
  exampleMatch: {},
  needsBefore: true,
  about: everyKind,
  find: (facts) => [...findLookalikes(facts), ...findTakenNames(facts)],
};
