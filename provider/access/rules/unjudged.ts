import { urnParts } from "../documents/engineState";
import { isSummary } from "../graph/keys";
import { isName } from "../graph/fieldAccess";
import type { Entity } from "../graph/model";
import type { ResourceChange } from "../review/comparison";
import { shortName } from "../graph/grant";
import type { Grant, GrantChange } from "../graph/grant";
import { reasonWords } from "../graph/unread";
import type { UnreadReason, UnreadValue } from "../graph/unread";
import { limitLines, labelEntity, listFirst } from "./wording";
import { plural } from "../../text/plain";
import type { Facts } from "./facts";
import type { FindingInput } from "./findingInput";
import { everyKind, givesAccess, hasAccessField } from "./kindConditions";
import type { Rule } from "./rule";
import { listGrantsHeld } from "./trustedIdentities";

const INSTEAD: Readonly<Record<UnreadReason, string>> = {
  secret:
    "write it in plain text, or show it with pulumi.unsecret: it is not a secret, and a hidden value cannot be reviewed",
  unknown:
    "apply the resource that it comes from first, in a separate change, so that the preview knows the value",
  unreadable: "write a value of the type that the property has",
};

/** Changes that leave a resource there, whose values a reader must be able to judge. */
function* judgedChanges(facts: Facts): Generator<ResourceChange & { readonly after: Entity }> {
  for (const change of facts.comparison.changes) {
    if (change.after !== undefined && change.op !== "delete") yield { ...change, after: change.after };
  }
}

function unreadOf({ op, after }: ResourceChange & { readonly after: Entity }): UnreadValue[] {
  return (after.unread ?? []).filter(
    ({ path, reason, decidesAccess }) =>
      (decidesAccess || isName(path)) && (reason !== "secret" || op !== "same"),
  );
}

/** A finding for each property of a resource: thousands of labels are one. */
function findUnreadValues(facts: Facts): FindingInput[] {
  const findings: FindingInput[] = [];
  for (const change of judgedChanges(facts)) {
    const groups = new Map<string, UnreadValue[]>();
    for (const value of unreadOf(change)) {
      const key = JSON.stringify([value.property, value.reason]);
      groups.set(key, [...(groups.get(key) ?? []).slice(0, 100), value]);
    }
    for (const [first, ...others] of groups.values()) {
      if (first === undefined) continue;
      const paths = [first, ...others].map(({ path }) => path);
      findings.push(
        facts.aboutEntity(change.after, {
          severity: first.decidesAccess ? "high" : "medium",
          field: others.length === 0 ? first.path : first.property,
          message: `${listFirst(paths, 3)} of ${labelEntity(change.after)} ${reasonWords(first.reason)}: ${
            first.decidesAccess
              ? "the access that it gives cannot be judged"
              : "exceptions and programs choose objects by name"
          }`,
          details: others.length === 0 ? [] : limitLines(paths),
          advice: INSTEAD[first.reason],
        }),
      );
    }
  }
  return findings;
}

/** A finding for each resource of which an update makes values secret: all other rules judge these as they were. */
function findConcealedValues(facts: Facts): FindingInput[] {
  return [...judgedChanges(facts)].flatMap(({ after }) => {
    const { concealed = [] } = after;
    const [first, ...others] = concealed;
    if (first === undefined) return [];
    const paths = concealed.map(({ path }) => path);
    const [are, it] = others.length === 0 ? ["is", "it"] : ["are", "them"];
    const grants = facts.grantsThrough(after.key);
    return [
      facts.aboutEntity(after, {
        severity: first.isUnchanged ? "medium" : "high",
        field: [...new Set(concealed.map(({ property }) => property))].join(", "),
        message: `${listFirst(paths, 3)} of ${labelEntity(after)} ${are} secret now: ${
          first.isUnchanged
            ? `this update does not change ${it}, but no later change can be judged`
            : `whether the update changes ${it} cannot be judged`
        }`,
        details: [
          ...(paths.length > 3 ? limitLines(paths) : []),
          ...(grants.length > 0 ? ["it has:", ...listGrantsHeld(grants)] : []),
        ],
        advice: INSTEAD.secret,
      }),
    ];
  });
}

const INVENTORY = "give --inventory, which describes what the program does not manage";
const OTHER_GROUP =
  "take an inventory of the group above all that this program manages, or refer to a group of your own";

/** A part of a grant that nobody can check. */
interface Doubt {
  readonly field: string;
  readonly message: string;
  readonly advice: string;
}

const nameOfRole = ({ label, name, uid }: Grant["role"]): string => label ?? name ?? uid ?? "a role";

/** A group that the inventory lacks may be anyone's. Without an inventory a program names groups by uid alone. */
function doubtsOfGroup(facts: Facts, { grant: { subject, role, group } }: GrantChange): Doubt[] {
  const entity = facts.entity(group.key);
  const isDescribed = entity === undefined ? group.uid === undefined : entity.assumed !== true;
  if (facts.comparison.inventory === undefined || isDescribed) return [];
  const gains = `${subject.displayName} gains ${nameOfRole(role)} on ${group.path}`;
  const message = `${gains}: the inventory does not contain this group`;
  return [{ field: "group", message, advice: OTHER_GROUP }];
}

/** The role and the identity of a grant that a reader cannot check: nothing but the program, or nothing at all, describes them. */
function doubtsOf(facts: Facts, { grant }: GrantChange): Doubt[] {
  const { subject, role, group } = grant;
  const doubts: Doubt[] = [];
  const [heldRole, holder] = [facts.entity(role.key), facts.entity(subject.key)];
  const what = nameOfRole(role);
  if (isSummary(role.key)) {
    doubts.push({
      field: "role",
      message: `${subject.displayName} gains ${what} on ${group.path}: these are too many to list, so nobody can review them`,
      advice: "let fewer services and tokens share an identity or a directory that has so many grants",
    });
  }
  if (role.uid !== undefined || heldRole !== undefined) {
    if (role.capabilities === undefined) {
      doubts.push({
        field: "role",
        message: `${subject.displayName} gains ${what} on ${group.path}: the capabilities of the role are unknown`,
        advice: INVENTORY,
      });
    } else if (heldRole?.assumed === true) {
      doubts.push({
        field: "role",
        message: `${subject.displayName} gains ${what} on ${group.path}: only the program states the capabilities of the role`,
        advice: INVENTORY,
      });
    }
  }
  if (subject.type === "identity" && (holder === undefined || holder.assumed === true)) {
    doubts.push({
      field: "subject",
      message: `${shortName(subject)} gains ${what} on ${group.path}: ${holder === undefined ? "who may assume the identity is unknown" : "only the program states who may assume the identity"}`,
      advice: INVENTORY,
    });
  }
  return doubts;
}

function findUnknownGrants(facts: Facts): FindingInput[] {
  return facts.comparison.grants
    .filter(({ change }) => change === "gained" || change === "widened")
    .flatMap((change) =>
      [...doubtsOf(facts, change), ...doubtsOfGroup(facts, change)].map((doubt) =>
        facts.aboutGrant(change.grant, { severity: "high", ...doubt }),
      ),
    );
}

/** All that cannot be judged. */
export function findUnjudged(facts: Facts): FindingInput[] {
  return [...findUnreadValues(facts), ...findConcealedValues(facts), ...findUnknownGrants(facts)];
}

export const cannotBeJudged: Rule = {
  id: "X3",
  name: "cannot-be-judged",
  severities: ["high", "medium"],
  when: "medium for a name, and for a value that becomes secret in a resource that the engine calls unchanged; otherwise high",
  what: "A value that decides access, or a name, was not read. It is a secret, has the wrong type, or is unknown before the update and may come from several resources. Or a gained or widened grant names a role or an identity that no input describes, or that only the program describes (`.get` without `--inventory`). Or it is on a group that the given inventory does not contain. Or services and tokens get more than 3,000 grants through an identity or a directory, which the report then sums up. Or a value becomes secret: all other rules judge it as it was. Fields that are always secret, such as a client secret, are not reported. Nor is a value that was secret before, in a resource that the engine calls unchanged.",
  why: "No other rule can check such a value: it could give `owner` to anyone.",
  fix: "Give `--inventory`. Write uids, capabilities, patterns and addresses in plain text. Create what others refer to in a separate change.",
  except:
    "For one resource, after a person has checked the value. An exception cannot tell a hidden value from the next one.",
  exampleMatch: { group: "acme / partners" },
  needsBefore: false,
  driftAdvice: "look at the live object, and restore what its program declares unless one of you changed it",
  about: (kind) => kind === "Group" || givesAccess(kind) || hasAccessField(kind),
  find: findUnjudged,
};

/** "Command migrate". */
function describeChangedResource({ kind, urn }: ResourceChange): string {
  const name = urnParts(urn ?? "").name;
  return `${kind.slice(kind.lastIndexOf(":") + 1)} ${name}`;
}

export const notReviewed: Rule = {
  id: "X4",
  name: "not-reviewed",
  severities: ["high"],
  when: "always",
  what: "The change contains a resource that cannot be reviewed. That is a dynamic resource whose code is in the program, or one with a type of this package but another provider. It is also a kind that this version does not know, or a resource that runs commands. It is every resource and provider of another package too, unless its type is known to be harmless. What it declares about itself is not trusted. Reads and deletes are reported too. An unchanged resource is not: the update does nothing to it. Nor is a component of the program: it only groups resources that are judged one by one. With `--plan`, a new provider of another package is reported also where only functions or components use it.",
  why: "It can do anything that the credentials of the update can do, and the preview shows none of it. Another provider of the same platform changes the same access.",
  fix: "Declare the same with resources of this package. Run commands, and manage other clouds, in a separate pipeline that has its own credentials.",
  except:
    "For a command without a credential of the platform, after a person has read it. The fingerprint covers the arguments that the preview shows, and no secrets. For all resources of a type, name the type and the version of its package under `types` in the policy file.",
  exampleMatch: {},
  needsBefore: false,
  planOnly: true,
  about: everyKind,
  find: ({ comparison }) =>
    comparison.changes.flatMap((change): FindingInput[] => {
      const { notReviewed: why, kind, urn, location, op, packageVersion, inputsDigest } = change;
      if (why === undefined || op === "same") return [];
      return [
        {
          severity: "high",
          kind,
          name: urnParts(urn ?? "").name,
          field: "type",
          ...(urn === undefined ? {} : { urn }),
          ...(location === undefined ? {} : { location }),
          message: `${describeChangedResource(change)} is not reviewed (${op}): ${why}`,
          details: [`type ${kind}${packageVersion === undefined ? "" : `, version ${packageVersion}`}`],
          ...(packageVersion === undefined ? {} : { packageVersion }),
          pins: [op, packageVersion ?? null, inputsDigest ?? null],
          advice: "declare the same with resources of this package, or remove it from this program",
        },
      ];
    }),
};

/** References that are taken to be the id of their one source. */
export function findAssumed(facts: Facts): FindingInput[] {
  const findings: FindingInput[] = [];
  for (const { op, after } of judgedChanges(facts)) {
    const { assumptions = [] } = after;
    if (assumptions.length === 0 || op === "read") continue;
    const lines = assumptions.map(({ path, key }) => {
      const source = facts.entity(key);
      return `${path} is assumed to be the id of ${source === undefined ? key : labelEntity(source)}`;
    });
    findings.push(
      facts.aboutEntity(after, {
        severity: "low",
        field: [...new Set(assumptions.map(({ property }) => property))].join(", "),
        message: `${plural(assumptions.length, "reference")} of ${labelEntity(after)} ${assumptions.length === 1 ? "is" : "are"} assumed: ${listFirst(
          assumptions.map(({ path }) => path),
          3,
        )}`,
        details: limitLines(lines),
        advice: "run verify after the update: a preview does not show whether the value is that id",
      }),
    );
  }
  return findings;
}
