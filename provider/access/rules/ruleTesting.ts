import type { Inventory, InventoryObject } from "../documents/inventory";
import { listedKinds } from "../documents/inventory";
import { parsePreview } from "../documents/preview";
import type { Preview } from "../documents/preview";
import { specs } from "../documents/specs";
import { referredKindOf } from "../../fields/fieldSpec";
import { mapReferences } from "../graph/inputLeaves";
import { compare } from "../review/compare";
import type { Finding } from "../review/finding";
import { UNKNOWN } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { suggest } from "../../text/suggestions";
import { isUid, parentOf } from "../../text/uid";
import { defaultRuleOptions, findingsOf } from ".";
import { RulesError, toRules } from "./ownRules";
import { sha256 } from "../documents/digest";
import type { RuleDefinition } from "./ownRules";

/*
 * Writes the documents of a change as the CLI writes them, without the members that no review reads: for tests of rules, which
 * so need neither an engine nor a server.
 */

export const urn = (kind: string, name: string): string =>
  `urn:pulumi:production::acme::pulumi-nodejs:dynamic/platform:${kind}::${name}`;

export interface StateOptions {
  readonly id?: string;
  readonly dependencies?: Record<string, string[]>;
  /** Further members of the state: `external`, `retainOnDelete`, `type`, … */
  readonly [flag: string]: unknown;
}

/** The text by which the engine finds the code of a kind, written out: it is in every state that was ever made. */
const textOf = (kind: string): string => `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`;

/** One resource of a state. */
export function state(
  kind: string,
  name: string,
  inputs: Props,
  { id, dependencies, ...rest }: StateOptions = {},
) {
  return {
    urn: urn(kind, name),
    type: `pulumi-nodejs:dynamic/platform:${kind}`,
    id,
    inputs: { __provider: textOf(kind), ...inputs },
    propertyDependencies: dependencies,
    ...rest,
  };
}

export type DescribedState = ReturnType<typeof state>;

export const step = (op: string, before?: DescribedState, after?: DescribedState) => ({
  op,
  urn: (after ?? before)?.urn,
  oldState: before,
  newState: after,
});

/** A digest that counts its own steps. */
export function preview(...steps: { op: string }[]): Preview {
  const summary = new Map<string, number>();
  for (const { op } of steps) {
    if (!["read", "refresh", "discard"].includes(op)) summary.set(op, (summary.get(op) ?? 0) + 1);
  }
  return parsePreview(JSON.stringify({ steps, changeSummary: Object.fromEntries(summary) }));
}

/** A complete inventory of these objects. */
export function inventoryOf(root: string, ...objects: InventoryObject[]): Inventory {
  return {
    schemaVersion: 1,
    root,
    takenAt: "2026-05-30T00:00:00Z",
    complete: true,
    refused: [],
    kinds: [],
    objects,
  };
}

/** A resource of a change. Other resources refer to it by its uid, also before it has one. */
export interface DescribedResource {
  readonly kind: string;
  readonly uid: string;
  readonly urn: string;
  readonly inputs: Props;
  /** The program does not manage it: only the inventory knows it. */
  readonly external?: true;
  /** The program reads it with `.get`, and the inventory does not have it. */
  readonly isRead?: true;
  readonly builtIn?: true;
  readonly lastSeenTime?: string;
  readonly protect?: true;
  /** What the server adds to the inputs. */
  readonly outputs?: Props;
  /** A line of the program, in the form in which the engine names it. */
  readonly sourcePosition?: string;
}

/** The last part of a uid, which differs for each resource. */
export const lastPartOf = (...parts: readonly unknown[]): string =>
  sha256(JSON.stringify(parts)).slice(0, 16);

/** The state of a resource, with each reference to what has no uid yet replaced as a preview does, and what it refers to. */
function stateOf(
  resource: DescribedResource,
  managed: ReadonlyMap<string, DescribedResource>,
  isUnknown: (uid: string) => boolean = () => false,
): DescribedState {
  const { kind, uid: id, urn: own, inputs, outputs, protect, isRead, sourcePosition } = resource;
  const dependencies: Record<string, string[]> = {};
  const resolved = mapReferences(specs[kind], inputs, (value, { property }) => {
    const referred = typeof value === "string" ? managed.get(value) : undefined;
    if (typeof value !== "string" || referred === undefined) return value;
    (dependencies[property] ??= []).push(referred.urn);
    return isUnknown(value) ? UNKNOWN : value;
  });
  const name = own.slice(own.lastIndexOf("::") + 2);
  const flags = { urn: own, outputs: { ...resolved, ...outputs }, protect, external: isRead, sourcePosition };
  const known = isUnknown(keyOf(resource)) ? {} : { id };
  return state(kind, name, resolved, { ...known, dependencies, ...flags });
}

/** The uid of a resource. One that has the uid of its parent is not what others refer to by that. */
const keyOf = ({ kind, uid }: DescribedResource): string =>
  specs[kind]?.sharesParentUid === true ? `${kind} of ${uid}` : uid;

const byKey = (resources: readonly DescribedResource[]): Map<string, DescribedResource> =>
  new Map(resources.map((each) => [keyOf(each), each]));

/**
 * The steps of the change from one list of resources to the other.
 *
 * @param replaced what is made again.
 */
export function stepsOf(
  before: readonly DescribedResource[],
  after: readonly DescribedResource[],
  replaced: readonly DescribedResource[] = [],
) {
  const isInProgram = (each: DescribedResource): boolean => each.external !== true || each.isRead === true;
  const [old, now] = [byKey(before.filter(isInProgram)), byKey(after.filter(isInProgram))];
  const isUnknown = (uid: string): boolean => !old.has(uid) || replaced.some((each) => keyOf(each) === uid);
  return [...new Set([...now.keys(), ...old.keys()])].map((own) => {
    const [was, is] = [old.get(own), now.get(own)];
    const oldState = was && stateOf(was, old);
    if (is === undefined) return step("delete", oldState);
    const newState = stateOf(is, now, isUnknown);
    if (oldState === undefined) return step("create", undefined, newState);
    const isSame = JSON.stringify(oldState.inputs) === JSON.stringify(newState.inputs);
    return step(isUnknown(own) ? "replace" : isSame ? "same" : "update", oldState, newState);
  });
}

/** A complete inventory of these resources, with the kinds that are listed. */
export const listResources = (root: string, resources: readonly DescribedResource[]): Inventory => ({
  ...inventoryOf(root, ...resources.flatMap(liveObjects).map(objectOf)),
  kinds: listedKinds,
});

/** What the server has of a resource: the bindings of one that owns all of them. */
function liveObjects(each: DescribedResource): DescribedResource[] {
  if (each.isRead === true) return [];
  if (each.kind !== "GroupAccess") return [each];
  const { parentUid, bindings } = each.inputs;
  return Object.values(bindings as Record<string, Props>).map((grant) => ({
    ...each,
    kind: "RoleBinding",
    uid: `${parentUid as string}/${lastPartOf("RoleBinding", parentUid, grant)}`,
    inputs: { parentUid, ...grant },
  }));
}

/** The resource as the server holds it. */
export function objectOf({ kind, uid, inputs, builtIn, lastSeenTime }: DescribedResource): InventoryObject {
  return { kind, uid, inputs, builtIn, lastSeenTime };
}

/** A resource as the test of a rule writes it: `{ kind: "RoleBinding", parentUid: "prod", identityUid: "ci", roleUid: "editor" }`. */
export interface ProgramResource {
  /** `RoleBinding`. */
  readonly kind: string;
  readonly name?: string;
  /** A role of the platform's own, which no program manages. */
  readonly builtIn?: boolean;
  /** The arguments. A reference is the name of another resource of the list, or a uid. */
  readonly [argument: string]: Json | undefined;
}

/** Gives each resource of a list its uid, and each reference the uid of what it names. */
class ProgramReader {
  private readonly uids = new Map<ProgramResource, string>();

  constructor(
    private readonly resources: readonly ProgramResource[],
    private readonly listName: string,
    /** The resources before the change: one that is there after it too keeps its uid. */
    before: readonly DescribedResource[] = [],
  ) {
    const uids = new Map(before.map((each) => [each.urn, each.uid]));
    for (const each of resources) {
      const uid = uids.get(urn(each.kind, labelOf(each)));
      if (uid !== undefined) this.uids.set(each, uid);
    }
  }

  read(): DescribedResource[] {
    const described = this.resources.map((each): DescribedResource => {
      const { kind, builtIn } = each;
      const inputs = this.inputsOf(each);
      const external = builtIn === true ? ({ builtIn, external: true } as const) : {};
      return { kind, uid: this.uidOf(each), urn: urn(kind, labelOf(each)), inputs, ...external };
    });
    const twice = described.find(
      ({ uid, kind }, i) => described.findIndex((each) => each.uid === uid && each.kind === kind) !== i,
    );
    if (twice !== undefined)
      throw new RulesError(`${this.listName} has ${twice.kind} ${twice.urn.split("::").at(-1) ?? ""} twice`);
    return described;
  }

  private fail(resource: ProgramResource, problem: string): never {
    throw new RulesError(`${this.listName}[${this.resources.indexOf(resource)}]: ${problem}`);
  }

  private specOf(resource: ProgramResource) {
    const { kind } = resource;
    const spec = specs[kind];
    if (spec !== undefined) return spec;
    return this.fail(resource, `there is no kind ${kind}${suggest(kind, Object.keys(specs))}`);
  }

  private inputsOf(resource: ProgramResource): Props {
    const spec = this.specOf(resource);
    const { kind } = resource;
    const given = Object.entries(resource).filter(([key]) => key !== "kind" && key !== "builtIn");
    const inputs: Props = Object.fromEntries(given);
    const unknown = Object.keys(inputs).find((key) => !Object.hasOwn(spec.fields, key));
    if (unknown !== undefined) {
      const hint = suggest(unknown, Object.keys(spec.fields));
      this.fail(resource, `${kind} has no argument ${unknown}${hint}`);
    }
    return mapReferences(spec, inputs, (value, leaf) => {
      if (typeof value !== "string") return value;
      const name = value;
      if (isUid(value)) return value;
      const wanted = referredKindOf(leaf.field);
      const named = this.resources.filter(
        (each) => each.name === name && (wanted ?? each.kind) === each.kind,
      );
      const [only] = named;
      if (only !== undefined && named.length === 1) return this.uidOf(only);
      const what = `${wanted ?? "resource"} named ${name}`;
      return this.fail(
        resource,
        only === undefined
          ? `${leaf.path}: the list has no ${what}: add it${wanted === "Role" ? `, as in { kind: "Role", name: "${name}", builtIn: true, capabilities: [] }` : ""}`
          : `${leaf.path}: the list has more than one ${what}: give them different names`,
      );
    });
  }

  /** A uid lies below that of the parent, as at the server, and is the same in both lists of a change. */
  private uidOf(resource: ProgramResource): string {
    const known = this.uids.get(resource);
    if (known !== undefined) return known;
    const { kind, parentUid } = resource;
    // The uid of a top group or of a built-in role has 40 digits.
    const top = lastPartOf(kind, labelOf(resource)).padEnd(40, "0");
    this.uids.set(resource, top);
    const parent =
      resource.builtIn === true || parentUid === undefined ? undefined : this.inputsOf(resource)["parentUid"];
    const own = lastPartOf(kind, labelOf(resource));
    const uid =
      typeof parent !== "string" ? top : this.specOf(resource).sharesParentUid ? parent : `${parent}/${own}`;
    this.uids.set(resource, uid);
    return uid;
  }
}

/** What a resource is called in its list: what has no name is told by what it refers to. */
const labelOf = ({ kind, name, ...given }: ProgramResource): string =>
  name ?? [kind, ...Object.values(given).filter((value) => typeof value === "string")].join("-");

/** What is made again: an argument changes that no update can change, or names what is made again. */
function findReplaced(
  before: readonly DescribedResource[],
  after: readonly DescribedResource[],
): readonly DescribedResource[] {
  const old = new Map(before.map((each) => [each.urn, each.inputs]));
  const replaced = new Set<DescribedResource>();
  for (let size = -1; size < replaced.size;) {
    size = replaced.size;
    const uids = new Set<Json | undefined>([...replaced].map(({ uid }) => uid));
    for (const each of after) {
      const inputs = old.get(each.urn);
      const isReplaced = Object.entries(specs[each.kind]?.fields ?? {}).some(([key, field]) => {
        const value = each.inputs[key];
        const isSame = JSON.stringify(inputs?.[key]) === JSON.stringify(value) && !uids.has(value);
        return field.immutable === true && !isSame;
      });
      if (inputs !== undefined && isReplaced) replaced.add(each);
    }
  }
  return [...replaced];
}

/**
 * Reviews a change for the test of a rule: of what a program declares before it, and after it. All of `before` is what the
 * server has too. What the change creates has no uid yet, as in a real preview.
 *
 * @param rules the definitions, as a file of rules exports them.
 * @returns the findings of these rules.
 * @throws RulesError where a rule fails, and where a list is wrong.
 */
export function reviewOf(
  before: readonly ProgramResource[],
  after: readonly ProgramResource[],
  rules: readonly RuleDefinition[],
): Finding[] {
  const asked = toRules(rules, "the given rules", {
    onFailure: (message, cause) => {
      throw new RulesError(message, { cause });
    },
  });
  const old = new ProgramReader(before, "before").read();
  const now = new ProgramReader(after, "after", old).read();
  const replaced = findReplaced(old, now);
  const root = [...old, ...now].find(({ kind, uid }) => kind === "Group" && parentOf(uid) === undefined);
  if (root === undefined)
    throw new RulesError('the lists have no group without a parent: add { kind: "Group", name: "acme" }');
  const { takenAt } = inventoryOf(root.uid);
  const sources = {
    preview: preview(...stepsOf(old, now, replaced)),
    inventory: listResources(root.uid, old),
  };
  return findingsOf(compare(sources), defaultRuleOptions(Date.parse(takenAt)), asked);
}
