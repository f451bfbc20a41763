import type { FieldSpec } from "../../fields/fieldSpec";
import { sortedJson } from "../../fields/formats";
import { aggregatedKind, createOnlyOutputs } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { capitalize, isObject, SECRET_MASK, ownMember } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { memberPath } from "../../fields/walk";
import { listFirst, quoteWord } from "../../text/plain";
import { inputsOfProgram } from "../../fields/refreshed";
import { isUid, parentOf } from "../../text/uid";
import { declareObject } from "../adopt/state";
import { CallExpression, VariableReference, printKey, printStatement, printProperty } from "../adopt/code";
import { resourceName } from "../adopt/program";
import type { PlainSecrets, RecordedResource } from "../documents/engineState";
import type { InventoryObject } from "../documents/inventory";
import { combineDirections } from "../effects";
import type { FieldEffect } from "../effects";
import { bindingKeys } from "../graph/accessKinds";
import { fieldsWhere } from "../graph/describedFields";
import type { Directory } from "../graph/directory";
import { entityOfObject } from "../graph/entities";
import {
  topProperty,
  isReference,
  leavesIn,
  mapLeaves,
  isPathWithin,
  createIgnoredCheck,
} from "../graph/inputLeaves";
import type { Leaf } from "../graph/inputLeaves";
import { isUnread, unreadAt } from "../graph/unread";
import { KEEP_IN_ONE_PROGRAM } from "../rules/wording";
import type { DetectedDifference, ManagedResource, DriftNotes } from "./stateComparison";

/** Quotes a word for a shell; undefined where a command line cannot contain it: half a surrogate pair is no UTF-8. */
export function quoteShellWord(text: string): string | undefined {
  return /[\p{Cc}\p{Cs}]/u.test(text) ? undefined : quoteWord(text);
}

/** The commands that answer a difference of a resource: `revert` restores what its program declares. */
const stackCommands = {
  revert: "pulumi up --refresh --target",
  // Makes the object anew: no argument of its program differs.
  replace: "pulumi up --target-replace",
  // Takes what the server holds into the state.
  refresh: "pulumi refresh --target",
  // Takes a deleted resource out of the state.
  forget: "pulumi state delete",
} as const;

/**
 * A command about a resource of a stack; undefined where a command line cannot contain its names, and where an asterisk in the
 * resource's stands for others: `--target` takes patterns.
 */
export function stackCommand(
  what: keyof typeof stackCommands,
  urn: string,
  stack: string,
  ...others: readonly string[]
): string | undefined {
  const name = quoteShellWord(stack);
  const words = [urn, ...others].flatMap((each) => (each.includes("*") ? [] : (quoteShellWord(each) ?? [])));
  return name === undefined || words.length <= others.length
    ? undefined
    : `${stackCommands[what]} ${words.join(" --target ")} --stack ${name}`;
}

/** How what a program declares is restored. A restore records what the program ignores, and changes nothing of it. */
function restorationOf({ resource, stackName }: ManagedResource, paths: readonly string[]) {
  const ignored = paths.filter(createIgnoredCheck(resource.ignoreChanges));
  return ignored.length > 0
    ? {
        advice: `take ${listFirst(ignored, 3)} out of ignoreChanges, and run pulumi up --refresh; or copy the change into the program`,
        revert: undefined,
      }
    : {
        advice: "restore it, copy the change into the program, or suppress it",
        revert: stackCommand("revert", resource.urn, stackName),
      };
}

/** The commands that take resources out of their states; undefined where no command line can name one. */
function forgetCommands(resources: readonly ManagedResource[]): string | undefined {
  const commands = resources.flatMap(
    ({ resource, stackName }) => stackCommand("forget", resource.urn, stackName) ?? [],
  );
  return commands.length === 0
    ? undefined
    : ["# after removing it from the program:", ...commands].join("\n");
}

/** How an object is deleted that no single request deletes safely; undefined where one does. */
function describeDeletion({ operations, deletion }: ResourceSpec): string | undefined {
  if (operations?.delete !== undefined) return "delete it by hand (no single request does)";
  if (deletion?.dependents === undefined) return undefined;
  return `delete it by hand (look first for ${deletion.dependents.map(({ noun }) => noun).join(", ")})`;
}

/** The command that deletes an object that no stack manages. */
function deleteCommand(spec: ResourceSpec, uid: string): string | undefined {
  const { collection } = spec;
  if (describeDeletion(spec) !== undefined || !isUid(uid)) return undefined;
  return `curl -fX DELETE -H "Authorization: Bearer $PLATFORM_TOKEN" \\\n  "$PLATFORM_BASE_URL${collection}/${uid}"`;
}

const MAX_LABEL_LENGTH = 100;

/**
 * Replaces the reserved keys of a map, which a program must not use. A GroupAccess has them as labels of bindings that no
 * program declares: each gets a plain label.
 */
function replaceReservedKeys(field: FieldSpec | undefined, value: Json): Json {
  if (field?.type !== "map" || field.reservedKeys === undefined || !isObject(value)) return value;
  const { regex } = field.reservedKeys;
  const labels = new Set(Object.keys(value).filter((key) => !regex.test(key)));
  const entries = Object.entries(value).map(([key, member]): [string, Json | undefined] => {
    if (!regex.test(key)) return [key, member];
    const base = key.replace(regex, "").trim().slice(0, MAX_LABEL_LENGTH) || "binding";
    let label = base;
    for (let i = 2; labels.has(label); i += 1) label = `${base.slice(0, MAX_LABEL_LENGTH - 6)} (${i})`;
    labels.add(label);
    return [label, member];
  });
  return Object.fromEntries(entries);
}

/** The arguments with which a program takes over a change; a secret comes from where the program reads it. */
export function changedArgumentsCode(
  spec: ResourceSpec,
  properties: readonly string[],
  live: Props,
  isSecret: (argument: string) => boolean = () => false,
): string {
  const keys = [...new Set(properties.map(topProperty))];
  return keys
    .map((key) => {
      if (isSecret(key)) return `// ${key} is a secret: change it where the program reads it from`;
      const value = ownMember(live, key);
      if (value === undefined || value === null) return `// without ${printKey(key)}`;
      return printProperty(key, replaceReservedKeys(spec.fields[key], value), 0);
    })
    .join("\n");
}

/** The declaration that adopts an object as it is; undefined where a program cannot declare it. */
export function adoptionCode(
  spec: ResourceSpec,
  object: InventoryObject,
  directory: Directory,
  now: number,
): string | undefined {
  const declared = declareObject(spec, object, now);
  if ("reason" in declared || declared.secretPaths.length > 0) return undefined;
  const name = resourceName(spec, object, directory);
  const adoption = new CallExpression(new VariableReference("adopt"), [object.uid, declared.inputs]);
  return printStatement(new CallExpression(new VariableReference(spec.kind), [name, adoption], true));
}

/** What shows that an object has not changed: what only the server sets, such as an end, too. */
const contentOf = ({ inputs, details = {} }: InventoryObject): string => sortedJson([inputs, details]);

interface UnmanagedObject {
  readonly givesAccess: boolean;
  readonly isNew: boolean;
  /** Whether it may be older than all that the stacks manage, and so may have been there before the first program. */
  readonly mayBeOlder: boolean;
  /** What becomes of it by the next update of the stack that has given it up. */
  readonly pending: string | undefined;
  /** The resource that owns all others of its kind at its group, and leaves this one alone. */
  readonly owner: ManagedResource | undefined;
}

/** Describes each difference in words, with the commands and code that resolve it. */
export class DifferenceDescriber {
  constructor(
    private readonly directory: Directory,
    private readonly older: Directory | undefined,
    private readonly now: number,
  ) {}

  /** When the older inventory of an object was taken. */
  private olderTime(uid: string): string {
    return this.older?.inventoryOf(uid)?.takenAt ?? "";
  }

  /** That an older inventory contains an object. */
  private existence(kind: string, uid: string): string[] {
    return this.older?.find(kind, uid) ? [`it existed at ${this.olderTime(uid)}`] : [];
  }

  /** When an object was created, as far as an older inventory shows. */
  private creationTime({ kind, uid }: InventoryObject): string[] {
    const existed = this.existence(kind, uid);
    if (existed.length > 0 || this.older?.lists(kind, uid) !== true) return existed;
    return [`it was created after ${this.olderTime(uid)}`];
  }

  /** When an object changed, as far as an older inventory shows. */
  private changeTime(kind: string, uid: string, now: InventoryObject | undefined): string[] {
    const older = this.older?.find(kind, uid);
    if (older === undefined || now === undefined) return [];
    const time = this.olderTime(uid);
    return [contentOf(older) === contentOf(now) ? `it was the same at ${time}` : `it changed after ${time}`];
  }

  /** What every difference says of its object. */
  private about(spec: ResourceSpec, uid: string, inputs: Props) {
    return { spec, uid, name: this.directory.describe(spec, uid, inputs), fields: [] };
  }

  /** @param managed the resource of the object; without one it is compared with an older inventory. */
  describeChanged(
    spec: ResourceSpec,
    uid: string,
    changes: readonly FieldEffect[],
    sides: { before: Props; after: Props },
    managed?: ManagedResource,
  ): DetectedDifference {
    const object = this.directory.find(spec.kind, uid);
    const about = this.about(spec, uid, managed?.resource.inputs ?? sides.before);
    const changed = {
      ...about,
      what: "changed",
      direction: combineDirections(changes.map(({ direction }) => direction)),
      fields: changes,
      ...sides,
    } as const;
    const [noun, properties] = [capitalize(spec.noun), changes.map(({ path }) => path).join(", ")];
    const details = this.changeTime(spec.kind, uid, object);
    if (managed === undefined) {
      const message = `${noun} ${about.name} was changed: ${properties}`;
      return { ...changed, message, details, at: object?.updateTime };
    }
    const { resource, stack, stackName } = managed;
    const isSecret = isSecretArgument(resource);
    const paths = changes.map(({ path }) => path).filter((path) => !Object.hasOwn(spec.outputs ?? {}, path));
    const answers =
      paths.length === 0
        ? {
            advice: "make it anew, accept it by a refresh of the state, or suppress it",
            revert: stackCommand("replace", resource.urn, stackName),
            adopt: stackCommand("refresh", resource.urn, stackName),
          }
        : {
            ...restorationOf(managed, paths),
            adopt: changedArgumentsCode(spec, paths, sides.after, isSecret),
          };
    return {
      ...changed,
      message: `${noun} ${about.name} was changed outside of its program: ${properties}`,
      ...answers,
      details: [`in stack ${stack}`, ...details],
      managed,
      at: object?.updateTime ?? this.lastBound(managed, sides),
    };
  }

  /** When the newest binding was made of those that a group has and its program does not give. */
  private lastBound({ spec, uid }: ManagedResource, { before, after }: { before: Props; after: Props }) {
    const kind = aggregatedKind(spec);
    if (kind === undefined) return undefined;
    const keysOf = (object: InventoryObject): string[] => bindingKeys(entityOfObject(object));
    const declared = new Set(keysOf({ kind: spec.kind, uid, inputs: before }));
    const more = new Set(keysOf({ kind: spec.kind, uid, inputs: after }).filter((key) => !declared.has(key)));
    return [...this.directory.all()]
      .filter((object) => object.kind === kind && parentOf(object.uid) === uid)
      .filter((object) => keysOf(object).some((key) => more.has(key)))
      .flatMap(({ createTime }) => createTime ?? [])
      .sort((a, b) => Date.parse(b) - Date.parse(a))[0];
  }

  /** @param managed the resource of which the object is gone; without one it is gone since an older inventory. */
  describeDeleted(
    spec: ResourceSpec,
    uid: string,
    before: Props,
    managed?: ManagedResource,
  ): DetectedDifference {
    const about = this.about(spec, uid, managed?.resource.inputs ?? before);
    const deleted = {
      ...about,
      what: "deleted",
      direction: spec.grantsAccess === undefined ? "neutral" : "narrowed",
      before,
    } as const;
    const existed = this.existence(spec.kind, uid);
    const message = `${capitalize(spec.noun)} ${about.name} was deleted`;
    if (managed === undefined) return { ...deleted, message, details: existed };
    const { resource, stack, stackName } = managed;
    return {
      ...deleted,
      message: `${message} outside of its program`,
      advice: "create it again, or remove it from the program and its state",
      details: [`in stack ${stack}`, ...existed],
      managed,
      revert: stackCommand("revert", resource.urn, stackName),
      adopt: forgetCommands([managed]),
    };
  }

  describeConflict(owners: readonly [ManagedResource, ...ManagedResource[]]): DetectedDifference {
    const [first, ...others] = owners;
    const { spec, uid, resource } = first;
    const count = new Set(owners.map(({ stack }) => stack)).size;
    const about = this.about(spec, uid, resource.inputs);
    const who = count > 1 ? `by ${count} stacks` : "twice in one stack";
    return {
      ...about,
      what: "contested",
      direction: "neutral",
      message: `${capitalize(spec.noun)} ${about.name} is managed ${who}: each update undoes the other`,
      advice: KEEP_IN_ONE_PROGRAM,
      details: owners.map((owner) => `${owner.stack}: ${owner.resource.urn}`),
      managed: first,
      adopt: forgetCommands(others),
    };
  }

  /** @param givesAccess whether the object grants access by itself. */
  describeUnmanaged(
    spec: ResourceSpec,
    object: InventoryObject,
    { givesAccess, isNew, mayBeOlder, pending, owner }: UnmanagedObject,
  ): DetectedDifference {
    const { uid, inputs } = object;
    const about = this.about(spec, uid, inputs);
    const deletion = describeDeletion(spec) ?? "delete it";
    const adoption = createOnlyOutputs(spec).length > 0 ? "" : "adopt it into a program, ";
    const ways = mayBeOlder
      ? `${adoption}suppress it, or ${deletion}`
      : `${deletion}, ${adoption}or suppress it`;
    const elsewhere = isNew ? "" : "; if another stack manages it, compare that one too";
    return {
      ...about,
      what: "unmanaged",
      direction: givesAccess ? "widened" : "neutral",
      message: `${capitalize(spec.noun)} ${about.name} is ${isNew ? "new" : "not managed by any stack"}`,
      advice:
        pending !== undefined
          ? `finish the update of that stack, or ${deletion}`
          : owner === undefined
            ? `${ways}${elsewhere}`
            : `${deletion}, declare it there, or suppress it`,
      details: [
        ...(pending === undefined ? [] : [pending]),
        ...(owner === undefined ? [] : [`${owner.stack}: ${owner.resource.urn} ignores it`]),
        ...(mayBeOlder ? ["it may have been there before all that these stacks manage"] : []),
        ...this.creationTime(object),
      ],
      after: inputs,
      mayBeOlder,
      at: object.createTime ?? object.updateTime,
      revert: mayBeOlder ? undefined : deleteCommand(spec, uid),
      ...(owner === undefined &&
        pending === undefined && { adopt: adoptionCode(spec, object, this.directory, this.now) }),
    };
  }
}

/** Replaces each secret by its plain text, or else by the live value: what cannot be compared is no drift. */
function reveal(
  value: Json | undefined,
  live: Json | undefined,
  path: string,
  secrets: Secrets,
): Json | undefined {
  if (secrets.paths.has(path)) return secrets.plaintext?.has(path) ? secrets.plaintext.get(path) : live;
  if (Array.isArray(value)) {
    const isComparable = [...secrets.paths].every(
      (secret) => !secret.startsWith(`${path}[`) || secrets.plaintext?.has(secret),
    );
    if (!isComparable) return live;
    return value.map((item, i) => reveal(item, undefined, `${path}[${i}]`, secrets) ?? null);
  }
  return isObject(value) ? revealMembers(value, live, path, secrets) : value;
}

interface Secrets {
  readonly paths: ReadonlySet<string>;
  readonly plaintext: PlainSecrets | undefined;
}

/** Reveals the secrets inside of an object. */
function revealMembers(recorded: Props, live: Json | undefined, path: string, secrets: Secrets): Props {
  const entries = Object.entries(recorded)
    .map(([key, value]): [string, Json | undefined] => {
      const liveValue = isObject(live) ? ownMember(live, key) : undefined;
      return [key, reveal(value, liveValue, memberPath(path, key), secrets)];
    })
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** What is sent and never returned. */
const unreturned = fieldsWhere(({ inputOnly }) => inputOnly === true);

/** The secrets that responses contain too. The response of a collection shows which of its members it lacks. */
function comparableLeaves({ spec, resource }: ManagedResource, given: Props): Leaf[] {
  const isCollection = aggregatedKind(spec) !== undefined;
  const isReturned = (path: string): boolean =>
    !unreturned(spec.kind).some((field) => isPathWithin(path, field.path));
  const paths = new Set(resource.secretPaths.filter((path) => isCollection || isReturned(path)));
  return paths.size === 0
    ? []
    : leavesIn(spec, given).filter(({ path, value }) => paths.has(path) && !isUnread(value));
}

/** The recorded arguments to compare with live ones. Notes each secret that is not compared. */
export function recordedArguments(managed: ManagedResource, live: Props, notes: DriftNotes): Props {
  const { resource, stack } = managed;
  const given = inputsOfProgram(managed.spec, resource.inputs, resource.outputs, (path) =>
    unreadAt("refreshed", { urn: resource.urn, side: "before", path }),
  );
  const leaves = comparableLeaves(managed, given);
  if (leaves.length === 0) return given;
  for (const { path, decidesAccess } of leaves) {
    if (resource.secrets?.has(path)) continue;
    const line = `${stack}: ${path} of ${resource.urn} is a secret in the state, and was not compared`;
    if (decidesAccess)
      notes.incomplete.add(`${line}, though it decides access: use --stack, which reads the secrets`);
    else notes.unresolved.add(line);
  }
  const secrets = { paths: new Set(leaves.map(({ path }) => path)), plaintext: resource.secrets };
  return revealMembers(given, live, "", secrets);
}

/** The recorded arguments with the plain text of each secret that is known. */
export function revealedArguments({ inputs, secretPaths, secrets: plain }: RecordedResource): Props {
  const known = new Set(secretPaths.filter((path) => plain?.has(path)));
  return known.size === 0 ? inputs : revealMembers(inputs, undefined, "", { paths: known, plaintext: plain });
}

/** Masks the secrets of arguments and returns their paths; references stay, since they only name objects. */
export function maskSecrets(
  managed: ManagedResource,
  inputs: Props,
): { inputs: Props; secretPaths: readonly string[] } {
  const { spec, resource } = managed;
  const secret = resource.secretPaths;
  if (secret.length === 0) return { inputs, secretPaths: [] };
  const secretPaths: string[] = [];
  const masked = mapLeaves(spec, inputs, (value, leaf) => {
    const { path } = leaf;
    const isSecret = secret.some((outer) => isPathWithin(path, outer));
    if (!isSecret || isReference(leaf) || value === undefined) return value;
    secretPaths.push(path);
    return SECRET_MASK;
  });
  return { inputs: masked, secretPaths };
}

/** Whether an argument of a resource is a secret, or contains one. */
export function isSecretArgument({ secretPaths }: RecordedResource): (argument: string) => boolean {
  return (argument) => secretPaths.some((path) => isPathWithin(path, argument));
}
