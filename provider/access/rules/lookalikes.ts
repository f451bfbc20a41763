import type { Entity } from "../graph/model";
import { isJudged, isName } from "../graph/fieldAccess";
import { mapLeaves, ownMember } from "../graph/references";
import { isUnread } from "../graph/unread";
import { specs } from "../documents/specs";
import { findMixedWord } from "../trust/writingSystems";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { everyKind } from "./kindConditions";
import type { Rule } from "./rule";
import { labelEntity } from "./wording";

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

export const lookalike: Rule = {
  id: "X6",
  name: "look-alike",
  severities: ["high", "medium"],
  when: "medium for a name; otherwise high",
  what: "A new word has letters of several alphabets, such as a Cyrillic `а` in a Latin word. It is in a name, or in a value that matters, such as a mail address, an issuer or the address of a sink. A domain is one word, also in punycode. Scripts that people write together, such as Latin and Japanese, are not reported.",
  why: "Who reads the change takes it for another name or domain, which they trust. A stranger can register the domain that looks alike.",
  fix: "Write the word in letters of one alphabet.",
  except: "For a domain that really has such a name, after a person has compared its letters.",
  exampleMatch: {},
  needsBefore: true,
  about: everyKind,
  find: findLookalikes,
};
