import { compareTexts } from "../../fields/values";
import type { Json } from "../../fields/values";
import { sha256 } from "../documents/digest";
import { specs } from "../documents/specs";
import { ownerOf } from "../graph/keys";
import type { ResourceChange } from "../review/comparison";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { inputsToPin } from "./findingValue";
import { everyKind, givesAccess, hasAccessField } from "./kindConditions";
import type { Rule } from "./rule";
import { labelEntity, limitLines, listFirst, plural } from "./wording";

/** The resources that gained and widened grants name: who holds them, and by which role. */
function keysOfMoreAccess(facts: Facts): ReadonlySet<string | undefined> {
  return new Set(
    facts.comparison.grants
      .filter(({ change }) => change === "gained" || change === "widened")
      .flatMap(({ grant: { subject, role } }) => [subject.key, ownerOf(subject.key), role.key]),
  );
}

const urnsOf = (changes: readonly ResourceChange[]): string[] =>
  changes.map(({ urn, after }) => urn ?? after?.uid ?? "").sort();

/** What is written over what is recorded: whoever accepts one value accepts no later one. */
const valuesOf = (changes: readonly ResourceChange[]): Json =>
  changes
    .map(({ urn, kind, before, after }) => [
      urn ?? after?.uid ?? "",
      sha256(JSON.stringify([before, after].map((side) => side && inputsToPin(kind, side.inputs, [])))),
    ])
    .sort(([a = ""], [b = ""]) => compareTexts(a, b));

/** Resources whose access no inventory shows, where the change depends on it. */
function findRecordOnly(facts: Facts): FindingInput[] {
  const named = keysOfMoreAccess(facts);
  const relied = facts.comparison.changes.filter((change) => {
    const { op, kind, isRecordOnly, after } = change;
    if (isRecordOnly !== true || after === undefined || after.external === true) return false;
    if (op === "same") return named.has(after.key);
    return (op === "update" || op === "replace") && (givesAccess(kind) || hasAccessField(kind));
  });
  if (relied.length === 0) return [];
  const names = relied.map((change) => labelEntity(change.after ?? change)).sort();
  const isGiven = facts.comparison.inventory !== undefined;
  return [
    {
      severity: facts.options.strict ? "high" : "medium",
      name: "recorded state",
      field: "inventory",
      message: `${plural(names.length, "resource is", "resources are")} compared with what the stack records, not with the server: ${listFirst(names, 3)}`,
      details: [
        "what was changed at the server since the last update is not seen: revoked access may come back, and a role or an identity may allow more than its record",
        ...limitLines(names),
      ],
      pins: valuesOf(relied),
      advice: isGiven
        ? "give an inventory of the group above all that this program manages, with these kinds (inventory --types)"
        : "give --inventory, which shows what the server has",
    },
  ];
}

/** Resources that the stack records and that the server does not have. */
function findMissing(facts: Facts): FindingInput[] {
  const missing = facts.comparison.changes.filter(({ isMissing }) => isMissing === true);
  const names = missing
    .filter(({ op }) => op === "same")
    .map((change) => labelEntity(change))
    .sort();
  const updated = missing.flatMap(({ op, after, kind }): FindingInput[] => {
    if (op !== "update" || after === undefined || specs[kind]?.operations?.upsert) return [];
    return [
      facts.aboutEntity(after, {
        severity: "medium",
        field: "uid",
        message: `updating ${labelEntity(after)} will fail: the stack records it, and the server does not have it`,
        details: ["what it grants is shown as new access: an update with --refresh creates it again"],
        advice: "preview and update with --refresh, which creates it again; or remove it from the program",
      }),
    ];
  });
  if (names.length === 0) return updated;
  return [
    ...updated,
    {
      severity: "low",
      name: "recorded state",
      field: "missing",
      message: `${plural(names.length, "resource is", "resources are")} recorded by the stack, and not at the server: ${listFirst(names, 3)}`,
      details: limitLines(names),
      pins: urnsOf(missing),
      advice:
        "nothing changes for them: only an update with --refresh creates them again, and a preview with --refresh shows that",
    },
  ];
}

export const recordedState: Rule = {
  id: "X5",
  name: "recorded-state",
  severities: ["high", "medium", "low"],
  when: "medium for access that is compared with the record only (high with --strict). Medium for an update of a resource that the server does not have, and low for unchanged ones",
  what: "The change updates or replaces a resource that decides access, or gives more access through one, and no inventory contains it. The review then compares with what the stack records, and does not see what was changed at the server since. Or the stack records a resource that a complete inventory lacks: an update of it fails, and an unchanged one stays deleted. Not reported: a new resource, one that is deleted, and an unchanged one on which no gained or widened grant depends.",
  why: "Access that was revoked at the server comes back by an update that changes something else. A role that looks narrower may become wider than it is now.",
  fix: "Give `--inventory` with an inventory of the group above all that the program manages. Preview and update with `--refresh` where an object is missing.",
  except: "For a stack whose organisation nobody but its pipeline may change.",
  exampleMatch: { name: "recorded state" },
  needsBefore: true,
  planOnly: true,
  about: everyKind,
  find: (facts) => [...findRecordOnly(facts), ...findMissing(facts)],
};
