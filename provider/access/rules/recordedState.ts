import { compareTexts } from "../../fields/values";
import type { Json } from "../../fields/values";
import { sha256 } from "../documents/digest";
import { specs } from "../documents/specs";
import { textAt } from "../graph/describedFields";
import { accessKinds, bindingKeys, givesAccess } from "../graph/accessKinds";
import { isGain, tupleOf } from "../graph/grant";
import type { Grant } from "../graph/grant";
import { wholeOf } from "../graph/entityKeys";
import { pathsOverlap } from "../graph/inputLeaves";
import type { Entity } from "../graph/model";
import { mayWiden } from "../effects";
import type { FieldEffect } from "../effects";
import type { Comparison, ComparisonAsRecorded, KeptChange, ResourceChange } from "../review/compare";
import { severities, sortFindings, worstOf } from "../review/finding";
import type { Finding, Severity } from "../review/finding";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { chooseStableName, inputsToPin, stableNames } from "./findingValue";
import { everyKind, hasAccessField, hasJudgedContent } from "./rule";
import { KEEP_IN_ONE_PROGRAM, grantLine, labelEntity } from "./wording";
import { listedKinds } from "../documents/inventory";
import { limitLines, listFirst, plural } from "../../text/plain";

/** The resources that gained and widened grants name: who holds them, and by which role. */
function keysOfMoreAccess({ grants }: Comparison): ReadonlySet<string | undefined> {
  return new Set(
    grants
      .filter(isGain)
      .flatMap(({ grant: { subject, role } }) => [subject.key, wholeOf(subject.key), role.key]),
  );
}

/** What is written over what is recorded: whoever accepts one value accepts no later one. */
const valuesOf = (changes: readonly ResourceChange[]): Json =>
  changes
    .map(({ kind, before, after }) => [
      chooseStableName(after),
      sha256(JSON.stringify([before, after].map((side) => side && inputsToPin(kind, side.inputs, [])))),
    ])
    .sort(([a = ""], [b = ""]) => compareTexts(a, b));

/**
 * Whether an update depends on what is recorded beside what it changes: an update that only changes what is harmless writes
 * nothing else, unless the kind writes all of an object. It may then take back what was done to that by hand.
 */
function reliesOnRecord({ op, kind, fields }: ResourceChange): boolean {
  const isHarmless = op === "update" && fields.length > 0 && fields.every(({ effect }) => effect === "none");
  return !isHarmless || (specs[kind]?.operations?.update !== undefined && hasJudgedContent(kind));
}

/** Resources whose access no inventory shows, where the change depends on it. */
function* findRecordOnly(facts: Facts): Generator<FindingInput> {
  const named = keysOfMoreAccess(facts.comparison);
  const relied = facts.comparison.changes.filter((change) => {
    const { op, kind, isRecordOnly, after } = change;
    if (isRecordOnly !== true || after === undefined || after.external === true) return false;
    if (op === "same") return named.has(after.key);
    if (op !== "update" && op !== "replace") return false;
    return (givesAccess(kind) || hasAccessField(kind)) && reliesOnRecord(change);
  });
  if (relied.length === 0) return;
  const names = relied.map(({ after, ...change }) => facts.label(after ?? change)).sort();
  const kinds = new Set(relied.map(({ kind }) => kind));
  const types = [...kinds].flatMap((kind) => (listedKinds.includes(kind) ? [] : [`+${kind}`]));
  yield {
    severity: facts.options.strict ? "high" : "medium",
    name: "recorded state",
    field: "inventory",
    message: `${plural(names.length, "resource is", "resources are")} compared with what the stack records, not with the server: ${listFirst(names, 3)}`,
    details: [
      "what was changed at the server since the last update is not seen: revoked access may come back, and a role or an identity may allow more than its record",
      ...limitLines(names),
    ],
    pins: valuesOf(relied),
    advice: `give --inventory with an inventory of the group above all that this program manages${types.length === 0 ? "" : `, taken with --types ${types.join(",")}`}`,
  };
}

/** Resources that the stack records and that the server does not have. */
function* findMissing(facts: Facts): Generator<FindingInput> {
  const missing = facts.comparison.changes.filter(({ isMissing }) => isMissing === true);
  for (const { op, kind, after } of missing) {
    if (op !== "update" || after === undefined || specs[kind]?.operations?.takesOver === true) continue;
    yield facts.aboutEntity(after, {
      severity: "medium",
      field: "uid",
      message: `updating ${labelEntity(after)} will fail: the stack records it, and the server does not have it`,
      details: ["what it grants is shown as new access: an update with --refresh creates it again"],
      advice: "preview and update with --refresh, which creates it again; or remove it from the program",
    });
  }
  const names = missing
    .filter(({ op }) => op === "same")
    .map((change) => labelEntity(change))
    .sort();
  if (names.length === 0) return;
  yield {
    severity: "low",
    name: "recorded state",
    field: "missing",
    message: `${plural(names.length, "resource is", "resources are")} recorded by the stack, and not at the server: ${listFirst(names, 3)}`,
    details: limitLines(names),
    pins: stableNames(missing.flatMap(({ after, recorded }) => after ?? recorded ?? [])),
    advice:
      "nothing changes for them: only an update with --refresh creates them again, and a preview with --refresh shows that",
  };
}

/** Objects that the program takes over and declares otherwise than they are: the run refuses that. */
function* findUnequalAdoptions(facts: Facts): Generator<FindingInput> {
  for (const { after, unequal = [] } of facts.comparison.changes) {
    if (after === undefined || unequal.length === 0) continue;
    const paths = unequal.map(({ path }) => path);
    yield facts.aboutEntity(after, {
      severity: "medium",
      field: paths.join(", "),
      message: `taking over ${labelEntity(after)} will fail: the program declares another ${listFirst(paths, 3)}`,
      details: limitLines(
        unequal.map(
          ({ path, before, after: now }) => `${path}: ${before ?? "nothing"}, declared ${now ?? "nothing"}`,
        ),
      ),
      advice: "declare it as it is, and change it in a later change",
    });
  }
}

/** Objects that the program manages from now on, and another stack still does, as `drift` calls contested. */
function* findContested({ comparison: { changes, urnsElsewhere } }: Facts): Generator<FindingInput> {
  const taken = changes.flatMap(({ after, recorded }) => {
    if (after === undefined || after.external === true || recorded !== undefined) return [];
    const urn = urnsElsewhere?.get(after.key);
    return urn === undefined ? [] : [{ after, urn, label: labelEntity(after) }];
  });
  if (taken.length === 0) return;
  const names = taken.map(({ label }) => label).sort();
  yield {
    severity: "medium",
    name: "recorded state",
    field: "urn",
    message: `${plural(names.length, "object that this change takes over is", "objects that this change takes over are")} managed by another stack too: each update undoes the other: ${listFirst(names, 3)}`,
    details: limitLines(taken.map(({ label, urn }) => `${label}: ${urn}`).sort()),
    pins: taken.map(({ after, urn }) => `${after.key} ${urn}`).sort(),
    advice: KEEP_IN_ONE_PROGRAM,
  };
}

/** The bindings that the stack records and somebody has revoked at the server, by what they grant. */
function revokedBindings({ comparison }: Facts): ReadonlyMap<string, ResourceChange> {
  const live = new Set(comparison.before.grants.map(tupleOf));
  return new Map(
    comparison.changes.flatMap((change) => {
      const { recorded, kind, isMissing } = change;
      const isGone = isMissing === true || accessKinds[kind]?.ownsBindings === true;
      if (recorded === undefined || recorded.unread !== undefined || !isGone) return [];
      return bindingKeys(recorded)
        .filter((key) => !live.has(key))
        .map((key) => [key, change] as const);
    }),
  );
}

/** Bindings that were revoked by hand: those that the change makes again, and those that it no longer declares. */
function* findRevoked(facts: Facts): Generator<FindingInput> {
  const { inventories, changes, grants } = facts.comparison;
  const revoked = inventories.length === 0 ? new Map<string, ResourceChange>() : revokedBindings(facts);
  if (revoked.size === 0) return;
  const returning = grants
    .filter(({ change, grant }) => change === "gained" && revoked.has(tupleOf(grant)))
    .map(({ grant }) => grant);
  const declared = new Set(
    changes.flatMap(({ declared }) => (declared === undefined ? [] : bindingKeys(declared))),
  );
  const dropped = [...revoked].flatMap(([key, { recorded, isMissing }]) =>
    recorded === undefined || isMissing === true || declared.has(key) ? [] : [[key, recorded] as const],
  );
  if (returning.length > 0) {
    yield {
      severity: "medium",
      name: "recorded state",
      field: "bindings",
      message: `${plural(returning.length, "grant was", "grants were")} revoked by hand, and this change makes ${returning.length === 1 ? "it" : "them"} again: ${listFirst(returning.map(grantLine).sort(), 3)}`,
      details: limitLines(returning.map(grantLine).sort()),
      grants: [returning],
      advice: "ask who revoked each and why; take it out of the program if that was meant",
    };
  }
  if (dropped.length > 0) {
    yield {
      severity: "low",
      name: "recorded state",
      field: "bindings",
      message: `${plural(dropped.length, "binding was", "bindings were")} revoked by hand, and this change no longer declares ${dropped.length === 1 ? "it" : "them"}: of ${listFirst([...new Set(dropped.map(([, entity]) => labelEntity(entity)))].sort(), 3)}`,
      pins: dropped.map(([key]) => key).sort(),
      advice: "ask who revoked each and why: nothing restores them from now on",
    };
  }
}

const linesOfFields = (label: string, fields: readonly FieldEffect[]): readonly string[] =>
  fields.map(
    ({ path, before: recorded, after: now, reason }) =>
      `${label}, ${path}: recorded ${recorded ?? "nothing"}, now ${now ?? "nothing"}${reason === "" ? "" : `: ${reason}`}`,
  );

/** What of a change was done by hand and becomes the program's, a line each; nothing where that gives no access. */
function linesOfKept({ change, fields, lost }: KeptChange): readonly string[] {
  const { after, before, kind } = change;
  const entity = lost ?? after ?? before;
  if (entity === undefined) return [];
  const label = labelEntity(entity);
  if (lost !== undefined)
    return [`${label}: deleted, and ${after === undefined ? "no longer declared" : "made again"}`];
  if (fields.some(({ direction }) => mayWiden(direction))) return linesOfFields(label, fields);
  return fields.length === 0 && givesAccess(kind)
    ? [`${label}: made by hand, or gives what was given by hand`]
    : [];
}

/** Whether nobody can say that fields were changed by hand: what the stack records of them cannot be read. */
const areUnread = (recorded: Entity | undefined, fields: readonly FieldEffect[]): boolean =>
  fields.length > 0 &&
  fields.every(({ path }) =>
    recorded?.unread?.some((unread) => unread.reason !== "refreshed" && pathsOverlap(path, unread.path)),
  );

/**
 * Whether a first import takes over a grant that the rules call high or critical, and leaves others of its group: another stack
 * has those, so it is not the first day of the organisation.
 */
function takesStrongGrant(
  { comparison }: Facts,
  taken: readonly Entity[],
  found: readonly Finding[],
): boolean {
  const uids = new Set(taken.map(({ uid }) => uid));
  const groups = found.flatMap(({ severity, grant }) =>
    (severity === "critical" || severity === "high") && grant !== undefined ? [grant.group.key] : [],
  );
  return comparison.inventories.some(({ objects }) =>
    objects.some(
      ({ kind, uid, inputs }) =>
        accessKinds[kind]?.binding === true &&
        groups.includes(textAt(inputs, "parentUid") ?? "") &&
        !uids.has(uid),
    ),
  );
}

/** An object that was changed by hand, with a line for each difference. */
interface ChangedByHand {
  readonly label: string;
  readonly lines: readonly string[];
  readonly isDoubtful: boolean;
}

/**
 * The objects that somebody changed by hand. Whatever a new grant does not name may decide what it means too: an assertion counts
 * what its holder has by others. To restore one needs no review and is no drift.
 */
function findChangedByHand(
  facts: Facts,
  recordedSide: Comparison,
  kept: ReadonlySet<string>,
): ChangedByHand[] {
  const changed = recordedSide.changes.flatMap((change) => {
    const { before, recorded } = change;
    const live = before && facts.comparison.before.entities.get(before.key);
    if (before === undefined || live === undefined || live === before || kept.has(live.key)) return [];
    const fields = facts.effectsOf(live, before.inputs);
    const label = labelEntity(live);
    // Assertions choose objects by their names.
    const isJudged = fields.some(({ effect, path }) => effect !== "none" || path === "name");
    return [
      { label, isJudged, lines: linesOfFields(label, fields), isDoubtful: areUnread(recorded, fields) },
    ];
  });
  const judged = changed.filter(({ isJudged }) => isJudged);
  return judged.length > 0 || kept.size > 0 ? judged : changed;
}

/**
 * What a change would give, and does not seem to: somebody gave it by hand, or took away that by which it is given. What it takes over
 * is told of itself.
 */
function findHiddenGrants(
  facts: Facts,
  recordedSide: Comparison,
  kept: ReadonlySet<string>,
): readonly string[] {
  const seen = new Set(facts.comparison.grants.map(({ grant }) => tupleOf(grant)));
  const isOfKept = ({ urn, subject, role }: Grant): boolean =>
    [urn, subject.key, wholeOf(subject.key), role.key].some((key) => kept.has(key ?? ""));
  return recordedSide.grants
    .filter((each) => isGain(each) && !seen.has(tupleOf(each.grant)) && !isOfKept(each.grant))
    .map(({ grant }) => `new grant: ${grantLine(grant)}`);
}

/** What the finding says of objects that were made, changed or deleted by hand. */
interface ByHandText {
  readonly names: readonly string[];
  /** Whether nobody can say that it was done by hand. */
  readonly isDoubtful: boolean;
  readonly happened: string;
  readonly follows: string;
  readonly advice: string;
}

const describeKept = (kept: readonly KeptChange[]): ByHandText => ({
  names: kept.map(({ change, lost }) => labelEntity(lost ?? change.after ?? change)),
  isDoubtful: kept.every(({ change, fields }) => areUnread(change.recorded, fields)),
  happened: "made, changed or deleted by hand, or by another stack",
  follows: "and this change takes that over or undoes it",
  advice:
    "ask who did it and why: the stack records it as meant from now on; undo it at the server, or accept it in the policy file",
});

const describeChanged = (changed: readonly ChangedByHand[]): ByHandText => ({
  names: changed.map(({ label }) => label),
  isDoubtful: changed.every((each) => each.isDoubtful),
  happened: "changed by hand",
  follows: "which hides what this change means",
  advice:
    "ask who did it and why: it may be restored without a review; undo it at the server or declare it, and preview again; or accept it in the policy file",
});

const sentenceOf = ({ names, isDoubtful, happened, follows }: ByHandText): string => {
  const objects = isDoubtful
    ? `${plural(names.length, "object")} may have been changed by hand, since the stack's record cannot be read`
    : `${plural(names.length, "object was", "objects were")} ${happened}`;
  return `${objects}, ${follows}: ${listFirst([...names].sort(), 3)}`;
};

/** How bad it is that what was done by hand stays, by what the rules say of it as a change of the program. */
function severityOfKept(
  facts: Facts,
  { kept, isFirstImport }: ComparisonAsRecorded,
  found: readonly Finding[],
): Severity {
  if (isFirstImport) {
    const taken = kept.flatMap(({ change }) => change.after ?? []);
    if (takesStrongGrant(facts, taken, found)) return "high";
    return found.some(({ severity }) => severity !== "low") ? "medium" : "low";
  }
  const isWider = kept.some(
    ({ change, fields, lost }) =>
      fields.some(({ direction }) => mayWiden(direction)) ||
      (lost !== undefined && change.after !== undefined && givesAccess(lost.kind)),
  );
  const severities = found.map(({ severity }) => (severity === "critical" ? "high" : severity));
  return worstOf([...severities, isWider ? "medium" : "low"]) ?? "low";
}

/**
 * What was made by hand and becomes the program's, at the severity that the rules give it as a change of the program. It is one
 * finding: nobody reads one for each object, and what one object gives by hand may come by another one.
 * @param found What they say beyond what they say of the change itself.
 */
export function* reportKept(
  facts: Facts,
  asRecorded: ComparisonAsRecorded,
  found: readonly Finding[],
): Generator<FindingInput> {
  const { kept } = asRecorded;
  const keptKeys = new Set(
    kept
      .flatMap(({ change: { urn, before, after }, lost }) => [urn, before?.key, after?.key, lost?.key])
      .filter((key) => key !== undefined),
  );
  const byHand = findChangedByHand(facts, asRecorded.comparison, keptKeys);
  const hidden =
    byHand.length === 0 && kept.length > 0 ? [] : findHiddenGrants(facts, asRecorded.comparison, keptKeys);
  // What was only changed may hide what is found.
  const changed = found.length + hidden.length === 0 ? [] : byHand;
  const lines = kept.flatMap(linesOfKept).sort();
  if (found.length + lines.length + hidden.length === 0) return;
  const counts = severities.flatMap((level) => {
    const { length } = found.filter(({ severity }) => severity === level);
    return length === 0 ? [] : [`${length} ${level}`];
  });
  const texts = [
    ...(kept.length > 0 ? [describeKept(kept)] : []),
    ...(changed.length > 0 || kept.length === 0 ? [describeChanged(changed)] : []),
  ];
  const more = [
    ...(counts.length === 0 ? [] : [`the rules would find ${listFirst(counts)} more`]),
    ...(hidden.length === 0 ? [] : [`this change would give ${plural(hidden.length, "grant")} more`]),
  ];
  const rest = more.length === 0 ? "" : `; had nothing been done by hand, ${more.join(", and ")}`;
  yield {
    severity: severityOfKept(facts, asRecorded, found),
    name: "recorded state",
    field: "adopt",
    message: `${texts.map(sentenceOf).join("; ")}${rest}`,
    details: [
      ...limitLines([
        ...new Set(sortFindings(found).map(({ severity, id, message }) => `${severity} ${id}: ${message}`)),
      ]),
      ...limitLines([...lines, ...hidden.toSorted(), ...changed.flatMap((each) => each.lines).sort()]),
    ],
    pins: [
      kept.map(({ change, lost }) => (lost ?? change.after ?? change.before)?.key ?? "").sort(),
      lines,
      found.map(({ fingerprint }) => fingerprint).sort(),
      ...(hidden.length === 0 ? [] : [hidden.toSorted()]),
    ],
    advice: texts.map(({ advice }) => advice).join("; "),
  };
}

export const recordedState: Rule = {
  id: "X5",
  name: "recorded-state",
  severities: ["high", "medium", "low"],
  when: "medium for access that is compared with the record only (high with --strict). Medium for an update of a resource that the server does not have, and low for unchanged ones. Medium for what another stack manages too. What was done by hand and is kept, or hides what the change means, is judged as by the other rules, at most high. It is at least medium where a changed field gives more access. Medium for a revoked grant, or for what gives access and was deleted, that comes back. Low for other grants, also for a new one that it hides, and for other objects that were deleted. At most medium for all that the first import of a stack takes over. But high for a grant that a rule calls high or critical, where the stack leaves other bindings of its group",
  what: "The change updates or replaces a resource that decides access, or gives more access through one, and no inventory contains it. The review then compares with what the stack records, and does not see what was changed at the server since. Or the stack records a resource that a complete inventory lacks: an update of it fails, and an unchanged one stays deleted. Or somebody changed an object by hand, and the change writes the same into the program, also where a refresh has recorded it. The same holds of an object that the change adopts, or makes again, and that no program managed, whatever `pulumi import` recorded. Or the change takes over what a stack of `--state` manages. Or somebody deleted an object, and the change makes it again, or no longer declares it. Or somebody revoked a binding, and the change makes it again, or no longer declares it. Or an object was changed by hand. If it were as the stack records it, the rules would find more, or a new grant would be there. To restore it needs no review. The rules judge the change as if nothing had been done by hand but what it takes over. All of this is one finding, with what they say in the details, the worst first. Not reported: what else was narrowed by hand. Nor is a change of texts for people. Nor is a new resource, one that is deleted, and an unchanged one on which no gained or widened grant depends.",
  why: "Access that was revoked at the server comes back by an update that changes something else. A role that looks narrower may become wider than it is now. What somebody did past the reviews gets no second look, once a program declares it and drift falls silent.",
  fix: "Give `--inventory` with an inventory of the group above all that the program manages. Preview and update with `--refresh` where an object is missing. Ask who changed by hand what is kept, and why. Undo it at the server, or accept the finding.",
  except:
    "For a stack whose organisation nobody but its pipeline may change. By fingerprint, for an emergency change that is kept on purpose.",
  exampleMatch: { name: "recorded state" },
  needsBefore: true,
  beforeUpdate: true,
  about: everyKind,
  find: (facts) => [
    ...findRecordOnly(facts),
    ...findMissing(facts),
    ...findUnequalAdoptions(facts),
    ...findContested(facts),
    ...findRevoked(facts),
  ],
};
