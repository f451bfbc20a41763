import { identifyingInputs, identityKey } from "../../fields/resourceSpec";
import { ADOPT, containsUnknown, groupBy } from "../../fields/values";
import { isUid, rootOf } from "../../text/uid";
import { isDefaultProvider, providerUrn } from "../documents/engineState";
import type { RecordedResource } from "../documents/engineState";
import { labelOfUrn } from "../documents/jsonText";
import { specs } from "../documents/specs";
import { bindingKeys, bindsRoles } from "./accessKinds";
import { recordedUid, toEntity } from "./entities";
import type { JoinedStep } from "./graphBuilder";

/*
 * Where nobody can say what a change leaves at the server: the engine deletes in an order that no preview shows, and each of its
 * processes knows only what it manages itself. Each function returns a line for each such place, which makes a review
 * incomplete.
 */

/** Whether the engine asks the provider to delete the object of a resource, if no other one keeps it. */
export const removesObject = ({ op, before }: JoinedStep): boolean =>
  (op === "delete" || op === "replace") && before?.external === false && !before.retainOnDelete;

/**
 * What the engine deletes or leaves with another resource, by the order of the two: no preview shows it where one of them is
 * replaced.
 */
export function findReplacedOwners(own: readonly JoinedStep[], steps: readonly JoinedStep[]): string[] {
  const read = new Set(steps.flatMap(({ urn, op }) => (op === "read" ? [urn] : [])));
  const gone = new Map(
    steps.flatMap((step): [string, JoinedStep][] =>
      // The state has the name that an alias leads to.
      step.op === "replace" || step.op === "delete"
        ? [step.urn, step.before?.urn ?? step.urn].map((urn) => [urn, step])
        : [],
    ),
  );
  const isReplaced = ({ op, urn }: JoinedStep): boolean => op === "replace" || read.has(urn);
  return own.flatMap((step) => {
    const owner = gone.get(step.before?.deletedWith ?? "");
    if (owner?.before === undefined || step.before === undefined || !removesObject(step)) return [];
    if (![step, owner].some(isReplaced)) return [];
    const name = labelOfUrn(step.before.urn);
    return `${name} is to be deleted with ${labelOfUrn(owner.before.urn)}, and one of the two is replaced: nobody can say whether the object of ${name} stays; delete it in an update of its own, without deletedWith`;
  });
}

/** The process that manages a resource: each provider has its own, also those that the engine makes for another form or version. */
const processOf = ({ provider }: RecordedResource): string => providerUrn(provider);

/** The organisation that an object is in, where that is known before the update. */
function organisationOf({ id, inputs }: RecordedResource): string | undefined {
  const uid = id ?? inputs["parentUid"];
  return typeof uid === "string" && isUid(uid) ? rootOf(uid) : undefined;
}

/** Whether two resources of one organisation are managed by processes of which neither knows what the other one manages. */
function isOfOtherProcess(one: RecordedResource, other: RecordedResource): boolean {
  const [root, otherRoot] = [organisationOf(one), organisationOf(other)];
  const isApart = root !== undefined && otherRoot !== undefined && root !== otherRoot;
  return !isApart && processOf(one) !== processOf(other);
}

/**
 * What an object is known by to those who delete it: its uid, the arguments that name it, and what it grants. Undefined where
 * some of that is not known before the update.
 */
function namesOf(resource: RecordedResource): readonly string[] | undefined {
  const { kind = "", inputs, importId } = resource;
  const spec = specs[kind];
  if (spec === undefined) return [];
  const naming = [
    ...identifyingInputs(spec),
    ...(bindsRoles(kind) ? ["bindings", "identityUid", "roleUid"] : []),
  ];
  if (naming.some((key) => containsUnknown(inputs[key]) || resource.secretPaths.includes(key)))
    return undefined;
  const uids = [recordedUid(resource), inputs[ADOPT], importId].flatMap((uid) =>
    typeof uid === "string" ? [`${kind} ${uid}`] : [],
  );
  const named = identityKey(spec, inputs);
  const entity = toEntity({ ...resource, kind }, { key: "", uid: undefined, side: "after" });
  return [...uids, ...(named === undefined ? [] : [named]), ...bindingKeys(entity)];
}

/**
 * Begins where all resources had one process: the package has several forms, and the engine a process for each of them and for
 * each version. One that the program declares is a finding of its own (X4).
 */
export function findSecondProcess(own: readonly JoinedStep[]): string[] {
  const isOfDefault = ({ provider = "" }: RecordedResource): boolean =>
    provider === "" || isDefaultProvider(providerUrn(provider));
  const [before, after] = (["before", "after"] as const).map((side) =>
    own.flatMap((step) => {
      const resource = step[side];
      return resource === undefined || resource.external || !isOfDefault(resource) ? [] : [resource];
    }),
  );
  const findPair = (resources: readonly RecordedResource[] = []) => {
    // A program has few processes, and a resource of each stands for its others.
    const samples = [
      ...groupBy(resources, (one) => [`${processOf(one)} ${organisationOf(one) ?? ""}`]).values(),
    ].flatMap(([first]) => first ?? []);
    return samples.flatMap((one) => {
      const other = samples.find((each) => isOfOtherProcess(one, each));
      return other === undefined ? [] : [[one, other] as const];
    })[0];
  };
  const pair = findPair(before) === undefined ? findPair(after) : undefined;
  if (pair === undefined) return [];
  const [one, other] = pair.map(({ urn }) => labelOfUrn(urn));
  return [
    `${one ?? ""} and ${other ?? ""} get processes of their own, of another form or version of the package: neither knows what the other one manages; write all resources in one form, and with no option version`,
  ];
}

/** What one process deletes, and another one may have taken over: the first does not know that. */
export function findTakenByOthers(own: readonly JoinedStep[]): string[] {
  const sides = own.flatMap(({ before, after }) => [before, after].filter((side) => side !== undefined));
  if (new Set(sides.map(processOf)).size < 2) return [];
  const managed = own.flatMap(({ after }) => (after === undefined || after.external ? [] : [after]));
  const byName = groupBy(managed, (resource) => namesOf(resource) ?? [`unknown ${resource.kind ?? ""}`]);
  const takerOf = (resource: RecordedResource): RecordedResource | undefined => {
    const names = namesOf(resource);
    const kinds = bindsRoles(resource.kind ?? "") ? ["RoleBinding", "GroupAccess"] : [resource.kind ?? ""];
    const keys = [...(names ?? []), ...kinds.map((kind) => `unknown ${kind}`)];
    const candidates = names === undefined ? managed : keys.flatMap((name) => byName.get(name) ?? []);
    return candidates.find((other) => isOfOtherProcess(resource, other));
  };
  return own.flatMap(({ before, ...step }) => {
    const taker = before === undefined || !removesObject({ ...step, before }) ? undefined : takerOf(before);
    return before === undefined || taker === undefined
      ? []
      : `${labelOfUrn(before.urn)} is deleted, and ${labelOfUrn(taker.urn)} of another provider may be the same object, which would be deleted too; change the provider of the resources first, and delete in an update after that`;
  });
}

/** Owners of the children of one parent, of which one owns all: the program refuses them, but not those of two processes. */
export function findSecondOwners(own: readonly JoinedStep[]): string[] {
  const managed = own.flatMap(({ op, after }) =>
    after === undefined || after.external || op === "delete" || op === "read" ? [] : [after],
  );
  const groups = groupBy(managed, ({ kind = "", inputs: { parentUid } }) => {
    const owned = specs[kind]?.owns?.kind;
    return typeof parentUid === "string" && isUid(parentUid) && owned !== undefined
      ? [`${owned} ${parentUid}`]
      : [];
  });
  return [...groups.values()].flatMap((owners) => {
    const all = owners.find(({ kind = "" }) => specs[kind]?.owns?.all === true);
    const other = owners.find((one) => one !== all);
    return all === undefined || other === undefined
      ? []
      : `${labelOfUrn(all.urn)} owns all ${specs[all.kind ?? ""]?.owns?.children ?? "children"} of a group that ${labelOfUrn(other.urn)} is for too: the update of one deletes what the other one declares; remove one of them`;
  });
}
