import * as pulumi from "@pulumi/pulumi";
import type { Ownership, ResourceSpec } from "./spec";

/*
 * Finds two owners of the same children in one program. Only a program that holds an owner of all pays for it:
 * for every other resource it is one look into a map.
 */

interface Owner {
  readonly kind: string;
  readonly name: string;
  /** The types of its parents, as its URN has them: empty at the top of the stack. */
  readonly parentTypes: string;
  readonly owns: Ownership;
}

/** The owners of one parent's children: the one of all, and the first of those that own one. */
interface Owners {
  all?: Owner;
  one?: Owner;
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

/** The owners of one kind of children, in one run of a program. */
class Owning {
  /** By the parent's uid, by the output that will tell it, or by the resource whose uid it will be. */
  private readonly byParent = new Map<unknown, Owners>();
  private followsOutputs = false;
  private readonly told = new Set<string>();

  add(owner: Owner, parent: unknown): void {
    const isNew = !this.byParent.has(parent);
    this.join(parent, owner);
    if (owner.owns.all && !this.followsOutputs) {
      this.followsOutputs = true;
      for (const known of [...this.byParent.keys()]) this.follow(known);
    } else if (isNew && this.followsOutputs) {
      this.follow(parent);
    }
  }

  private join(parent: unknown, owner: Owner): void {
    const owners = this.byParent.get(parent) ?? {};
    this.byParent.set(parent, owners);
    const other = owners.all ?? (owner.owns.all ? owners.one : undefined);
    if (other && !isSame(owner, other)) throw conflict(owner, other);
    if (owner.owns.all) owners.all = owner;
    else owners.one ??= owner;
  }

  /** The same once the uid is known; until then by the only resource that it can come from. */
  private follow(parent: unknown): void {
    if (!pulumi.Output.isInstance(parent) && !(parent instanceof Promise)) return;
    const output: pulumi.Output<unknown> = pulumi.output<unknown>(parent);
    output.apply((uid) => {
      if (typeof uid === "string") this.joinAs(uid, parent);
    });
    const parts = output as unknown as OutputParts;
    void Promise.all([parts.isKnown ?? true, parts.allResources?.() ?? new Set<object>()]).then(
      ([known, resources]) => {
        const [source, ...more] = resources;
        if (!known && source !== undefined && more.length === 0 && isOurs(source))
          this.joinAs(source, parent);
      },
      // A failed output fails whoever takes it.
      () => undefined,
    );
  }

  /** Nobody waits for this, so what is wrong goes where all goes that nobody caught: that fails the run. */
  private joinAs(key: unknown, parent: unknown): void {
    const { all, one } = this.byParent.get(parent) ?? {};
    for (const owner of [all, one]) {
      try {
        if (owner) this.join(key, owner);
      } catch (error) {
        if (!(error instanceof pulumi.RunError)) throw error;
        // What nobody caught is printed by its stack.
        error.stack = error.message;
        if (!this.told.has(error.message)) void Promise.reject(error);
        this.told.add(error.message);
      }
    }
  }
}

function conflict(owner: Owner, earlier: Owner): pulumi.RunError {
  const [all, beside] = owner.owns.all ? [owner, earlier] : [earlier, owner];
  const [owning, other] = [all, beside].map((one) => displayName(one, isNamesake(all, beside)));
  return new pulumi.RunError(
    `${owning} owns all ${all.owns.of} of its group, but ${other} is for the same group: ${all.owns.advice}`,
  );
}

/** One process may run several programs, or one program again: owners belong to a run's connection to the engine. */
const runs = new WeakMap<object, Map<string, Owning>>();
const NO_RUN = {};

/**
 * Takes note that a resource owns children of a parent.
 *
 * @param parent the group, by its uid; not the parent of the resource in the program, which is `resourceParent`.
 * @throws RunError where another resource of the program owns them; later, where only a uid still to come tells.
 */
export function claim(
  spec: ResourceSpec,
  name: string,
  parent: unknown,
  resourceParent: pulumi.Resource | undefined,
): void {
  const { owns, kind } = spec;
  if (owns === undefined || parent === undefined || parent === null || parent === "") return;
  const run = pulumi.runtime.getMonitor() ?? NO_RUN;
  const ofRun = runs.get(run) ?? new Map<string, Owning>();
  runs.set(run, ofRun);
  const owning = ofRun.get(owns.of) ?? new Owning();
  ofRun.set(owns.of, owning);
  owning.add({ kind, name, parentTypes: parentTypesOf(resourceParent), owns }, parent);
}
