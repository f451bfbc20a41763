import { withCode } from "../errors/codedError";
import * as pulumi from "./sdk";
import type { ResourceSpec } from "../fields/resourceSpec";
import { ADOPT } from "../fields/values";

/*
 * Finds two resources of one program that would be the same object, and two owners of the same children, where the program
 * shows it: by a uid as text, or by the same output. The provider's process refuses the others, see owners.ts.
 */

interface Owner {
  readonly kind: string;
  readonly name: string;
  /** The types of its parents, as its URN has them: empty at the top of the stack. */
  readonly parentTypes: string;
}

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

/** The owners of one run, by the key of what they own. */
type Owners = Map<string, Owner>;

/** One process may run several programs, or one program again: owners belong to a run's connection to the engine. */
const runs = new WeakMap<object, Owners>();
const NO_RUN = {};

function getOwnersOfRun(): Owners {
  const run = pulumi.getMonitor() ?? NO_RUN;
  const owners: Owners = runs.get(run) ?? new Map<string, Owner>();
  runs.set(run, owners);
  return owners;
}

const outputs = new WeakMap<object, number>();
let countedOutputs = 0;

/** The same text for the same uid, and for the same output. */
function tokenOf(value: unknown): string {
  if (value === null || typeof value !== "object") return `${typeof value} ${String(value)}`;
  const number = outputs.get(value) ?? (countedOutputs += 1);
  outputs.set(value, number);
  return `output ${number}`;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

/** The other owner of what a key names, if it has one. */
function findOther(key: string, owner: Owner): Owner | undefined {
  const other = getOwnersOfRun().get(key);
  return other === undefined || isSame(owner, other) ? undefined : other;
}

function claimObject(key: string, owner: Owner, named: string): void {
  const other = findOther(key, owner);
  if (other !== undefined) {
    const [owning, beside] = [owner, other].map((one) => displayName(one, isNamesake(owner, other)));
    throw new pulumi.RunError(
      withCode(
        `${owning} is the same object as ${beside}: ${named}. Two resources must not share one object, since deleting either deletes it: remove one of them`,
        "PP1103",
      ),
    );
  }
  getOwnersOfRun().set(key, owner);
}

/** An owner of all children conflicts with every other owner at that parent. */
function claimChildren({ owns }: ResourceSpec, owner: Owner, parent: string): void {
  if (owns === undefined) return;
  const key = (which: string) => `${which} ${owns.kind} below ${parent}`;
  const other = findOther(key("all"), owner) ?? (owns.all ? findOther(key("one"), owner) : undefined);
  if (other !== undefined) {
    const [all, beside] = owns.all ? [owner, other] : [other, owner];
    const [owning, besideName] = [all, beside].map((one) => displayName(one, isNamesake(all, beside)));
    throw new pulumi.RunError(
      withCode(
        `${owning} owns all ${owns.children} of its group, but ${besideName} is for the same group: ${owns.advice}`,
        "PP1104",
      ),
    );
  }
  getOwnersOfRun().set(key(owns.all ? "all" : "one"), owner);
}

const ADOPTED = "one adopts what the other is";

/**
 * Takes note of the object that a resource's arguments name, and of the children that it owns.
 *
 * @param resourceParent the parent of the resource in the program, not the group that `args.parentUid` names
 * @throws RunError where another resource of the program is, or owns, the same
 */
export function recordResource(
  spec: ResourceSpec,
  name: string,
  args: Readonly<Record<string, unknown>>,
  resourceParent: pulumi.Resource | undefined,
): void {
  const { owns, kind, identifiedBy, sharesParentUid } = spec;
  const owner = { kind, name, parentTypes: parentTypesOf(resourceParent) };
  if (isGiven(args["parentUid"])) {
    claimChildren(spec, owner, tokenOf(args["parentUid"]));
    // Two owners of all children are one object, and get the message about them.
    const keys = owns?.all ? [] : (identifiedBy ?? (sharesParentUid ? ["parentUid"] : []));
    if (keys.length > 0) {
      const values = keys.map((key) => tokenOf(args[key]));
      claimObject(`${kind} of ${values.join()}`, owner, `both name the same ${keys.join(" and ")}`);
    }
  }
  if (isGiven(args[ADOPT])) claimObject(`${kind} ${tokenOf(args[ADOPT])}`, owner, ADOPTED);
}

/** Records the id of a resource. @throws RunError where another resource of the program adopts the same object */
export function recordResourceId(
  { kind }: ResourceSpec,
  name: string,
  id: unknown,
  resourceParent: pulumi.Resource | undefined,
): void {
  claimObject(`${kind} ${tokenOf(id)}`, { kind, name, parentTypes: parentTypesOf(resourceParent) }, ADOPTED);
}
