import { compareTexts, getOrCompute } from "../../fields/values";
import type { Json } from "../../fields/values";
import { sha256 } from "../documents/digest";
import { specs } from "../documents/specs";
import { textAt } from "../graph/describedFields";
import { accessKinds, bindingKeys } from "../graph/accessKinds";
import { isGain, tupleOf } from "../graph/grant";
import { wholeOf } from "../graph/keys";
import type { Entity } from "../graph/model";
import { mayWiden } from "../effects";
import type { FieldEffect } from "../effects";
import type { ComparisonAsRecorded, KeptChange, ResourceChange } from "../review/compare";
import { severities, sortFindings, worstOf } from "../review/finding";
import type { Finding, Severity } from "../review/finding";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { inputsToPin } from "./findingValue";
import { everyKind, givesAccess, hasAccessField, hasJudgedContent } from "./rule";
import { grantLine, labelEntity, limitLines } from "./wording";
import { listFirst, plural } from "../../text/plain";

/** The resources that gained and widened grants name: who holds them, and by which role. */
function keysOfMoreAccess(facts: Facts): ReadonlySet<string | undefined> {
  return new Set(
    facts.comparison.grants
      .filter(isGain)
      .flatMap(({ grant: { subject, role } }) => [subject.key, wholeOf(subject.key), role.key]),
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

/**
 * Whether an update depends on what is recorded beside what it changes: an update that only changes what is harmless writes
 * nothing else, unless the kind writes all of an object. It may then take back what was done to that by hand.
 */
function reliesOnRecord({ op, kind, fields }: ResourceChange): boolean {
  const isHarmless = op === "update" && fields.length > 0 && fields.every(({ effect }) => effect === "none");
  return !isHarmless || (specs[kind]?.operations?.update !== undefined && hasJudgedContent(kind));
}

/** Resources whose access no inventory shows, where the change depends on it. */
function findRecordOnly(facts: Facts): FindingInput[] {
  const named = keysOfMoreAccess(facts);
  const relied = facts.comparison.changes.filter((change) => {
    const { op, kind, isRecordOnly, after } = change;
    if (isRecordOnly !== true || after === undefined || after.external === true) return false;
    if (op === "same") return named.has(after.key);
    if (op !== "update" && op !== "replace") return false;
    return (givesAccess(kind) || hasAccessField(kind)) && reliesOnRecord(change);
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

/** Whether it updates what the server does not have. */
const willFail = ({ op, kind, after, isMissing }: ResourceChange): boolean =>
  isMissing === true && op === "update" && after !== undefined && !specs[kind]?.operations?.upsert;

/** Resources that the stack records and that the server does not have. */
function findMissing(facts: Facts): FindingInput[] {
  const missing = facts.comparison.changes.filter(({ isMissing }) => isMissing === true);
  const names = missing
    .filter(({ op }) => op === "same")
    .map((change) => labelEntity(change))
    .sort();
  const updated = missing.flatMap((change): FindingInput[] => {
    const { after } = change;
    if (after === undefined || !willFail(change)) return [];
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

/** Objects that the program takes over and declares otherwise than they are: the run refuses that. */
function findUnequalAdoptions(facts: Facts): FindingInput[] {
  return facts.comparison.changes.flatMap(({ op, after, declared, fields }): FindingInput[] => {
    const isTakenOver = op === "read" && declared !== undefined;
    if (!isTakenOver || after === undefined || fields.length === 0) return [];
    const paths = fields.map(({ path }) => path);
    return [
      facts.aboutEntity(after, {
        severity: "medium",
        field: paths.join(", "),
        message: `taking over ${labelEntity(after)} will fail: the program declares another ${listFirst(paths, 3)}`,
        details: limitLines(
          fields.map(
            ({ path, before, after: now }) => `${path}: ${before ?? "nothing"}, declared ${now ?? "nothing"}`,
          ),
        ),
        advice: "declare it as it is, and change it in a later change",
      }),
    ];
  });
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
function findRevoked(facts: Facts): FindingInput[] {
  const { inventory, changes, grants } = facts.comparison;
  const revoked = inventory === undefined ? new Map<string, ResourceChange>() : revokedBindings(facts);
  if (revoked.size === 0) return [];
  const failing = new Set(changes.flatMap((change) => (willFail(change) ? [change.urn] : [])));
  const returning = grants
    .filter(
      ({ change, grant }) => change === "gained" && revoked.has(tupleOf(grant)) && !failing.has(grant.urn),
    )
    .map(({ grant }) => grant);
  const declared = new Set(
    changes.flatMap(({ declared }) => (declared === undefined ? [] : bindingKeys(declared))),
  );
  const dropped = [...revoked].flatMap(([key, { recorded, isMissing }]) =>
    recorded === undefined || isMissing === true || declared.has(key) ? [] : [[key, recorded] as const],
  );
  return [
    ...(returning.length === 0
      ? []
      : [
          {
            severity: "medium" as const,
            name: "recorded state",
            field: "bindings",
            message: `${plural(returning.length, "grant was", "grants were")} revoked by hand, and this change makes ${returning.length === 1 ? "it" : "them"} again: ${listFirst(returning.map(grantLine).sort(), 3)}`,
            details: limitLines(returning.map(grantLine).sort()),
            pins: returning.map(tupleOf).sort(),
            advice: "ask who revoked each and why; take it out of the program if that was meant",
          },
        ]),
    ...(dropped.length === 0
      ? []
      : [
          {
            severity: "low" as const,
            name: "recorded state",
            field: "bindings",
            message: `${plural(dropped.length, "binding was", "bindings were")} revoked by hand, and this change no longer declares ${dropped.length === 1 ? "it" : "them"}: of ${listFirst([...new Set(dropped.map(([, entity]) => labelEntity(entity)))].sort(), 3)}`,
            pins: dropped.map(([key]) => key).sort(),
            advice: "ask who revoked each and why: nothing restores them from now on",
          },
        ]),
  ];
}

/** Who holds what a kept change grants, or allows by its role: by their keys. */
function holdersOfKept(
  { comparison, roles }: Facts,
  kept: readonly KeptChange[],
): ReadonlyMap<string, KeptChange> {
  const byUrn = new Map(kept.map((each) => [each.change.urn, each]));
  const byKey = new Map(kept.map((each) => [(each.lost ?? each.change.after)?.key, each]));
  const holders = new Map<string, KeptChange>();
  // Of several grants, one that writes is what most rules are about.
  const writing = comparison.after.grants.filter(({ role }) => roles.mayWrite(role));
  for (const { urn, subject, role } of [...writing, ...comparison.after.grants]) {
    const cause = (urn === undefined ? undefined : byUrn.get(urn)) ?? byKey.get(role.key);
    const key = wholeOf(subject.key) ?? subject.key;
    if (cause !== undefined && !holders.has(key)) holders.set(key, cause);
  }
  return holders;
}

/**
 * The kept change that a finding is about: of its resource, or else of what holds the grant or is granted. A resource that the
 * change writes may give what another one gives since somebody changed it by hand. Of what it does not write, it answers for
 * who holds a grant that it keeps.
 */
function causeOf(
  { comparison }: Facts,
  { urn, grant }: Finding,
  kept: readonly KeptChange[],
  holders: ReadonlyMap<string, KeptChange>,
): KeptChange | undefined {
  const keys = grant === undefined ? [] : [grant.subject.key, wholeOf(grant.subject.key), grant.role.key];
  const known =
    kept.find(({ change }) => urn !== undefined && change.urn === urn) ??
    kept.find(({ change, lost }) => keys.includes((lost ?? change.after)?.key));
  if (known !== undefined || urn === undefined) return known ?? kept[0];
  const change = comparison.changes.find((each) => each.urn === urn);
  const isWritten = change?.after !== undefined && change.op !== "same" && change.op !== "read";
  return isWritten ? { change, fields: [] } : holders.get(change?.after?.key ?? "");
}

const describeKeptField = ({ path, before, after, reason }: FieldEffect): string =>
  `${path}: recorded ${before ?? "nothing"}, now ${after ?? "nothing"}${reason === "" ? "" : `: ${reason}`}`;

function reportKeptChange(
  facts: Facts,
  { change, fields, lost }: KeptChange,
  found: readonly Finding[],
): FindingInput[] {
  const entity = lost ?? change.after ?? change.before;
  const severities = found.map(({ severity }) => (severity === "critical" ? "high" : severity));
  const severity = worstOf([
    ...severities,
    ...(fields.some((each) => mayWiden(each.direction)) ? ["medium" as const] : []),
  ]);
  if (entity === undefined || severity === undefined || severity === "low") return [];
  const paths = fields.map(({ path }) => path);
  const label = labelEntity(entity);
  const [field, message] =
    lost !== undefined
      ? [
          "delete",
          `${label} was deleted by hand, and this change ${change.after === undefined ? "no longer declares it" : "makes it again"}`,
        ]
      : fields.length === 0
        ? [
            "adopt",
            change.op === "read"
              ? `${label} was made by hand, and this change keeps it`
              : givesAccess(change.kind)
                ? `what ${label} grants was granted by hand already, and this change declares it`
                : `${label} gets what was given by hand to something else, and this change declares it`,
          ]
        : [
            paths.join(", "),
            `${label} was changed by hand, and this change keeps it: ${listFirst(paths, 3)}`,
          ];
  return [
    facts.aboutEntity(entity, {
      severity,
      field,
      message,
      details: [
        ...limitLines(fields.map(describeKeptField)),
        ...limitLines(found.map((each) => `${each.id}: ${each.message}`)),
      ],
      pins: [
        fields.map(({ path, after: now }) => [path, now ?? null]),
        found.map(({ fingerprint }) => fingerprint).sort(),
      ],
      advice: "ask who did it and why; undo it at the server, or accept it in the policy file",
    }),
  ];
}

/** The objects that a change takes over and does not change, where they give access. */
const grantsAmong = (kept: readonly KeptChange[]): Entity[] =>
  kept.flatMap(({ change: { after, kind }, fields, lost }) =>
    lost === undefined && fields.length === 0 && after !== undefined && givesAccess(kind) ? [after] : [],
  );

/**
 * Whether a first import takes over a grant that is critical, and leaves others of its group: another stack has those, so it is
 * not the first day of the organisation.
 */
function takesOwner({ comparison }: Facts, taken: readonly Entity[], found: readonly Finding[]): boolean {
  const uids = new Set(taken.map(({ uid }) => uid));
  const groups = found.flatMap(({ severity, grant }) =>
    severity === "critical" && grant !== undefined ? [grant.group.key] : [],
  );
  return (comparison.inventory?.objects ?? []).some(
    ({ kind, uid, inputs }) =>
      accessKinds[kind]?.binding === true &&
      groups.includes(textAt(inputs, "parentUid") ?? "") &&
      !uids.has(uid),
  );
}

/**
 * All that the first import of a stack takes over, as one finding: nobody reads one for each object of an organisation, and
 * whoever made an object by hand before it must not stay unseen.
 */
function reportFirstImport(
  facts: Facts,
  kept: readonly KeptChange[],
  found: readonly Finding[],
): FindingInput[] {
  if (found.length === 0 && grantsAmong(kept).length === 0) return [];
  const counts = severities.flatMap((level) => {
    const { length } = found.filter(({ severity }) => severity === level);
    return length === 0 ? [] : [`${length} ${level}`];
  });
  const objects = kept.flatMap(({ change }) => change.after ?? []);
  const { length: taken } = kept.filter(({ change }) => change.op === "read");
  const declared = objects.length - taken;
  const what = [
    ...(taken === 0 ? [] : [`takes over ${plural(taken, "object")} made by hand`]),
    ...(declared === 0
      ? []
      : [
          `declares ${plural(declared, "object")} that ${declared === 1 ? "gives" : "give"} what was given by hand`,
        ]),
  ];
  const asNew =
    counts.length === 0
      ? ""
      : `; had nothing been made by hand, the rules would find ${listFirst(counts)} more`;
  return [
    {
      severity: takesOwner(facts, objects, found)
        ? "high"
        : found.some(({ severity }) => severity !== "low")
          ? "medium"
          : "low",
      name: "recorded state",
      field: "adopt",
      message: `the first change of this stack ${what.join(", and ")}: ${listFirst(objects.map(labelEntity).sort(), 3)}${asNew}`,
      details: limitLines(
        found.length === 0
          ? objects.map(labelEntity).sort()
          : [
              ...new Set(
                sortFindings(found).map(({ severity, id, message }) => `${severity} ${id}: ${message}`),
              ),
            ],
      ),
      pins: [objects.map(({ key }) => key).sort(), found.map(({ fingerprint }) => fingerprint).sort()],
      advice:
        "check each line: the stack will record these as meant, and drift does not report them any more",
    },
  ];
}

/**
 * What was made by hand and becomes the program's, at the severity that the rules give it as a change of the program.
 * @param found What they say beyond what they say of the change itself.
 */
export function reportKept(
  facts: Facts,
  { kept, isFirstImport }: ComparisonAsRecorded,
  found: readonly Finding[],
): FindingInput[] {
  if (isFirstImport) return reportFirstImport(facts, kept, found);
  const byChange = new Map(kept.map((each) => [each.change, { cause: each, found: [] as Finding[] }]));
  const holders = holdersOfKept(facts, kept);
  for (const finding of found) {
    const cause = causeOf(facts, finding, kept, holders);
    if (cause === undefined) continue;
    getOrCompute(byChange, cause.change, () => ({ cause, found: [] })).found.push(finding);
  }
  const reported = [...byChange.values()].flatMap(({ cause, found: own }) =>
    reportKeptChange(facts, cause, own),
  );
  const urns = new Set(reported.map(({ urn }) => urn));
  const others = kept.filter(({ change }) => !urns.has(change.urn));
  const lostOf = (isMadeAgain: boolean): Entity[] =>
    others.flatMap(({ change, lost }) =>
      lost !== undefined && (change.after !== undefined) === isMadeAgain ? [lost] : [],
    );
  const [losses, returning] = [lostOf(false), lostOf(true)];
  const grants = grantsAmong(others);
  const them = ({ length }: readonly Entity[]): string => (length === 1 ? "it" : "them");
  return [
    ...reported,
    ...reportTogether(losses, "delete", (names) => ({
      message: `${plural(losses.length, "resource was", "resources were")} deleted by hand, and this change no longer declares ${them(losses)}: ${names}`,
      advice: "ask who deleted each and why: nothing restores them from now on",
    })),
    ...reportTogether(
      returning,
      "replace",
      (names) => ({
        message: `${plural(returning.length, "resource was", "resources were")} deleted by hand, and this change makes ${them(returning)} again: ${names}`,
        advice: "ask who deleted each and why; take it out of the program if that was meant",
      }),
      returning.some(({ kind }) => givesAccess(kind)) ? "medium" : "low",
    ),
    ...reportTogether(grants, "adopt", (names) => ({
      message: `${plural(grants.length, "grant was", "grants were")} made by hand, and this change keeps ${them(grants)}: ${names}`,
      advice: "check that each is meant: the stack did not manage them before",
    })),
  ];
}

/** One finding of several objects of which no rule says anything. */
function reportTogether(
  entities: readonly Entity[],
  field: string,
  describe: (names: string) => Pick<FindingInput, "message" | "advice">,
  severity: Severity = "low",
): FindingInput[] {
  if (entities.length === 0) return [];
  const names = entities.map(labelEntity).sort();
  const pins = entities.map(({ key }) => key).sort();
  const details = limitLines(names);
  return [{ severity, name: "recorded state", field, details, pins, ...describe(listFirst(names, 3)) }];
}

export const recordedState: Rule = {
  id: "X5",
  name: "recorded-state",
  severities: ["high", "medium", "low"],
  when: "medium for access that is compared with the record only (high with --strict). Medium for an update of a resource that the server does not have, and low for unchanged ones. What was done by hand and is kept is judged as by the other rules, at most high. It is at least medium where a changed field gives more access. Medium for a revoked grant, or for what gives access and was deleted, that comes back. Low for other grants, and for other objects that were deleted. At most medium for all that the first import of a stack takes over. But high for an owner of a root group that has other bindings, too",
  what: "The change updates or replaces a resource that decides access, or gives more access through one, and no inventory contains it. The review then compares with what the stack records, and does not see what was changed at the server since. Or the stack records a resource that a complete inventory lacks: an update of it fails, and an unchanged one stays deleted. Or somebody changed an object by hand, and the change writes the same into the program. The same holds of an object that the change adopts, or makes again, and that no program managed. Or somebody deleted an object, and the change makes it again, or no longer declares it. Or somebody revoked a binding, and the change makes it again, or no longer declares it. The rules then judge what was done by hand as if the change did it. What they say is in the details. What the first import of a stack takes over is one finding, with the worst first. Not reported: what else was narrowed by hand. Nor is a change of texts for people. Nor is a new resource, one that is deleted, and an unchanged one on which no gained or widened grant depends.",
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
    ...findRevoked(facts),
  ],
};
