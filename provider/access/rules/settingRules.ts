import type { AccessMeaning } from "../../fields/fieldSpec";
import { urnParts } from "../documents/engineState";
import { specs } from "../documents/specs";
import { mayWiden } from "../effects";
import type { FieldEffect } from "../effects";
import { accessKinds, bindingKeys, grantsIn, isShownByGrants, givesAccess } from "../graph/accessKinds";
import { fieldsWhere, lifetimesOf, pathsMeant, textAt, textAtPath } from "../graph/describedFields";
import { isJudged } from "../../fields/fieldAccess";
import { ignoredAccess, isPathWithin, pathsOverlap } from "../graph/inputLeaves";
import { roleOn, tupleOf } from "../graph/grant";
import type { Grant } from "../graph/grant";
import { durationNanos, timestampNanos } from "../../fields/formats";
import { identifyingInputs, aggregatedKind } from "../../fields/resourceSpec";
import type { ChangeWithAfter, ResourceChange } from "../review/compare";
import { severities, worstOf } from "../review/finding";
import type { Finding, Severity } from "../review/finding";
import type { Entity } from "../graph/model";
import { hasPassed } from "./facts";
import type { Facts } from "./facts";
import type { FindingInput, KindCondition, Rule } from "./rule";
import { labelEntity, subjectName } from "./wording";
import { decidesSignIn, everyKind, hasJudgedContent } from "./rule";

/** One of its arguments matters: every kind but those whose description calls all of them harmless. */
const hasJudgedField: KindCondition = (kind) =>
  Object.values(specs[kind]?.fields ?? {}).some((field) => isJudged(field));

/** Whether the list of grants shows that somebody gains something by a resource. */
const gainsSomething = (facts: Facts, { urn, after }: ChangeWithAfter): boolean =>
  facts.gainsAbout(after.key) || (urn !== undefined && facts.gainsAbout(urn));

/** Whether each grant of a resource was held before, by it or by another one: it only takes access away. */
function grantsNothingNew(facts: Facts, { after }: ChangeWithAfter): boolean {
  const [declared, grants] = [grantsIn(after), facts.after.ofResource(after)];
  const isHeld = (grant: Grant): boolean =>
    facts.before
      .ofSubjectAt(grant.subject.key, grant.group.key)
      .some((old) => tupleOf(old) === tupleOf(grant));
  // What was not resolved is in no list. Who is the subject of its own grants may be somebody else by other fields.
  const isSubject = declared.some(({ holder }) => "type" in holder);
  return !isSubject && grants.length > 0 && grants.length === declared.length && grants.every(isHeld);
}

/** Whether the list of grants shows what a property gives: a gain, which the rules of grants judge, or nothing. */
const isShownInGrants = (facts: Facts, change: ChangeWithAfter, { path, effect }: FieldEffect): boolean =>
  isShownByGrants(change.kind, path, effect) &&
  (gainsSomething(facts, change) || grantsNothingNew(facts, change));

/** The end of a lifetime as the server gave it, or another end as the program writes it. */
function endBefore({ kind, before }: ChangeWithAfter, path: string): string | undefined {
  const end = lifetimesOf(kind).find((lifetime) => lifetime.path === path)?.field.returnedAs;
  return end === undefined ? textAtPath(before?.inputs, path) : textAtPath(before?.details, end);
}

/** Whether an end that had passed is moved: what was over begins again. */
const isRevived = (facts: Facts, change: ChangeWithAfter, { path }: FieldEffect): boolean =>
  hasPassed(facts, endBefore(change, path));

/** Whether an object that is made now ends no later than the one in whose place it comes. */
function endsNoLater(facts: Facts, change: ChangeWithAfter, path: string): boolean {
  const end = timestampNanos(endBefore(change, path) ?? "");
  const lifetime = durationNanos(textAtPath(change.after.inputs, path) ?? "");
  if (end === undefined || lifetime === undefined) return false;
  return BigInt(facts.options.now) * 1_000_000n + lifetime <= end;
}

/** The lifetimes that begin again with an object that is made anew, also where no argument changes. */
function renewedLifetimes(facts: Facts, change: ChangeWithAfter): FieldEffect[] {
  const { kind, op, before, after } = change;
  if (before === undefined || decidesSignIn(kind) || (op !== "replace" && op !== "create")) return [];
  return lifetimesOf(kind)
    .filter(({ path }) => !endsNoLater(facts, change, path))
    .map(({ path }): FieldEffect => {
      const [end, lifetime] = [endBefore(change, path), textAtPath(after.inputs, path)];
      return {
        path,
        ...(end === undefined ? {} : { before: `until ${end}` }),
        after: `${lifetime ?? "a lifetime that is not known"} from the update on`,
        effect: "expiry",
        direction: "widened",
        reason: "it is made anew, and begins again",
      };
    })
    .filter((field) => !gainsSomething(facts, change) || isRevived(facts, change, field));
}

function severityOf(facts: Facts, change: ChangeWithAfter, field: FieldEffect): Severity {
  const { after, kind } = change;
  const isEnd = field.effect === "expiry";
  // Whatever end comes in the place of one that had passed, it is later.
  if (isEnd && isRevived(facts, change, field)) return "high";
  if (field.direction === "unknown") {
    if (facts.options.strict) return "high";
    // R2 judges where packages come from, and who signs them.
    return pathsMeant(kind, "images.packages").includes(field.path) ? "low" : "medium";
  }
  if (isEnd) return field.after === undefined ? "high" : "medium";
  const isUnused =
    (accessKinds[kind]?.assumable === true && facts.heldThrough(after.key).length === 0) ||
    (kind === "Role" && facts.after.ofRole(after.key).length === 0);
  return isUnused ? "medium" : "high";
}

/** Whether a finding says at least as loudly what becomes of a property of the same resource. */
function isReported(
  others: readonly Finding[],
  { urn, after }: ChangeWithAfter,
  path: string,
  severity: Severity,
) {
  return others.some(
    (other) =>
      (other.urn === undefined ? other.uid !== undefined && other.uid === after.uid : other.urn === urn) &&
      severities.indexOf(other.severity) <= severities.indexOf(severity) &&
      other.field?.split(", ").some((field) => pathsOverlap(field, path)) === true,
  );
}

/** What widens access comes before what may widen it. */
const sortByDirection = (fields: readonly FieldEffect[]): FieldEffect[] =>
  [...fields].sort((a, b) => Number(b.direction === "widened") - Number(a.direction === "widened"));

/** What a create takes the place of where the program only renames its resource: the same change deletes it. */
function findRenamed(facts: Facts, { op, after }: ChangeWithAfter): Entity | undefined {
  return op === "create" ? facts.namesakesBefore(after).find(({ key }) => facts.isDeleted(key)) : undefined;
}

/**
 * What a resource lets in or gives out where it is new. Others judge grants, who signs in, and whom images trust.
 */
function newEffects(facts: Facts, { kind, after }: ChangeWithAfter): readonly FieldEffect[] {
  if (decidesSignIn(kind) || accessKinds[kind]?.shownByGrants === true) return [];
  return facts.effectsOf(after).filter(
    ({ path, effect }) =>
      (effect === "subject" ||
        effect === "permission" ||
        putsIntoImages(kind).some((contents) => isPathWithin(path, contents.path))) &&
      path !== "parentUid" &&
      // The list of grants shows all of what grants by itself, also where nothing of it is new.
      !(accessKinds[kind]?.grants !== undefined && isShownByGrants(kind, path, effect)) &&
      !imageTrusts(kind).some((trusted) => isPathWithin(path, trusted.path)) &&
      !isFromCatalogue(after, path),
  );
}

const INTO_IMAGES: readonly (AccessMeaning | undefined)[] = [
  "images.contents",
  "images.packages",
  "images.users",
  "images.variables",
];
const putsIntoImages = fieldsWhere(({ access }) => INTO_IMAGES.includes(access));

/** R1 and R2 judge these. */
const imageTrusts = fieldsWhere(
  ({ access }) =>
    access?.startsWith("images.") === true && access !== "images.source" && !INTO_IMAGES.includes(access),
);

/** Whether a property names an image of the platform's own catalogue, which is no one else's. */
function isFromCatalogue({ kind, inputs }: Entity, path: string): boolean {
  const isSource = pathsMeant(kind, "images.source").includes(path);
  return isSource && /^[a-z0-9][a-z0-9._-]*$/.test(textAtPath(inputs, path) ?? "");
}

function* findChangedSettings(
  facts: Facts,
  others: readonly Finding[],
  change: ChangeWithAfter,
): Generator<FindingInput> {
  const { op, after } = change;
  const isDrift = facts.comparison.drift !== undefined;
  // Drift itself says what somebody changed; of what no program declares it says only that it is there.
  if (isDrift && op !== "create") return;
  const renamed = findRenamed(facts, change);
  const isNew =
    renamed === undefined &&
    (op === "create" || (op === "replace" && change.fields.some(({ path }) => path === "parentUid")));
  const fields = renamed === undefined ? change.fields : facts.effectsOf(after, renamed.inputs);
  const known = renamed === undefined ? change : { ...change, before: renamed };
  const renewed = renewedLifetimes(facts, known);
  const isRenewed = ({ path }: FieldEffect): boolean => renewed.some((field) => field.path === path);
  const changed = (isNew ? newEffects(facts, change) : fields).filter((field) => !isRenewed(field));
  const open = [...changed, ...renewed].filter(
    (field) =>
      mayWiden(field.direction) &&
      // X1 judges each address.
      !pathsMeant(change.kind, "events.receiver").includes(field.path) &&
      !isShownInGrants(facts, change, field) &&
      !isReported(others, change, field.path, severityOf(facts, known, field)),
  );
  const severity = worstOf(open.map((field) => severityOf(facts, known, field)));
  if (severity === undefined) return;
  const verbOfNew = op === "replace" ? "moves to another group, and sets there" : "is new there, and sets";
  const verb = isDrift ? "sets" : isNew ? verbOfNew : "changes";
  const loudest = sortByDirection(open.filter((field) => severityOf(facts, known, field) === severity));
  yield facts.aboutEntity(after, {
    severity,
    field: loudest.map(({ path }) => path).join(", "),
    message: `${labelEntity(after)} ${verb} ${loudest.map(({ path, reason }) => (isNew ? path : `${path} (${reason})`)).join(", ")}${change.sendsNothing === true ? ": this update sends nothing to the server, and the next one acts on it" : ""}`,
    details: sortByDirection(open).map(
      ({ path, before = "not set", after: now = "not set", reason }) =>
        `${path}: ${before} → ${now} (${reason})`,
    ),
    advice: "check with those who answer for it that the new value is meant; no other rule judges it",
  });
}

/** Whether a group has bindings that a resource which owns all of them does not declare: the update after this one removes them. */
function leavesBindings(facts: Facts, after: Entity, place: string): boolean {
  const declared = new Set(bindingKeys(after));
  return [...facts.comparison.before.entities.values()].some(
    (entity) =>
      accessKinds[entity.kind]?.binding === true &&
      textAt(entity.inputs, "parentUid") === place &&
      !facts.isDeleted(entity.key) &&
      !bindingKeys(entity).every((key) => declared.has(key)),
  );
}

/** A create that the server carries out on what exists already under the same name, or may carry out on it. */
function* findReplacedContent(facts: Facts, change: ChangeWithAfter): Generator<FindingInput> {
  const { op, before, after, recorded } = change;
  const spec = specs[after.kind];
  if (spec?.operations?.takesOver !== true || !hasJudgedContent(after.kind)) return;
  // What the inventory has there is an update of what no stack records.
  if (op === "update" && before !== undefined && recorded === undefined) {
    yield facts.aboutEntity(after, {
      severity: "high",
      field: "name",
      message: `${labelEntity(after)} takes the place of one that exists, and that another owner may write`,
      advice: "adopt the existing one in a change of its own, or choose another name",
    });
    return;
  }
  const isElsewhere = identifyingInputs(spec).some((key) => before?.inputs[key] !== after.inputs[key]);
  if (op !== "create" && !(op === "replace" && isElsewhere)) return;
  const parent = facts.entity(textAt(after.inputs, "parentUid") ?? "");
  // What is below a new object is new itself.
  if (parent !== undefined && parent.uid === undefined) return;
  // What it changes of its own object is judged as a change.
  if (findRenamed(facts, change) !== undefined) return;
  const place = textAt(after.inputs, "parentUid") ?? "";
  const parts = aggregatedKind(spec);
  const isListed = facts.lists(parts ?? after.kind, place);
  const isKnown = parts !== undefined || identifyingInputs(spec).every((key) => textAt(after.inputs, key));
  if (isListed && isKnown && !(parts !== undefined && leavesBindings(facts, after, place))) return;
  yield facts.aboutEntity(after, {
    // The grants of a group are judged one by one: nobody sees what a single object held.
    severity: parts === undefined ? "high" : "medium",
    field: "name",
    ...(parts === undefined
      ? {
          message: `${labelEntity(after)} may take the place of one that exists`,
          advice: `check that none of this name exists, or that it is yours: take the inventory with --types +${after.kind}`,
        }
      : {
          message: `${labelEntity(after)} ${isListed ? "does" : "may"} not declare each binding that its group has: the update after the next refresh removes the others`,
          advice: "declare all that are to stay, or name them in ignore",
        }),
  });
}

/** A change from now on that a refresh takes over from the server, and that no later change of the program shows. */
function* findIgnored(
  facts: Facts,
  { kind, after, newlyIgnored = [] }: ResourceChange,
): Generator<FindingInput> {
  if (after === undefined || after.external === true) return;
  const fields = ignoredAccess(specs[kind], newlyIgnored);
  if (fields.length === 0) return;
  yield facts.aboutEntity(after, {
    severity: "high",
    field: fields.join(", "),
    message: `${labelEntity(after)} ignores changes of ${fields.join(", ")} from now on: what somebody does there by hand stays, and is recorded with the next refresh`,
    details: newlyIgnored.map((path) => `ignoreChanges: ${path}`),
    pins: [...newlyIgnored],
    advice: "take it out of ignoreChanges, and declare what is meant to be there",
  });
}

const isGroup: KindCondition = (kind) => kind === "Group";

export const newRoot: Rule = {
  id: "S2",
  name: "new-organisation",
  severities: ["medium"],
  when: "always",
  what: "A group is created without `parentUid`, or replaced by one without: it is the root of a new organisation.",
  why: "Whoever creates an organisation owns it, and no binding, review or nightly comparison of the existing one covers it. Often the parent was forgotten.",
  fix: "Set `parentUid` to the uid of the group that it belongs to.",
  except: "For the first program of a new organisation.",
  needsBefore: true,
  beforeUpdate: true,
  about: isGroup,
  *find(facts) {
    for (const { op, after } of facts.writes(isGroup)) {
      const { parentUid } = after.inputs;
      if (op === "update" || (parentUid !== undefined && parentUid !== "")) continue;
      yield facts.aboutEntity(after, {
        severity: "medium",
        field: "parentUid",
        message: `${labelEntity(after)} has no parentUid: it is the root of a new organisation`,
        pins: after.name ?? null,
        advice:
          "set parentUid to the uid of the group that it belongs to, unless a new organisation is meant",
      });
    }
  },
};

export const repeatedGrant: Rule = {
  id: "S3",
  name: "repeated-grant",
  severities: ["low"],
  when: "always",
  what: "A new grant gives a role that the same subject has already at the same group, by another resource.",
  why: "Whoever removes one of the two believes that the access is gone, and the other one still gives it.",
  fix: "Keep one of the two.",
  except: "While a grant moves from one stack to another.",
  exampleMatch: { role: "viewer" },
  needsBefore: true,
  about: givesAccess,
  *find(facts) {
    const first = new Map<string, Grant>();
    for (const grant of facts.comparison.after.grants) {
      const key = tupleOf(grant);
      if (!first.has(key)) first.set(key, grant);
    }
    const created = new Set([...facts.writes(givesAccess)].map(({ urn }) => urn));
    for (const grant of facts.comparison.after.grants) {
      const other = first.get(tupleOf(grant));
      const isCreated = [grant, other].some((each) => each?.urn !== undefined && created.has(each.urn));
      if (other === undefined || other.urn === grant.urn || !isCreated) continue;
      const { sourceKind, urn, uid } = other;
      // The program reads what the inventory lists.
      if (uid !== undefined && uid === grant.uid) continue;
      // At the server it is one binding, which drift shows under each resource that owns it.
      const isShownTwice = [grant, other].some((each) => accessKinds[each.sourceKind]?.ownsBindings === true);
      if (isShownTwice && facts.comparison.drift !== undefined) continue;
      yield facts.aboutGrant(grant, {
        severity: "low",
        field: "roleUid",
        message: `${subjectName(grant)} has ${roleOn(grant)} twice`,
        details: [
          `also by ${sourceKind} ${urn === undefined ? (uid ?? "of another owner") : urnParts(urn).name}`,
        ],
        advice: "keep one of the two: removing the other one takes nothing away",
      });
    }
  },
};

export const newMatch: Rule = {
  id: "S4",
  name: "new-match",
  severities: ["medium"],
  when: "always",
  what: "An object begins to match an exception of the policy file by a name, a path or a trust. It is new, or it is renamed, or it or a group above it moves. A name that was given by hand begins to match when the object is next written. A name that is not known before the update is reported too. Not reported: an exception with a fingerprint, and a new group below a group that matches already.",
  why: "In this change the exception does not apply to it, but in the next one it does. Nobody has accepted what the object will then give.",
  fix: "Choose a name that no exception matches. Give the exception a fingerprint, or remove it.",
  except: "For an object that the exception is meant for, by the fingerprint of this finding.",
  needsBefore: true,
  beforeUpdate: true,
  about: everyKind,
  find: (facts) =>
    (facts.options.newMatches?.(facts.comparison) ?? []).map(
      ({ entity, condition, entry }): FindingInput => ({
        ...facts.aboutEntity(entity, {
          severity: "medium",
          field: "name",
          message: `${labelEntity(entity)} begins to match an exception of the policy file: ${condition}`,
          details: [`the entry at ${entry}`],
          pins: condition,
          advice: "choose a name that no exception matches, or give the exception a fingerprint",
        }),
        // An exception for its group accepts what it gives there, and not its name.
        group: undefined,
      }),
    ),
};

export const changedSetting: Rule = {
  id: "S1",
  name: "changed-setting",
  severities: ["high", "medium", "low"],
  when: "high if the change gives more access: another principal, a permission more, a restriction less, no end any more, an end that had passed. Medium if an end only comes later, if the identity holds nothing, or if nobody holds the role. What decides access and is ignored from now on is high. Medium where the effect is unknown, but low for packages of an image, and high with --strict",
  driftAdvice: "delete it, unless your team made it; then adopt it into a program, and have it reviewed",
  what: "An argument changes that is not harmless by its description, and no other rule reports it at this severity. Or a new resource sets what lets somebody in, or gives something out, beside grants. Examples are accounts of an association, and registries that images are copied to. Or a new repository sets what is put into its images, or their other names. Or a resource is created that takes the place of what exists under its name. Or an invite is made anew, and begins again. Or `ignoreChanges` names what decides access from now on. Not reported: what only takes access away, and what the list of grants shows. So a binding that now gives what its subject held already is not reported. In drift it reports what an object that no program declares lets in or gives out.",
  why: "Each argument that is not a text for people decides something. Examples are the end of a token, the accounts of a group and the contents of an image.",
  fix: "Ask those who answer for the resource. Change the argument in a pull request of its own that says why.",
  except: "For one resource by its uid, once the new value has been checked.",
  exampleMatch: { name: "build-*" },
  exampleFields: ["staticKeys.expirationTime"],
  needsBefore: true,
  about: hasJudgedField,
  *find(facts, others) {
    for (const change of facts.writes(hasJudgedField)) {
      yield* findChangedSettings(facts, others, change);
      if (facts.comparison.drift === undefined) yield* findReplacedContent(facts, change);
    }
    for (const change of facts.comparison.changes) yield* findIgnored(facts, change);
  },
};
