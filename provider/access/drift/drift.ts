import { createHash } from "node:crypto";
import { parentOf } from "../../api/uid";
import type { Json, Props, ResourceSpec } from "../../engine/spec";
import { isObject, isSet } from "../../engine/values";
import { diffInputs } from "../../engine/fieldMask";
import { mergeLive, NORMALIZED } from "../../engine/wire";
import { Directory, keyOf, specOf } from "../directory";
import { urnParts } from "../engineState";
import type { RecordedResource } from "../engineState";
import type { Inventory, InventoryObject } from "../inventory";
import type { Difference, DriftReport, Finding, Severity } from "../report";
import { differenceKinds, driftDirections, SCHEMA_VERSION, severities, toFieldChange } from "../report";
import { countBy } from "../review";
import type { Judgement } from "../review";
import type { StateExport } from "../stateExport";
import { acceptingEntry } from "./accept";
import { adoptingCode, changedCode, deleteCommand, forgetCommand, revertCommand } from "./answers";
import { combineDirections, describeEffects, mayWiden } from "../effects";
import type { Direction, EffectContext, EffectSide, FieldEffect } from "../effects";
import { readingHost } from "../readOnly";
import { listedKinds } from "../takeInventory";
import { organisationsOf } from "./roots";
import { Languages } from "../trust/languages";
import { snapshotApi } from "./snapshot";
import { childrenOf } from "./touched";

/** Which findings decide the exit code. */
export const driftThresholds = ["any", "widened", "unmanaged", "never"] as const;
export type DriftThreshold = (typeof driftThresholds)[number];

/** What is compared. */
export interface DriftRequest {
  /** What each stack records. Without any, `since` is what is compared. */
  readonly states: readonly StateExport[];
  /** The live organisation: one document for each root. */
  readonly inventories: readonly Inventory[];
  /** Older inventories of the same roots: they tell since when. */
  readonly since?: readonly Inventory[];
  readonly failOn: DriftThreshold;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly version: string;
  /** Looks at these uids only: all that was asked for, and nothing else. */
  readonly only?: ReadonlySet<string>;
  /** Who did something to what has a uid, in words. */
  readonly who?: ReadonlyMap<string, string>;
  /** Resources below other groups are out of what was asked for, not missing from it. */
  readonly scoped?: boolean;
  /** What the policy file makes of the findings; `isWhole`: all that there is was looked at. */
  readonly judge?: (findings: readonly Finding[], isWhole: boolean) => Judgement;
}

interface Managed {
  readonly spec: ResourceSpec;
  readonly uid: string;
  readonly resource: RecordedResource;
  /** `project/stack` */
  readonly stack: string;
  /** The stack's own name. */
  readonly stackName: string;
}

const order: Readonly<Record<Direction, Severity>> = {
  widened: "high",
  unknown: "high",
  narrowed: "medium",
  neutral: "low",
};

const directionLines: Readonly<Record<Direction, readonly string[]>> = {
  widened: ["access is widened"],
  unknown: ["whether access is widened cannot be judged"],
  narrowed: ["access is narrowed"],
  neutral: [],
};

function capital(noun: string): string {
  return noun.charAt(0).toUpperCase() + noun.slice(1);
}

/** A value with the live one in place of each that the state hides: what cannot be compared is no drift. */
function replaceHidden(
  recorded: Json | undefined,
  live: Json | undefined,
  hidden: readonly string[],
  path: string,
): Json | undefined {
  if (hidden.includes(path)) return live;
  if (Array.isArray(recorded)) return hidden.some((one) => one.startsWith(`${path}[`)) ? live : recorded;
  return isObject(recorded) ? replaceHiddenIn(recorded, live, hidden, `${path}.`) : recorded;
}

/** Keys may hold any character, so that paths are put together as they were, and never taken apart. */
function replaceHiddenIn(
  recorded: Props,
  live: Json | undefined,
  hidden: readonly string[],
  prefix: string,
): Props {
  const entries = Object.entries(recorded)
    .map(([key, value]): [string, Json | undefined] => {
      const theirs = isObject(live) && Object.hasOwn(live, key) ? live[key] : undefined;
      return [key, replaceHidden(value, theirs, hidden, `${prefix}${key}`)];
    })
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

function without(inputs: Props, key: string): Props {
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => name !== key));
}

/** Whether a secret is one that no answer ever holds. */
function isInputOnly(spec: ResourceSpec, path: string): boolean {
  let fields: ResourceSpec["fields"] = spec.fields;
  for (const step of path.split(".")) {
    const field = Object.hasOwn(fields, step) ? fields[step] : undefined;
    if (field === undefined) return false;
    if (field.inputOnly) return true;
    fields = field.type === "object" ? field.fields : {};
  }
  return false;
}

const isIgnored = (property: string, ignored: readonly string[]): boolean =>
  ignored.some((path) => {
    if (path === "*") return true;
    return property === path || property.startsWith(`${path}.`) || property.startsWith(`${path}[`);
  });

function sideOf({ capabilities }: Directory): EffectSide {
  return { nameOf: (uid) => uid, capabilitiesOf: capabilities };
}

class Comparing {
  private readonly directory: Directory;
  private readonly effects: EffectContext;
  private readonly older: Directory | undefined;
  private readonly asked = new Set<string>();
  private readonly incomplete = new Set<string>();
  private readonly notes = new Set<string>();
  private readonly findings: Finding[] = [];
  private readonly differences: Difference[] = [];
  /** What the states know: managed, read or about to be deleted. */
  private readonly known = new Set<string>();
  /** Groups, or the like, all of whose parts of a kind have one owner. */
  private readonly gathered = new Map<string, Managed>();
  private compared = 0;

  constructor(private readonly request: DriftRequest) {
    this.directory = new Directory(request.inventories);
    this.older = request.since && new Directory(request.since);
    const side = sideOf(this.directory);
    this.effects = { before: side, after: side, languages: new Languages() };
    for (const { asked } of request.inventories) {
      for (const { kind, uid } of asked ?? []) this.asked.add(keyOf(kind, uid));
    }
  }

  async report(): Promise<DriftReport> {
    const { states, inventories, since = [], only } = this.request;
    for (const { refused } of inventories) {
      for (const { kind, scope, code, message } of refused) {
        const at = scope === undefined ? "" : ` at ${this.directory.pathOf(scope)}`;
        this.incomplete.add(`${specOf(kind)?.noun ?? kind}${at}: not looked at: ${code}: ${message}`);
      }
    }
    const managed = this.collect();
    if (states.length > 0) {
      await this.compareStates(managed);
      this.findUnmanaged(({ kind, uid }) => !this.known.has(keyOf(kind, uid)));
    } else if (since.length > 0) {
      this.compareInventories();
    }
    if (this.compared === 0 && only === undefined) {
      this.incomplete.add(
        "nothing was compared: the states hold no resource of this package below the groups that were looked at",
      );
    }
    return this.finish();
  }

  private collect(): Managed[] {
    const managed: Managed[] = [];
    for (const state of this.request.states) {
      const stack = state.stack ?? "an empty stack";
      if (state.pendingOperations > 0) {
        this.notes.add(
          `${stack}: an interrupted update left ${state.pendingOperations} operations open: what they made may be shown as unmanaged; run pulumi refresh`,
        );
      }
      for (const { kind, id } of state.pendingDeletes) {
        if (kind !== undefined && id !== undefined) this.known.add(keyOf(kind, id));
      }
      for (const resource of state.resources) {
        const { kind, id: uid, urn, external } = resource;
        if (kind === undefined || uid === undefined) continue;
        this.known.add(keyOf(kind, uid));
        const spec = specOf(kind);
        if (spec === undefined) {
          this.incomplete.add(`${stack}: ${kind} is no kind that this version knows: ${urn}`);
        } else if (!external) {
          managed.push({ spec, uid, resource, stack, stackName: urnParts(urn).stack });
        }
      }
    }
    return managed;
  }

  private async compareStates(managed: readonly Managed[]): Promise<void> {
    const owners = new Map<string, Managed[]>();
    for (const one of managed) {
      const key = keyOf(one.spec.kind, one.uid);
      owners.set(key, [...(owners.get(key) ?? []), one]);
      const { gathers } = one.spec.listing ?? {};
      if (gathers !== undefined) this.gathered.set(keyOf(gathers, one.uid), one);
    }
    for (const owning of owners.values()) if (owning.length > 1) this.contested(owning);
    for (const one of managed) {
      const owner = this.gathered.get(keyOf(one.spec.kind, parentOf(one.uid) ?? ""));
      if (owner !== undefined) this.contested([one, owner]);
      if (this.isWanted(one.spec, one.uid)) await this.compare(one);
    }
  }

  private isWanted(spec: ResourceSpec, uid: string): boolean {
    const { only } = this.request;
    if (only === undefined || only.has(uid)) return true;
    if (spec.listing?.gathers !== undefined && only.has(`${uid}/`)) return true;
    return only.has(childrenOf(spec.kind, parentOf(uid) ?? ""));
  }

  private covers(inventory: Inventory, uid: string): boolean {
    return uid === inventory.root || uid.startsWith(`${inventory.root}/`);
  }

  /** Whether an object that is not in the inventories is known to be gone; else why not is noted. */
  private isGone({ spec, uid, stack }: Managed): boolean {
    const kind = spec.listing?.gathers ?? spec.kind;
    const inventory = this.request.inventories.find((one) => this.covers(one, uid));
    if (inventory === undefined) {
      const scope = `${stack}: resources below ${uid.split("/")[0] ?? uid} were not looked at: no inventory covers them`;
      if (this.request.scoped) this.notes.add(scope);
      else this.incomplete.add(scope);
      return false;
    }
    // Named by the refusal already.
    if (inventory.refused.some((refused) => refused.kind === kind)) return false;
    if (inventory.kinds.includes(kind) || this.asked.has(keyOf(kind, uid))) return true;
    this.incomplete.add(
      `${spec.noun}: not looked at: the inventory holds no ${kind}: make it with --types +${kind}`,
    );
    return false;
  }

  private async liveOf({ spec, uid, resource }: Managed): Promise<Props | undefined> {
    if (spec.listing?.gathers !== undefined) {
      const group = this.directory.byUid(uid);
      const answer =
        group &&
        (await spec.operations?.get?.(snapshotApi(this.directory), uid, resource.outputs, readingHost));
      return answer && { ...(answer as Props), parentUid: uid };
    }
    const live = this.directory.find(spec.kind, uid)?.inputs;
    return live && (spec.listing?.concerns?.(live, resource.inputs) ?? live);
  }

  private async compare(one: Managed): Promise<void> {
    const { spec, resource } = one;
    const gathers = spec.listing?.gathers;
    // Parts that could not be listed must not look as if they were gone.
    if (gathers !== undefined && !this.isGone(one)) return;
    const live = await this.liveOf(one);
    if (live === undefined) {
      if (!this.isGone(one)) return;
      this.compared += 1;
      this.deleted(one);
      return;
    }
    this.compared += 1;
    // What is never answered is not compared anyway; of a whole it may say which parts are.
    const hidden = resource.hidden.filter((path) => gathers !== undefined || !isInputOnly(spec, path));
    const recorded =
      hidden.length === 0 ? resource.inputs : replaceHiddenIn(resource.inputs, live, hidden, "");
    for (const path of hidden) {
      this.notes.add(
        `${one.stack}: ${path} of ${resource.urn} is a secret in the state, and was not compared`,
      );
    }
    const normalized = resource.outputs[NORMALIZED];
    const olds = normalized === undefined ? recorded : { ...recorded, [NORMALIZED]: normalized };
    const { inputs } = mergeLive(spec, olds, live);
    if (!diffInputs(spec, recorded, inputs).changed) return;
    const changes = describeEffects(spec, recorded, inputs, this.effects).filter(
      ({ path }) => !isIgnored(path, resource.ignoreChanges),
    );
    if (changes.length > 0) this.changed(one, changes, inputs);
  }

  private add(
    kind: Difference["kind"],
    direction: Direction,
    spec: ResourceSpec,
    uid: string,
    more: {
      readonly message: string;
      readonly name: string;
      readonly details?: readonly string[];
      readonly advice?: string;
      readonly resource?: RecordedResource;
      readonly changes?: readonly FieldEffect[];
      readonly when?: string;
      readonly revert?: string;
      readonly adopt?: string;
      readonly severity?: Severity;
    },
  ): void {
    const { changes = [], resource } = more;
    const id = `drift-${kind}`;
    const fields = changes.map(toFieldChange);
    const paths = fields.map(({ path }) => path);
    const identity = [id, spec.kind, uid, resource?.urn ?? "", ...[...paths].sort()];
    const fingerprint = createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 32);
    const details = [
      ...directionLines[direction],
      ...changes.filter(({ reason }) => reason !== "").map(({ path, reason }) => `${path}: ${reason}`),
      ...(more.details ?? []),
    ];
    const finding: Finding = {
      id,
      rule: id,
      severity: more.severity ?? order[direction],
      message: more.message,
      details,
      advice: more.advice,
      kind: spec.kind,
      name: more.name,
      urn: resource?.urn,
      uid,
      location: resource?.location,
      fingerprint,
      drift: { kind, direction, paths },
    };
    this.findings.push(finding);
    const suppress = acceptingEntry(finding, this.request.now);
    const recorded = resource && urnParts(resource.urn);
    this.differences.push({
      kind,
      direction,
      type: spec.kind,
      uid,
      urn: resource?.urn,
      name: more.name,
      stack: recorded && `${recorded.project}/${recorded.stack}`,
      fields,
      actor: this.request.who?.get(uid),
      at: more.when,
      answers: { revert: more.revert, adopt: more.adopt, suppress },
      fingerprint,
    });
  }

  private changed(one: Managed, changes: readonly FieldEffect[], live: Props): void {
    const { spec, uid, resource, stackName } = one;
    const object = this.directory.find(spec.kind, uid);
    const name = this.directory.describe(spec, uid, resource.inputs);
    const properties = changes.map(({ path }) => path);
    const before = this.older?.find(spec.kind, uid);
    this.add("changed", combineDirections(changes.map(({ direction }) => direction)), spec, uid, {
      message: `${capital(spec.noun)} ${name} was changed outside of its program: ${properties.join(", ")}`,
      name,
      resource,
      changes,
      details: [`in stack ${one.stack}`, ...this.sinceWhen(before && object && sameInputs(before, object))],
      advice: "put it back, take the change over into the program, or accept it",
      when: object?.updateTime,
      revert: revertCommand(resource.urn, stackName),
      adopt: changedCode(spec, properties, live),
    });
  }

  private deleted(one: Managed): void {
    const { spec, uid, resource, stackName } = one;
    const name = this.directory.describe(spec, uid, resource.inputs);
    const forget = forgetCommand(resource.urn, stackName);
    this.add("deleted", spec.gives === undefined ? "neutral" : "narrowed", spec, uid, {
      message: `${capital(spec.noun)} ${name} is gone`,
      name,
      resource,
      details: [
        `in stack ${one.stack}`,
        ...(this.older?.find(spec.kind, uid) ? [`it was there at ${this.olderTime()}`] : []),
      ],
      advice: "make it again, or take it out of the program and its state",
      revert: revertCommand(resource.urn, stackName),
      adopt: forget === undefined ? undefined : `# after taking it out of the program:\n${forget}`,
    });
  }

  private contested(owning: readonly Managed[]): void {
    const [first, ...others] = owning;
    if (first === undefined || !this.isWanted(first.spec, first.uid)) return;
    const stacks = [...new Set(owning.map(({ stack }) => stack))];
    const name = this.directory.describe(first.spec, first.uid, first.resource.inputs);
    const commands = others.flatMap(
      ({ resource, stackName }) => forgetCommand(resource.urn, stackName) ?? [],
    );
    this.add("contested", "neutral", first.spec, first.uid, {
      severity: "medium",
      message: `${capital(first.spec.noun)} ${name} is managed ${stacks.length > 1 ? `by ${stacks.length} stacks` : "twice in one stack"}: each undoes what the other does`,
      name,
      resource: first.resource,
      details: owning.map(({ stack, resource }) => `${stack}: ${resource.urn}`),
      advice: "keep it in one program: take it out of the others and out of their states",
      adopt: commands.length === 0 ? undefined : commands.join("\n"),
    });
  }

  /** What is there and nobody's. */
  private findUnmanaged(isNobodys: (object: InventoryObject) => boolean): void {
    for (const object of this.directory.all()) {
      const spec = specOf(object.kind);
      if (spec === undefined || object.builtIn || !isNobodys(object)) continue;
      if (!this.isWanted(spec, object.uid)) continue;
      if (this.gathered.has(keyOf(object.kind, parentOf(object.uid) ?? ""))) continue;
      if (this.isInherent(spec, object)) continue;
      this.unmanaged(spec, object);
    }
  }

  /** The organisation itself, parts that were asked for one by one, and people who signed in, are no one's to declare. */
  private isInherent(spec: ResourceSpec, { uid, inputs }: InventoryObject): boolean {
    if (!spec.sharesParentUid && this.request.inventories.some(({ root }) => root === uid)) return true;
    return (spec.oneOfs ?? []).some(
      ({ members, required }) =>
        required &&
        members.every((member) => {
          const field = spec.fields[member];
          return field === undefined || !isSet(field, inputs[member]);
        }),
    );
  }

  private unmanaged(spec: ResourceSpec, object: InventoryObject): void {
    const { uid, inputs } = object;
    const name = this.directory.describe(spec, uid, inputs);
    const isWider = spec.gives === "always" || (spec.gives === "bound" && this.isBound(uid));
    const older = this.older?.find(object.kind, uid);
    const moved = this.movedFrom(spec, object);
    this.add("unmanaged", isWider ? "widened" : "neutral", spec, uid, {
      message: `${capital(spec.noun)} ${name} is ${this.request.states.length === 0 ? "new" : "in no stack"}`,
      name,
      details: [...moved, ...this.sinceWhen(older !== undefined)],
      advice: "delete it, take it over into a program, or accept it",
      when: object.createTime ?? object.updateTime,
      revert: deleteCommand(spec, uid),
      adopt: adoptingCode(spec, object, this.directory, this.request.now),
    });
  }

  /** The same thing, gone elsewhere: all arguments but the parent are equal. */
  private movedFrom(spec: ResourceSpec, { inputs }: InventoryObject): string[] {
    const gone = this.findings.filter(({ id, kind }) => id === "drift-deleted" && kind === spec.kind);
    if (gone.length === 0) return [];
    const rest = (props: Props) => JSON.stringify(Object.entries(without(props, "parentUid")).sort());
    const mine = rest(inputs);
    return this.request.states
      .flatMap(({ resources }) => resources)
      .filter(
        ({ kind, id, inputs: theirs }) =>
          kind === spec.kind && rest(theirs) === mine && gone.some(({ uid }) => uid === id),
      )
      .map(
        ({ id }) =>
          `the same was at ${this.directory.pathOf(parentOf(id ?? "") ?? "")} and is gone there: it was moved`,
      );
  }

  private isBound(uid: string): boolean {
    for (const { kind, inputs } of this.directory.all()) {
      const fields = specOf(kind)?.fields ?? {};
      const names = Object.entries(fields).some(
        ([key, field]) =>
          !field.path && field.type === "string" && field.format === "uid" && inputs[key] === uid,
      );
      if (names) return true;
    }
    return false;
  }

  private olderTime(): string {
    return this.older?.inventories[0]?.takenAt ?? "";
  }

  private sinceWhen(wasSo: boolean | undefined): string[] {
    if (this.older === undefined || wasSo === undefined) return [];
    return [wasSo ? `it was so at ${this.olderTime()} already` : `it is new since ${this.olderTime()}`];
  }

  /** Two inventories: what changed between them, whoever manages it. */
  private compareInventories(): void {
    const { older } = this;
    if (older === undefined) return;
    const effects = { ...this.effects, before: sideOf(older) };
    const looked = new Set(older.inventories.flatMap(({ kinds }) => kinds));
    for (const kind of looked) {
      if (!this.request.inventories.every(({ kinds }) => kinds.includes(kind))) {
        this.incomplete.add(
          `${specOf(kind)?.noun ?? kind}: not compared: only one of the inventories holds it`,
        );
      }
    }
    for (const object of older.all()) {
      const spec = specOf(object.kind);
      if (spec === undefined || !this.isWanted(spec, object.uid)) continue;
      const now = this.directory.find(object.kind, object.uid);
      const name = this.directory.describe(spec, object.uid, object.inputs);
      if (now === undefined) {
        const holder = this.request.inventories.find((one) => this.covers(one, object.uid));
        const isLooked =
          object.builtIn === undefined &&
          holder?.kinds.includes(object.kind) === true &&
          !holder.refused.some(({ kind }) => kind === object.kind);
        if (!isLooked) continue;
        this.compared += 1;
        this.add("deleted", spec.gives === undefined ? "neutral" : "narrowed", spec, object.uid, {
          message: `${capital(spec.noun)} ${name} is gone`,
          name,
          details: [`it was there at ${this.olderTime()}`],
        });
        continue;
      }
      this.compared += 1;
      const changes = describeEffects(spec, object.inputs, now.inputs, effects);
      if (changes.length === 0) continue;
      this.add("changed", combineDirections(changes.map(({ direction }) => direction)), spec, object.uid, {
        message: `${capital(spec.noun)} ${name} was changed: ${changes.map(({ path }) => path).join(", ")}`,
        name,
        changes,
        details: this.sinceWhen(false),
        when: now.updateTime,
      });
    }
    const wasRefused = new Set(older.inventories.flatMap(({ refused }) => refused.map(({ kind }) => kind)));
    this.findUnmanaged(
      ({ kind, uid }) => looked.has(kind) && !wasRefused.has(kind) && older.find(kind, uid) === undefined,
    );
  }

  /** What was looked at, where that is not the usual kinds of the whole organisations. */
  private scope(): string | undefined {
    const { states, since = [], inventories, only } = this.request;
    if (only !== undefined) return "events";
    const sorted = (texts: Iterable<string>) => [...new Set(texts)].sort(compareTexts);
    const roots = sorted(inventories.map(({ root }) => root)).join(", ");
    const whole = sorted([...organisationsOf(states), ...since.map(({ root }) => root)]).join(", ");
    const extra = sorted(
      inventories.flatMap(({ kinds }) => kinds.filter((kind) => !listedKinds.includes(kind))),
    );
    const missing = listedKinds.filter((kind) => inventories.some(({ kinds }) => !kinds.includes(kind)));
    const parts = [
      ...(roots === whole ? [] : [`below ${roots}`]),
      ...(extra.length === 0 ? [] : [`with ${extra.join(", ")}`]),
      ...(missing.length === 0 ? [] : [`without ${sorted(missing).join(", ")}`]),
    ];
    return parts.length === 0 ? undefined : parts.join("; ");
  }

  /** Sorted as their findings are. */
  private sortDifferences(findings: readonly Finding[]): Difference[] {
    const ranks = new Map(findings.map(({ fingerprint }, index) => [fingerprint, index]));
    const rank = ({ fingerprint }: Difference): number => ranks.get(fingerprint) ?? 0;
    return [...this.differences].sort((a, b) => rank(a) - rank(b));
  }

  private finish(): DriftReport {
    const { failOn, states, judge, version, only, scoped, now } = this.request;
    const sorted = this.findings.sort(
      (a, b) =>
        severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
        compareTexts(a.id, b.id) ||
        compareTexts(a.kind ?? "", b.kind ?? "") ||
        compareTexts(a.name ?? "", b.name ?? "") ||
        compareTexts(a.uid ?? "", b.uid ?? "") ||
        compareTexts(a.urn ?? "", b.urn ?? ""),
    );
    const isWhole = this.incomplete.size === 0 && only === undefined && scoped !== true;
    const judged = judge?.(sorted, isWhole);
    const { findings, suppressed } = judged ?? { findings: sorted, suppressed: [] };
    const differences = this.sortDifferences(sorted);
    return {
      schemaVersion: SCHEMA_VERSION,
      tool: { name: "pulumi-platform", version },
      command: "drift",
      stacks: [...new Set(states.flatMap(({ stack }) => stack ?? []))].sort(compareTexts),
      scope: this.scope(),
      complete: this.incomplete.size === 0,
      incomplete: [...this.incomplete].sort(compareTexts),
      failOn,
      failing: findings.filter((finding) => reaches(finding, failOn)).length,
      summary: {
        compared: this.compared,
        differences: countBy(differences, differenceKinds, ({ kind }) => kind),
        directions: countBy(differences, driftDirections, ({ direction }) => direction),
        ...{ gained: 0, lost: 0, widened: 0, narrowed: 0 },
        findings: countBy(findings, severities, ({ severity }) => severity),
        suppressed: suppressed.length,
      },
      differences,
      grants: [],
      groups: [],
      findings,
      suppressed,
      unresolved: [...this.notes].sort(compareTexts),
      policy: { unused: judged?.unused ?? [], expired: judged?.expired ?? [] },
      provenance: { time: new Date(now).toISOString(), package: version },
    };
  }
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function sameInputs(one: InventoryObject, other: InventoryObject): boolean {
  const text = ({ inputs }: InventoryObject) =>
    JSON.stringify(Object.entries(inputs).sort(([a], [b]) => compareTexts(a, b)));
  return text(one) === text(other);
}

function reaches({ drift }: Finding, failOn: DriftThreshold): boolean {
  switch (failOn) {
    case "any":
      return true;
    case "widened":
      return drift !== undefined && mayWiden(drift.direction);
    case "unmanaged":
      return drift?.kind === "unmanaged";
    case "never":
      return false;
  }
}

/**
 * Compares what stacks record with the live organisation: what was changed, what is gone, what is in no
 * stack, and what is in two. Pure but for its arguments. An object has changed only if the provider's own
 * diff of the recorded arguments and the live ones says so.
 */
export function findDrift(request: DriftRequest): Promise<DriftReport> {
  return new Comparing(request).report();
}
