import { isJudged, isName } from "../../fields/fieldAccess";
import type { Entity } from "../graph/model";
import { labelEntity, nounOf } from "./wording";
import { limitLines, listFirst, plural } from "../../text/plain";
import { exposure } from "./eventDeliveries";
import type { Facts } from "./facts";
import type { FindingInput, Rule } from "./rule";
import { everyKind, hasAccessField, isPulledByName } from "./rule";
import { recordedState } from "./recordedState";
import { urnParts } from "../documents/engineState";
import type { ChangeWithAfter } from "../review/compare";
import { isGain, pathIn, roleOn, shortName } from "../graph/grant";
import type { Grant, GrantChange } from "../graph/grant";
import { isUnread, reasonWords } from "../graph/unread";
import type { UnreadReason, UnreadValue } from "../graph/unread";
import { listGrantsHeld } from "./trustedIdentities";
import { leavesIn, topProperty } from "../graph/inputLeaves";
import { specs } from "../documents/specs";
import { isCalledByName, possibleGrants, givesAccess } from "../graph/accessKinds";
import { groupBy, once, ownMember } from "../../fields/values";
import type { Severity } from "../review/finding";
import { LONGEST_SHOWN_NAME } from "../trust/quote";
import { findMixedWord, foldName } from "../trust/writingSystems";
import { isBuiltInRole } from "./facts";

/** The strings of a resource that matter, and its name, by path. */
function stringsOf(entity: Entity | undefined): ReadonlyMap<string, string> {
  const spec = specs[entity?.kind ?? ""];
  const leaves = leavesIn(spec, entity?.inputs ?? {});
  return new Map(
    leaves.flatMap(({ value, path, property, field }) => {
      const whole = ownMember(spec?.fields, property);
      const matters = isName(path) || (isJudged(field) && whole !== undefined && isJudged(whole));
      return matters && typeof value === "string" && !isUnread(value) ? [[path, value] as const] : [];
    }),
  );
}

const writeOut = (text: string): string =>
  text.replaceAll(/[^\x20-\x7e]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16) ?? ""}}`);

function* findLookalikes(facts: Facts): Generator<FindingInput> {
  for (const { before, after } of facts.writes(everyKind)) {
    const known = new Set(stringsOf(before).values());
    for (const [path, text] of stringsOf(after)) {
      const word = known.has(text) ? undefined : findMixedWord(text);
      if (word === undefined) continue;
      yield facts.aboutEntity(after, {
        severity: isName(path) ? "medium" : "high",
        field: path,
        message: `${path} of ${labelEntity(after)} has letters of several alphabets, which look alike: ${JSON.stringify(word)}`,
        details: [`written out: ${writeOut(word)}`, `the whole value: ${writeOut(text)}`],
        pins: text,
        advice: "check each letter: write the word in letters of one alphabet if that is what is meant",
      });
    }
  }
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

/** Answers what was found by each name before a change, and what a name gives after it. */
class KnownNames {
  private readonly known = once(() =>
    groupBy(
      [...this.facts.comparison.before.entities.values()].filter(
        ({ kind, name }) => name !== undefined && isFoundByName(kind),
      ),
      (each) => [addressOf(this.facts, each, "before")],
    ),
  );
  private readonly grants = once(() =>
    groupBy(this.facts.comparison.after.grants, ({ group }) => this.facts.groupAndAbove(group.key)),
  );
  private readonly pulled = once(() =>
    groupBy(
      [...this.facts.comparison.after.entities.values()].filter(({ kind }) => isPulledByName(kind)),
      (entity) => this.facts.groupAndAbove(entity.key),
    ),
  );

  constructor(private readonly facts: Facts) {}

  /** The object that was found where a new, renamed or moved one is found now. */
  findNamesake(before: Entity | undefined, after: Entity): Entity | undefined {
    const { facts } = this;
    const address = addressOf(facts, after, "after");
    if (before !== undefined && addressOf(facts, before, "before") === address && before.name === after.name)
      return undefined;
    return this.known()
      .get(address)
      ?.find((other) => {
        if (other.key === after.key || other.key === before?.key || isBuiltInRole(other)) return false;
        if (before !== undefined) return true;
        // A resource that is renamed in its program is deleted and created. Groups of one organisation have identities of one name.
        return isFoundByPath(after.kind) || isAtSamePlace(other, after)
          ? !facts.isDeleted(other.key)
          : after.kind === "Role";
      });
  }

  /** How many grants are found by a name or below it, whether some allow more than to read, and how much images are pulled by. */
  useOf({ kind, key }: Entity) {
    const grants = this.grantsOf(kind, key);
    return {
      grants: grants.length,
      isStrong: grants.some(({ role }) => this.facts.roles.mayWrite(role)),
      pulled: isFoundByPath(kind) ? (this.pulled().get(key) ?? []).length : 0,
    };
  }

  private grantsOf(kind: string, key: string): readonly Grant[] {
    const { facts } = this;
    if (kind === "Role") return facts.after.ofRole(key);
    if (!isFoundByPath(kind)) return facts.heldThrough(key);
    return this.grants().get(key) ?? [];
  }
}

/** What a new name means to whoever chooses by names; undefined where nobody can take it for another one. */
function judgeName(
  facts: Facts,
  names: KnownNames,
  before: Entity | undefined,
  after: Entity,
): { readonly severity: Severity; readonly why: string; readonly advice?: string } | undefined {
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
  if (other !== undefined) {
    const group = facts.groupOf(other);
    const whose = `another one, ${group === undefined ? "" : `in ${pathIn(group.path)}, `}${other.key}`;
    if (!isFoundByPath(after.kind)) return { severity: "medium", why: `that is or was the name of ${whose}` };
    const path = facts.pathOf(after.key, "after");
    return {
      severity: "high",
      why: `${path} is or was the path of ${whose}, and whatever names this path may mean this one`,
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
    advice: "keep the name; or tell those who know it, and say in the pull request why it changes",
  };
}

const quoteName = ({ name = "" }: Entity): string =>
  JSON.stringify(name.length > LONGEST_SHOWN_NAME ? `${name.slice(0, LONGEST_SHOWN_NAME)} …` : name);

function describeNaming(facts: Facts, before: Entity | undefined, after: Entity): string {
  const isFound = facts.comparison.drift !== undefined;
  if (before === undefined)
    return `${nounOf(after.kind)} ${quoteName(after)} is ${isFound ? "in no stack" : "new"}`;
  if (before.name === after.name) return `${labelEntity(after)} lies in another group`;
  return `${labelEntity(before)} is called ${quoteName(after)} from now on`;
}

/** Objects whose new name readers may take for that of another one. */
function* findTakenNames(facts: Facts): Generator<FindingInput> {
  const names = new KnownNames(facts);
  for (const { before, after } of facts.writes(isFoundByName)) {
    if (after.name === undefined) continue;
    const judged = judgeName(facts, names, before, after);
    if (judged === undefined) continue;
    yield facts.aboutEntity(after, {
      severity: judged.severity,
      field: "name",
      message: `${describeNaming(facts, before, after)}: ${judged.why}`,
      pins: after.name,
      advice:
        judged.advice ??
        "choose a name that nothing else of the kind has or had, and say in the pull request why it changes",
    });
  }
}

const lookalike: Rule = {
  id: "X6",
  name: "look-alike",
  severities: ["high", "medium", "low"],
  when: "high for a path that another group or repository had, and for a value that matters. Low for a new name of what only reads; otherwise medium",
  what: "A new word has letters of several alphabets, such as a Cyrillic `а` in a Latin word, or a wide, mathematical or phonetic letter. It is in a name, or in a value that matters, such as a mail address, an issuer or the address of a sink. A domain is one word, also in punycode. Scripts that people write together, such as Latin and Japanese, are not reported. Or a role, an identity or an identity provider takes a name that another one had, or that is a role of the platform. Case, spaces and invisible letters make no other name. Or a group or a repository takes the path of another one. Or one of these is renamed that gives something, or that images are pulled by: two of them can exchange their names in several changes. Each of these changes is reported, since no review knows the names of earlier ones. Not reported: an identity of a name that another group has, and a new name of what nobody uses.",
  why: "Who reads the change takes it for another name or domain, which they trust. A stranger can register the domain that looks alike. Pulls, exceptions, lookups and lists of grants find groups, repositories and roles by name: after the change they mean another one.",
  fix: "Write the word in letters of one alphabet. Choose a name that nothing else of the kind has or had, and keep the name of what is in use.",
  except:
    "For a domain that really has such a name, after a person has compared its letters. For a new name, once those who use the old one know.",
  needsBefore: true,
  about: everyKind,
  find: (facts) => [...findLookalikes(facts), ...findTakenNames(facts)],
};

const INSTEAD: Readonly<Record<UnreadReason, string>> = {
  secret:
    "write it in plain text, or show it with pulumi.unsecret: it is not a secret, and a hidden value cannot be reviewed",
  unknown:
    "apply the resource that it comes from first, in a separate change, so that the preview knows the value",
  unreadable: "write a value of the type that the property has",
  refreshed: "run pulumi up with the program that is deployed, and preview again",
};

/** Changes that leave a resource there, whose values a reader must be able to judge. */
function* judgedChanges(facts: Facts): Generator<ChangeWithAfter> {
  for (const change of facts.comparison.changes) {
    if (change.after !== undefined && change.op !== "delete") yield { ...change, after: change.after };
  }
}

function unreadOf({ op, after }: ChangeWithAfter): UnreadValue[] {
  const { paths: judged } = possibleGrants(after);
  return (after.unread ?? []).filter(
    ({ path, reason, decidesAccess }) =>
      (decidesAccess || isName(path)) && (reason !== "secret" || op !== "same") && !judged.has(path),
  );
}

/** A finding for each property of a resource: thousands of labels are one. */
function* findUnreadValues(facts: Facts): Generator<FindingInput> {
  for (const change of judgedChanges(facts)) {
    const groups = groupBy(unreadOf(change), ({ property, reason }) => [JSON.stringify([property, reason])]);
    for (const [first, ...others] of groups.values()) {
      if (first === undefined) continue;
      const paths = [first, ...others].map(({ path }) => path);
      yield facts.aboutEntity(change.after, {
        severity: "high",
        field: others.length === 0 ? first.path : first.property,
        message: `${listFirst(paths, 3)} of ${labelEntity(change.after)} ${reasonWords(first.reason)}: ${
          first.decidesAccess
            ? "the access that it gives cannot be judged"
            : "assertions, exceptions and pulls choose objects by name"
        }`,
        details: others.length === 0 ? [] : limitLines(paths),
        advice: INSTEAD[first.reason],
      });
    }
  }
}

/** A finding for each resource of which an update makes values secret: all other rules judge these as they were. */
function* findConcealedValues(facts: Facts): Generator<FindingInput> {
  for (const { after } of judgedChanges(facts)) {
    const { concealed = [] } = after;
    if (concealed.length === 0) continue;
    const paths = concealed.map(({ path }) => path);
    const grants = facts.heldThrough(after.key);
    yield facts.aboutEntity(after, {
      severity: "high",
      field: [...new Set(concealed.map(({ property }) => property))].join(", "),
      message: `${listFirst(paths, 3)} of ${labelEntity(after)} ${paths.length === 1 ? "is" : "are"} secret now: no change of that can be judged from this update on`,
      details: [...(paths.length > 3 ? limitLines(paths) : []), ...listGrantsHeld("it has", grants)],
      advice: INSTEAD.secret,
    });
  }
}

/** What to do where nothing describes what a uid names. */
const adviceOnUid = ({ comparison: { inventories } }: Facts): string =>
  inventories.length === 0
    ? "give --inventory, which describes what the program does not manage"
    : "correct the uid, since the update fails where nothing has it; or take an inventory of the group above all that this program manages";

/** A part of a grant that nobody can check. */
interface Doubt {
  readonly field: string;
  readonly message: string;
  readonly advice: string;
}

/** Whether nothing but the program says what a role or an identity is: no document describes it, or its group. */
function isUndescribed(facts: Facts, key: string, isKnown = facts.entity(key) !== undefined): boolean {
  const entity = facts.entity(key);
  const group = facts.groupAndAbove(key).find((at) => at !== key);
  const isOutside = entity?.builtIn !== true && facts.isOutsideInventory(group);
  return isOutside || !isKnown || entity?.claimed === true;
}

/** The parts of a grant that a reader cannot check: nothing but the program, or nothing at all, describes them. */
function doubtsOf(facts: Facts, { grant: { subject, role, group } }: GrantChange): Doubt[] {
  const hasInventory = facts.comparison.inventories.length > 0;
  const place = facts.entity(group.key);
  const doubts: Doubt[] = [];
  const doubt = (field: string, why: string, advice = adviceOnUid(facts)) => {
    const who = field === "subject" ? shortName(subject) : subject.displayName;
    doubts.push({ field, message: `${who} gains ${roleOn({ role, group })}: ${why}`, advice });
  };
  const isNamed = role.uid !== undefined || facts.entity(role.key) !== undefined;
  if (isNamed && isUndescribed(facts, role.key, role.capabilities !== undefined))
    doubt("role", "no inventory describes this role");
  if (subject.type === "identity" && isUndescribed(facts, subject.key))
    doubt("subject", "no inventory describes this identity");
  // A group that the inventory lacks may be anyone's. Without an inventory a program names groups by uid alone.
  const isDescribed = place === undefined ? group.uid === undefined : place.claimed !== true;
  if (hasInventory && !isDescribed) doubt("group", "no inventory describes this group");
  return doubts;
}

function* findUnknownGrants(facts: Facts): Generator<FindingInput> {
  for (const change of facts.comparison.grants.filter(isGain)) {
    for (const doubt of doubtsOf(facts, change))
      yield facts.aboutGrant(change.grant, { severity: "high", ...doubt });
  }
}

/** All that cannot be judged. */
function* findUnjudged(facts: Facts): Generator<FindingInput> {
  yield* findUnreadValues(facts);
  yield* findConcealedValues(facts);
  yield* findUnknownGrants(facts);
}

const cannotBeJudged: Rule = {
  id: "X3",
  name: "cannot-be-judged",
  severities: ["high"],
  when: "always",
  what: "A value that decides access, or a name, was not read. It is a secret, has the wrong type, or is unknown before the update and may come from several resources. Or a gained or widened grant names a role or an identity that no input describes, or that only the program describes (`.get` without `--inventory`). Or the group of one of them, or that of the grant, is not in the given inventory. Or a value becomes secret: all other rules judge it as it was. Fields that are always secret, such as a client secret, are not reported. Nor is a value that was secret before, in a resource that the engine calls unchanged.",
  why: "No other rule can check such a value: it could give `owner` to anyone.",
  fix: "Give `--inventory`. Write uids, capabilities, patterns and addresses in plain text. Create what others refer to in a separate change.",
  except:
    "For one resource, after a person has checked the value. An exception cannot tell a hidden value from the next one.",
  exampleMatch: { group: "acme / partners" },
  driftAdvice: "look at the live object, and restore what its program declares unless one of you changed it",
  about: (kind) => kind === "Group" || givesAccess(kind) || hasAccessField(kind),
  find: findUnjudged,
};

const notReviewed: Rule = {
  id: "X4",
  name: "not-reviewed",
  severities: ["high"],
  when: "always",
  what: "The change contains a resource that cannot be reviewed. That is a dynamic resource whose code is in the program, or one with a type of this package but another provider. It is also a kind that this version does not know, or a resource that runs commands. It is every resource and provider of another package too, unless its type is known to be harmless. And it is a resource that adopts by a uid which the preview does not show, or in place of its own object. What it declares about itself is not trusted. Reads and deletes are reported too. An unchanged resource is not: the update does nothing to it. But a provider is, where its inputs name another plugin: the engine asked that one whether anything changes. Nor is a component of the program: it only groups resources that are judged one by one. With `--plan`, a new provider of another package is reported also where only functions or components use it.",
  why: "It can do anything that the credentials of the update can do, and the preview shows none of it. Another provider of the same platform changes the same access.",
  fix: "Declare the same with resources of this package. Run commands, and manage other clouds, in a separate pipeline that has its own credentials.",
  except:
    "For a command without a credential of the platform, after a person has read it. The fingerprint covers the arguments that the preview shows, and no secrets. For all resources of a type, name the type and the version of its package under `types` in the policy file.",
  beforeUpdate: true,
  about: everyKind,
  *find({ comparison }) {
    for (const change of comparison.changes) {
      const { notReviewed: why, kind, urn, location, op, packageVersion, inputsDigest } = change;
      if (why === undefined || op === "same") continue;
      const { name } = urnParts(urn ?? "");
      yield {
        severity: "high",
        kind,
        name,
        field: "type",
        urn,
        location,
        message: `${kind.slice(kind.lastIndexOf(":") + 1)} ${name} is not reviewed (${op}): ${why}`,
        details: [`type ${kind}${packageVersion === undefined ? "" : `, version ${packageVersion}`}`],
        packageVersion,
        pins: [op, packageVersion ?? null, inputsDigest ?? null],
        advice: "declare the same with resources of this package, or remove it from this program",
      };
    }
  },
};

const severityOfUnresolved = ({ options }: Facts): Severity => (options.strict ? "high" : "low");

/** References that are taken to be the id of their one source. */
function* findAssumed(facts: Facts): Generator<FindingInput> {
  for (const { op, after } of judgedChanges(facts)) {
    const { paths: judged } = possibleGrants(after);
    const open = (after.candidates ?? []).flatMap(({ paths, keys }) =>
      paths.filter((path) => judged.has(path)).map((path) => ({ path, property: topProperty(path), keys })),
    );
    const one = (after.assumptions ?? []).map(({ key, ...rest }) => ({ ...rest, keys: [key] }));
    const assumptions = [...one, ...open];
    if (assumptions.length === 0 || op === "read") continue;
    const labelOf = (key: string): string => {
      const source = facts.entity(key);
      return source === undefined ? key : labelEntity(source);
    };
    const lines = assumptions.map(
      ({ path, keys }) =>
        `${path} is assumed to be the id of ${keys.length === 1 ? "" : "one of "}${listFirst(keys.map(labelOf), 5)}`,
    );
    yield facts.aboutEntity(after, {
      severity: severityOfUnresolved(facts),
      field: [...new Set(assumptions.map(({ property }) => property))].join(", "),
      message: `${plural(assumptions.length, "reference")} of ${labelEntity(after)} ${assumptions.length === 1 ? "is" : "are"} assumed: ${listFirst(
        assumptions.map(({ path }) => path),
        3,
      )}`,
      details: limitLines(lines),
      advice: "run verify after the update: a preview does not show whether the value is that id",
    });
  }
}

/** Values that were not read and decide nothing about access: X3 reports those that do, and names. */
const unreadHarmless = ({ unread = [] }: Entity): UnreadValue[] =>
  unread.filter(({ path, decidesAccess }) => !decidesAccess && !isName(path));

function* findUnknownValues(facts: Facts): Generator<FindingInput> {
  for (const { op, after, secretsMayHaveChanged } of facts.comparison.changes) {
    if (after === undefined || op === "read" || op === "same") continue;
    for (const values of groupBy(unreadHarmless(after), ({ reason }) => [reason]).values()) {
      const [{ reason } = { reason: "unknown" as const }] = values;
      const paths = listFirst(
        values.map(({ path }) => path),
        3,
      );
      yield facts.aboutEntity(after, {
        severity: severityOfUnresolved(facts),
        field: paths,
        message: `${paths} of ${labelEntity(after)} ${reasonWords(reason)}`,
        advice: INSTEAD[reason],
      });
    }
    if (secretsMayHaveChanged.length > 0) {
      yield facts.aboutEntity(after, {
        severity: severityOfUnresolved(facts),
        field: secretsMayHaveChanged.join(", "),
        message: `${secretsMayHaveChanged.join(", ")} of ${labelEntity(after)} is a secret before and after, so a change of it cannot be seen`,
        advice: "ask the author whether the secret changes",
      });
    }
  }
}

const unresolved: Rule = {
  id: "X2",
  name: "unresolved",
  severities: ["high", "low"],
  when: "high with --strict; otherwise low",
  what: "A reference has no value yet, and is assumed to be the id of the one resource that it depends on. Or it stands in a map, and is one of several new resources: all that it may grant are judged. Or a value that does not decide access is unknown, or a secret may have changed. X3 reports names, and the values that decide access.",
  why: "A preview does not show whether a value is the id of a new resource or another value that the program computes.",
  fix: "Compare the result of the update with the approved report (`verify`), and let the policy pack check the update itself. Or create what others refer to in a separate change.",
  except: "For a lookup whose result is never known in a preview.",
  exampleMatch: { group: "acme / ci*" },
  driftAdvice: "run drift with an inventory of all kinds and with all stacks",
  about: everyKind,
  *find(facts) {
    const findings = [...findAssumed(facts), ...findUnknownValues(facts)];
    yield* findings;
    const lines = facts.comparison.unresolved;
    if (lines.length === 0 || findings.length > 0 || [...findUnjudged(facts)].length > 0) return;
    yield {
      severity: severityOfUnresolved(facts),
      name: "unresolved",
      field: "unresolved",
      message: `${plural(lines.length, "input")} could not be resolved`,
      details: limitLines(lines),
      pins: [...lines],
      advice:
        "give --inventory, and write the preview with --show-sames, or give --before, which contain them",
    };
  },
};

export const exposureRules: readonly Rule[] = [
  exposure,
  unresolved,
  cannotBeJudged,
  notReviewed,
  recordedState,
  lookalike,
];
