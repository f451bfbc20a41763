import type { Entity } from "../graph/model";
import { isJudged, isName } from "../graph/fieldAccess";
import { mapLeaves, ownMember } from "../graph/references";
import { isUnread } from "../graph/unread";
import { specs } from "../documents/specs";
import { isCalledByName } from "../graph/accessKinds";
import { groupBy } from "../graph/grantIndex";
import type { Severity } from "../review/finding";
import { findMixedWord, foldName } from "../trust/writingSystems";
import { isBuiltInRole } from "./builtInRoles";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { everyKind } from "./kindConditions";
import type { Rule } from "./rule";
import { labelEntity, nounOf, plural } from "./wording";

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

/** Objects by their kinds and by their names as readers see them. */
type ByShownName = ReadonlyMap<string, readonly Entity[]>;

const shownName = ({ kind, name = "" }: Entity): string => JSON.stringify([kind, foldName(name)]);

const isAtSamePlace = (one: Entity, other: Entity): boolean =>
  one.inputs["parentUid"] === other.inputs["parentUid"];

/** The object whose name a new or renamed one takes. */
function findNamesake(
  facts: Facts,
  known: ByShownName,
  before: Entity | undefined,
  after: Entity,
): Entity | undefined {
  return known.get(shownName(after))?.find((other) => {
    if (other.key === after.key || other.key === before?.key || isBuiltInRole(other)) return false;
    if (before !== undefined) return true;
    // A resource that is renamed in its program is deleted and created. Groups of one organisation have identities of one name.
    return isAtSamePlace(other, after) ? !facts.isDeleted(other.key) : after.kind === "Role";
  });
}

/** What a new name means to whoever chooses by names; undefined where nobody can take it for another one. */
function judgeName(
  facts: Facts,
  known: ByShownName,
  before: Entity | undefined,
  after: Entity,
): { readonly severity: Severity; readonly why: string } | undefined {
  const fold = foldName(after.name ?? "");
  if (after.kind === "Role" && facts.roles.hasName(fold) && !isBuiltInRole(after)) {
    return { severity: "medium", why: "that is the name of a role of the platform, and this one is not" };
  }
  const other = findNamesake(facts, known, before, after);
  if (other !== undefined) {
    const group = facts.groupOf(other)?.path;
    const place = group === undefined ? "" : ` in ${group}`;
    return {
      severity: "medium",
      why: `that was the name of another one${place}, ${other.uid ?? other.urn ?? other.key}`,
    };
  }
  if (before === undefined) return undefined;
  const grants = after.kind === "Role" ? facts.after.ofRole(after.key) : facts.grantsThrough(after.key);
  if (grants.length === 0) return undefined;
  const isStrong = after.kind === "Role" && grants.some(({ role }) => facts.roles.mayWrite(role));
  return {
    severity: isStrong ? "medium" : "low",
    why: `${plural(grants.length, "grant")} through it, and whoever knew the name may take it for another one`,
  };
}

/** Objects whose new name readers may take for that of another one. */
function findTakenNames(facts: Facts): FindingInput[] {
  const named = [...facts.comparison.before.entities.values()].filter(({ name }) => name !== undefined);
  const known = groupBy(named, (each) => [shownName(each)]);
  return [...facts.writes(isCalledByName)].flatMap(({ before, after }): FindingInput[] => {
    if (after.name === undefined || (before !== undefined && before.name === after.name)) return [];
    const judged = judgeName(facts, known, before, after);
    if (judged === undefined) return [];
    return [
      facts.aboutEntity(after, {
        severity: judged.severity,
        field: "name",
        message: `${before === undefined ? `${nounOf(after.kind)} ${JSON.stringify(after.name)} is new` : `${labelEntity(before)} is called ${JSON.stringify(after.name)} from now on`}: ${judged.why}`,
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
  when: "medium for a name, low for a new name of what only reads; otherwise high",
  what: "A new word has letters of several alphabets, such as a Cyrillic `а` in a Latin word. It is in a name, or in a value that matters, such as a mail address, an issuer or the address of a sink. A domain is one word, also in punycode. Scripts that people write together, such as Latin and Japanese, are not reported. Or a role, an identity or an identity provider takes a name that another one had, or that is a role of the platform. Case, spaces and invisible letters make no other name. Or one is renamed that gives something: two of them can exchange their names in several changes. Not reported: an identity of a name that another group has.",
  why: "Who reads the change takes it for another name or domain, which they trust. A stranger can register the domain that looks alike.",
  fix: "Write the word in letters of one alphabet. Choose a name that nothing else of the kind has.",
  except: "For a domain that really has such a name, after a person has compared its letters.",
  exampleMatch: {},
  needsBefore: true,
  about: everyKind,
  find: (facts) => [...findLookalikes(facts), ...findTakenNames(facts)],
};
