import { withCode } from "../../errorCodes/codedError";
import * as pulumi from "./sdk";
import { ADOPT } from "../description";
import type { Ownership, ResourceSpec } from "../description";

/*
 * Finds two resources of one program that would be the same object, and two owners of the same children. Resources of a
 * usual kind cost one look into a map, and their ids are followed only where the program adopts something.
 */

interface Owner {
  readonly kind: string;
  readonly name: string;
  /** The types of its parents, as its URN has them: empty at the top of the stack. */
  readonly parentTypes: string;
}

interface ChildOwner extends Owner {
  readonly owns: Ownership;
}

/** The owners of one parent's children: the one of all, and the first of those that own one. */
interface Owners {
  ownerOfAll?: ChildOwner;
  firstOwnerOfOne?: ChildOwner;
}

/** What the engine's library keeps of an output beside its value; its types leave it out. */
interface OutputParts {
  readonly isKnown?: Promise<boolean>;
  allResources?(): Promise<ReadonlySet<object>>;
}

const isOurs = (resource: object): boolean =>
  "__pulumiType" in resource && String(resource.__pulumiType).startsWith("pulumi-nodejs:dynamic/platform:");

/** What the engine's library keeps of a resource; its types leave it out. */
interface ResourceParts {
  readonly __pulumiType?: string;
  readonly __parentResource?: pulumi.Resource;
}

const STACK_TYPE = "pulumi:pulumi:Stack";

function parentTypesOf(parent: pulumi.Resource | undefined): string {
  const types: string[] = [];
  for (let resource = parent as ResourceParts | undefined; resource !== undefined;) {
    const { __pulumiType: type = "", __parentResource: next } = resource;
    if (type !== STACK_TYPE) types.unshift(type);
    resource = next as ResourceParts | undefined;
  }
  return types.join("$");
}

const isNamesake = (one: Owner, other: Owner): boolean => one.kind === other.kind && one.name === other.name;

/** Two with the same URN are one: a program under test is made many times over, with new objects each time. */
const isSame = (one: Owner, other: Owner): boolean =>
  isNamesake(one, other) && one.parentTypes === other.parentTypes;

function displayName({ kind, name, parentTypes }: Owner, showsParents: boolean): string {
  const parents = parentTypes === "" ? "at the top of the stack" : `below ${parentTypes}`;
  return `${kind} ${JSON.stringify(name)}${showsParents ? ` (${parents})` : ""}`;
}

/** Calls back once the uid behind a value is known; until then, in a preview, with the resource whose id it is. */
function whenKnown(value: unknown, onKnown: (key: unknown) => void): void {
  if (!pulumi.Output.isInstance(value) && !(value instanceof Promise)) return;
  const output: pulumi.Output<unknown> = pulumi.output<unknown>(value);
  output.apply((uid) => {
    if (typeof uid === "string") onKnown(uid);
  });
  const parts = output as unknown as OutputParts;
  void Promise.all([parts.isKnown ?? true, parts.allResources?.() ?? new Set<object>()]).then(
    ([known, resources]) => {
      const [source, ...more] = resources;
      // Another output of the same resource may have another value.
      const isId = source !== undefined && (source as { readonly id?: unknown }).id === value;
      if (!known && isId && more.length === 0 && isOurs(source)) onKnown(source);
    },
    // A failed output fails every resource that uses it.
    () => undefined,
  );
}

/** Errors found after the constructor has returned: they become unhandled rejections, which fail the run. */
class LateErrors {
  private readonly reported = new Set<string>();

  catch(action: () => void): void {
    try {
      action();
    } catch (error) {
      if (!(error instanceof pulumi.RunError)) throw error;
      // An unhandled error is printed with its stack.
      error.stack = error.message;
      if (!this.reported.has(error.message)) void Promise.reject(error);
      this.reported.add(error.message);
    }
  }
}

/** The owners of one kind of children, in one run of a program. */
class ChildOwners {
  /** Keyed by the parent's uid, by the output that will contain it, or by the resource whose uid it will be. */
  private readonly byParent = new Map<unknown, Owners>();
  private followsOutputs = false;
  private readonly errors = new LateErrors();

  add(owner: ChildOwner, parent: unknown): void {
    const isNew = !this.byParent.has(parent);
    this.register(parent, owner);
    if (owner.owns.all && !this.followsOutputs) {
      this.followsOutputs = true;
      for (const known of [...this.byParent.keys()]) this.followOutput(known);
    } else if (isNew && this.followsOutputs) {
      this.followOutput(parent);
    }
  }

  /** An owner of all children conflicts with every other owner at that parent. */
  private register(parent: unknown, owner: ChildOwner): void {
    const owners = this.byParent.get(parent) ?? {};
    this.byParent.set(parent, owners);
    const other = owners.ownerOfAll ?? (owner.owns.all ? owners.firstOwnerOfOne : undefined);
    if (other && !isSame(owner, other)) throw conflict(owner, other);
    if (owner.owns.all) owners.ownerOfAll = owner;
    else owners.firstOwnerOfOne ??= owner;
  }

  private followOutput(parent: unknown): void {
    whenKnown(parent, (key) => {
      const { ownerOfAll, firstOwnerOfOne } = this.byParent.get(parent) ?? {};
      for (const owner of [ownerOfAll, firstOwnerOfOne])
        if (owner) this.errors.catch(() => this.register(key, owner));
    });
  }
}

/** Who is which object of one kind, in one run of a program. */
class ObjectOwners {
  /** Keyed by the uid, by the output that will contain it, or by the resource that it comes from. */
  private readonly byKey = new Map<unknown, Owner>();
  private readonly errors = new LateErrors();

  /** @param named what the two have in common, as in `both name the same parentUid` */
  constructor(private readonly named: string) {}

  /** Registers an owner by a key, and by its value once that is known. */
  add(owner: Owner, key: unknown): void {
    this.register(key, owner);
    whenKnown(key, (known) => this.errors.catch(() => this.register(known, owner)));
  }

  private register(key: unknown, owner: Owner): void {
    const other = this.byKey.get(key);
    if (other && !isSame(owner, other)) {
      const [owning, beside] = [owner, other].map((one) => displayName(one, isNamesake(owner, other)));
      throw new pulumi.RunError(
        withCode(
          `${owning} is the same object as ${beside}: ${this.named}. Two resources must not share one object, since deleting either deletes it: remove one of them`,
          "PP1103",
        ),
      );
    }
    this.byKey.set(key, owner);
  }
}

/** The ids of the resources of one kind. They matter only where the program adopts one. */
class IdOwners {
  private readonly owners = new ObjectOwners("one adopts what the other is");
  private readonly waiting: [Owner, unknown][] = [];
  private hasAdoption = false;

  adopt(owner: Owner, uid: unknown): void {
    this.hasAdoption = true;
    for (const [other, id] of this.waiting.splice(0)) this.owners.add(other, id);
    this.owners.add(owner, uid);
  }

  add(owner: Owner, id: unknown): void {
    if (this.hasAdoption) this.owners.add(owner, id);
    else this.waiting.push([owner, id]);
  }
}

function conflict(owner: ChildOwner, earlier: ChildOwner): pulumi.RunError {
  const [all, beside] = owner.owns.all ? [owner, earlier] : [earlier, owner];
  const [owning, other] = [all, beside].map((one) => displayName(one, isNamesake(all, beside)));
  return new pulumi.RunError(
    withCode(
      `${owning} owns all ${all.owns.children} of its group, but ${other} is for the same group: ${all.owns.advice}`,
      "PP1104",
    ),
  );
}

interface RunOwners {
  readonly children: Map<string, ChildOwners>;
  readonly objects: Map<string, ObjectOwners>;
  readonly ids: Map<string, IdOwners>;
}

/** One process may run several programs, or one program again: owners belong to a run's connection to the engine. */
const runs = new WeakMap<object, RunOwners>();
const NO_RUN = {};

function getOwnersOfRun(): RunOwners {
  const run = pulumi.getMonitor() ?? NO_RUN;
  const known = runs.get(run) ?? { children: new Map(), objects: new Map(), ids: new Map() };
  runs.set(run, known);
  return known;
}

function getOrAdd<T>(map: Map<string, T>, key: string, make: () => T): T {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

type Args = Readonly<Record<string, unknown>>;

/**
 * Takes note of the object that a resource's arguments name, and of the children that it owns.
 *
 * @param resourceParent the parent of the resource in the program, not the group that `args.parentUid` names
 * @throws RunError where another resource of the program is, or owns, the same; later, where only a uid still to come tells
 */
export function recordResource(
  spec: ResourceSpec,
  name: string,
  args: Args,
  resourceParent: pulumi.Resource | undefined,
): void {
  const { owns, kind } = spec;
  const owner = { kind, name, parentTypes: parentTypesOf(resourceParent) };
  const { parentUid } = args;
  const adopted = args[ADOPT];
  if (isGiven(parentUid)) {
    if (owns)
      getOrAdd(getOwnersOfRun().children, owns.children, () => new ChildOwners()).add(
        { ...owner, owns },
        parentUid,
      );
    // Two owners of all children are one object, and get the message about one object.
    if (owns?.all !== true) recordIdentity(spec, owner, parentUid, args);
  }
  if (isGiven(adopted)) idsOf(kind).adopt(owner, adopted);
}

/** Records the id of a resource. @throws RunError where another resource of the program adopts the same object */
export function recordResourceId(
  { kind }: ResourceSpec,
  name: string,
  id: unknown,
  resourceParent: pulumi.Resource | undefined,
): void {
  idsOf(kind).add({ kind, name, parentTypes: parentTypesOf(resourceParent) }, id);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function idsOf(kind: string): IdOwners {
  return getOrAdd(getOwnersOfRun().ids, kind, () => new IdOwners());
}

/** Registers a resource under the values that identify its object, so that a second one with the same values is an error. */
function recordIdentity(spec: ResourceSpec, owner: Owner, parent: unknown, args: Args): void {
  const keys = spec.identifiedBy ?? (spec.sharesParentUid ? ["parentUid"] : []);
  if (keys.length === 0) return;
  const { objects } = getOwnersOfRun();
  const addOwner = (values: readonly unknown[]) =>
    getOrAdd(
      objects,
      `${spec.kind} ${JSON.stringify(values)}`,
      () => new ObjectOwners(`both name the same ${keys.join(" and ")}`),
    ).add(owner, parent);
  const values = keys.filter((key) => key !== "parentUid").map((key) => args[key]);
  if (values.every((value) => typeof value === "string")) addOwner(values);
  else pulumi.all(values).apply((known) => lateErrors.catch(() => addOwner(known)));
}

const lateErrors = new LateErrors();
