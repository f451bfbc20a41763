import { CodedError, errorCodeOf, withCode } from "./errors/codedError";
import { dirname, join } from "node:path";
import { PolicyPack } from "@pulumi/policy";
import type {
  Policies,
  PolicyResource,
  ResourceValidationArgs,
  ResourceValidationPolicy,
  StackValidationPolicy,
} from "@pulumi/policy";
import { compare } from "./access/review/compare";
import { pluginOfInputs } from "./access/documents/engineState";
import type { RecordedResource } from "./access/documents/engineState";
import type { Inventory, InventoryObject } from "./access/documents/inventory";
import { describeStaleness, listsObject, parseInventory } from "./access/documents/inventory";
import { parseReviewReport } from "./access/report/report";
import { ApprovedAccess } from "./access/verify/approved";
import { applyPolicy } from "./access/suppressions/applyPolicy";
import { readRegularFile, readTextFile } from "./text/files";
import { limitsOf, parsePolicy } from "./access/suppressions/policyDocument";
import type { Policy } from "./access/suppressions/policyDocument";
import { isReference, mapLeaves } from "./access/graph/inputLeaves";
import { referredKindOf } from "./fields/fieldSpec";
import { specs } from "./access/documents/specs";
import { parseType } from "./program/resource";
import { pluginOfProvider, whyNotReviewed, parseKind } from "./access/documents/reviewable";
import type { Plugin } from "./access/documents/reviewable";
import type { Leaf } from "./access/graph/inputLeaves";
import type { PreviewStep } from "./access/documents/preview";
import type { Finding } from "./access/review/finding";
import { isHighOrCritical } from "./access/review/finding";
import { terminal, terminalLine } from "./access/report/render/escape";
import { defaultRuleOptions, findingsOf, findRule, rules } from "./access/rules";
import { loadRules, RulesError } from "./access/rules/ownRules";
import { findOptionProblem } from "./access/rules/ruleOptions";
import { whyNotInPolicyPack } from "./access/rules/rule";
import type { Rule, RuleOptions } from "./access/rules";
import { canonical, equal } from "./fields/equal";
import { containsUnknown, groupBy, isObject, isUnknown, once, UNKNOWN } from "./fields/values";
import type { Json, Props } from "./fields/values";
import { readObject } from "./inventory/takeInventory";
import { readEnvironment } from "./settings/environment";
import { createClient, readSettings } from "./settings/settings";
import { tryParseJson } from "./text/plain";
import { suggest } from "./text/suggestions";
import { isUid, parentOf } from "./text/uid";

const enforcements = ["advisory", "mandatory", "disabled"] as const;

/** What happens where a rule finds something: the engine's words. */
export type Enforcement = (typeof enforcements)[number];

/** How the rules of the access review are used as policies. */
export interface AccessPolicyArgs {
  /** The guards of the rules: issuers and hosts that are allowed, and so on. `now` is the time of the run if not given. */
  readonly options?: Partial<RuleOptions>;
  /**
   * The path of an inventory (`pulumi-platform inventory`), at most three days old. Without one the capabilities of roles
   * outside of the program are not known, built-in ones included: such a grant is reported by X3 only, which stops nothing.
   */
  readonly inventory?: string;
  /**
   * The path of a policy file (`access-policy.yaml`): what it suppresses is not reported, `settings` are limits that `options`
   * win over, and `forbid` and `separate` are judged where there is an inventory.
   */
  readonly policyFile?: string;
  /** The path of a file of rules of your own, in the place of those that the policy file names. */
  readonly rules?: string;
  /**
   * The path of an approved report (`review --inventory … --output json=FILE`). Each argument that may matter must be what it
   * announces, or the update stops before the request. `digest` is needed with it. Objects that the update makes are read with
   * the connection of the update.
   */
  readonly approved?: string;
  /** The digest of the approved report, from a place that the author of the change cannot write to: 64 hex digits. */
  readonly digest?: string;
  /**
   * What happens for a rule, by its id or name. If not given: findings that are critical or high stop the update,
   * others are advisory.
   */
  readonly enforcement?: Readonly<Record<string, Enforcement>>;
}

/** The rules that a policy pack can run. */
export const policyRules: readonly Rule[] = rules.filter((rule) => whyNotInPolicyPack(rule) === undefined);

/** Reads a value of the policy SDK, whose objects throw where a part is not known. */
function plain(read: () => unknown): Json {
  let value: unknown;
  try {
    value = read();
  } catch {
    return UNKNOWN;
  }
  if (Array.isArray(value)) {
    return Array.from({ length: value.length }, (_, i) => plain(() => (value as unknown[])[i]));
  }
  if (value !== null && typeof value === "object") {
    const object = value as Record<string, unknown>;
    return Object.fromEntries(Object.keys(object).map((key) => [key, plain(() => object[key])]));
  }
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

/** A resource in the stack that a policy judges: one of this package, or one that cannot be reviewed. */
interface StackResource {
  readonly resource: PolicyResource;
  readonly kind: string;
  readonly inputs: Props;
  readonly outputs: Props;
  /** Why the resource cannot be reviewed, so that its properties are not trusted. */
  readonly notReviewed?: string;
  readonly plugin?: Plugin | undefined;
}

/** The plugin of a resource of another package; undefined for a component. */
function pluginOf({ type, props, provider }: PolicyResource): Plugin | undefined {
  if (type.startsWith("pulumi:providers:")) return pluginOfInputs(plain(() => props));
  if (provider === undefined) return undefined;
  const plugin = pluginOfProvider(provider.type, provider.name);
  return plugin.version === undefined
    ? { ...pluginOfInputs(plain(() => provider.props)), ...plugin }
    : plugin;
}

/** The text by which the engine finds the code of a dynamic resource. */
function providerTexts({ props }: PolicyResource): unknown[] {
  const found = plain(() => props["__provider"]);
  return found === null ? [] : [found];
}

/** A resource before its request: the engine does not tell yet what it depends on. */
const withoutDependencies = (resource: ResourceValidationArgs): PolicyResource => ({
  ...resource,
  dependencies: [],
  propertyDependencies: {},
});

function toStackResources(resource: PolicyResource): StackResource[] {
  const { type } = resource;
  const kind = parseKind(type);
  const fields = kind === undefined ? undefined : specs[kind]?.fields;
  if (kind === undefined || fields === undefined) {
    const plugin = pluginOf(resource);
    const notReviewed = whyNotReviewed(type, providerTexts(resource), plugin);
    return notReviewed === undefined
      ? []
      : [{ resource, kind: type, inputs: {}, outputs: {}, notReviewed, plugin }];
  }
  const outputs = plain(() => resource.props) as Props;
  const inputs = Object.fromEntries(Object.entries(outputs).filter(([key]) => Object.hasOwn(fields, key)));
  const texts = providerTexts(resource);
  // A pack may get a dynamic resource without its text.
  const isKnown = texts.length > 0 || parseType(type)?.form === "native";
  const notReviewed = isKnown ? whyNotReviewed(type, texts, pluginOf(resource)) : undefined;
  return [{ resource, kind, inputs, outputs, notReviewed }];
}

interface Reference {
  readonly leaf: Leaf;
  readonly value: Json | undefined;
}

function references({ kind, inputs }: StackResource): Reference[] {
  const spec = specs[kind];
  const found: Reference[] = [];
  if (spec === undefined) return found;
  mapLeaves(spec, inputs, (value, leaf) => {
    if (isReference(leaf)) found.push({ leaf, value });
    return value;
  });
  return found;
}

/** The resource that a property comes from, where it can be one only. */
function sourceOf({ resource }: StackResource, leaf: Leaf): PolicyResource | undefined {
  const wanted = referredKindOf(leaf.field);
  const all = resource.propertyDependencies[leaf.property] ?? [];
  const candidates = all.filter(({ type }) => {
    const kind = parseKind(type);
    return kind !== undefined && (wanted === undefined || kind === wanted);
  });
  return leaf.path === leaf.property && all.length === 1 ? candidates[0] : undefined;
}

/** What tells a resource from others of its kind: its place and its name, or all that it declares where the kind has no names. */
function distinctionOf(kind: string, inputs: Props): string | undefined {
  const { parentUid, name } = inputs;
  const fields = specs[kind]?.fields ?? {};
  if (!Object.hasOwn(fields, "name") && !containsUnknown(inputs)) {
    const values = Object.entries(fields).map(([key, field]) => canonical(field, inputs[key]) ?? null);
    return JSON.stringify([kind, ...values]);
  }
  return typeof name === "string" && !isUnknown(name) && !isUnknown(parentUid)
    ? JSON.stringify([kind, parentUid ?? "", name])
    : undefined;
}

const placeOf = ({ kind, inputs }: StackResource): string =>
  JSON.stringify([kind, inputs["parentUid"] ?? ""]);

/** By key, where only one has it. */
function onlyOnes<T>(all: Iterable<T>, keyOf: (each: T) => string | undefined): Map<string, T> {
  const found = new Map<string, T | undefined>();
  for (const each of all) {
    const key = keyOf(each);
    if (key !== undefined) found.set(key, found.has(key) ? undefined : each);
  }
  return new Map([...found].flatMap(([key, each]) => (each === undefined ? [] : [[key, each] as const])));
}

/** A reference whose value the program says is the uid of a resource: it depends on that one alone. */
interface Claim {
  readonly source: StackResource;
  readonly uid: string;
}

/**
 * The uids of a stack's resources. A policy gets none, and a program can compute any value from the id of a resource: that a
 * value depends on a resource does not make it that resource's uid.
 */
class StackUids {
  /** By URN, where nothing that the pack knows speaks against it. */
  readonly consistent: ReadonlyMap<string, string>;
  /** By URN, as the dependencies say, also where the inventory has another name for the object. */
  readonly declared: ReadonlyMap<string, string>;
  private readonly byUrn: ReadonlyMap<string, StackResource>;
  private readonly held: ReadonlyMap<string, InventoryObject>;
  /** The objects of the inventory, by the URN of the one resource that has their place and name, or all of their arguments. */
  private readonly recorded: ReadonlyMap<string, InventoryObject>;
  private readonly unrecorded: ReadonlyMap<string, StackResource>;

  constructor(
    private readonly resources: readonly StackResource[],
    private readonly inventory: Inventory | undefined,
  ) {
    this.byUrn = new Map(resources.map((each) => [each.resource.urn, each]));
    const objects = (inventory?.objects ?? []).filter(({ builtIn }) => builtIn !== true);
    this.held = new Map((inventory?.objects ?? []).map((object) => [object.uid, object]));
    const byName = onlyOnes(objects, ({ kind, inputs }) => distinctionOf(kind, inputs));
    const named = onlyOnes(resources, ({ kind, inputs }) => distinctionOf(kind, inputs));
    this.recorded = new Map(
      [...named].flatMap(([key, { resource }]) => {
        const object = byName.get(key);
        return object === undefined ? [] : [[resource.urn, object] as const];
      }),
    );
    this.unrecorded = onlyOnes(
      resources.filter(({ resource }) => !this.recorded.has(resource.urn)),
      placeOf,
    );
    this.consistent = this.learn(() => false);
    this.declared = this.learn(({ source, uid }) => this.held.get(uid)?.kind === source.kind);
  }

  /** What a reference is the uid of, as its dependencies say; undefined where they say nothing. */
  claimOf(from: StackResource, { leaf, value }: Reference): Claim | undefined {
    const source = this.byUrn.get(sourceOf(from, leaf)?.urn ?? "");
    return source === undefined || typeof value !== "string" || isUnknown(value)
      ? undefined
      : { source, uid: value };
  }

  /** Whether only one resource can have a uid: the inventory has all older ones, and no other resource is new there. */
  isProven({ source, uid }: Claim): boolean {
    const { urn } = source.resource;
    return (
      this.recorded.get(urn)?.uid === uid ||
      (this.inventory !== undefined &&
        listsObject(this.inventory, source.kind, uid) &&
        this.unrecorded.get(placeOf(source)) === source)
    );
  }

  /** The one new resource whose uid a value must be, where the inventory has all older ones. */
  newOne(kind: string | undefined, uid: Json | undefined): StackResource | undefined {
    if (kind === undefined || !isUid(uid) || this.held.has(uid)) return undefined;
    const source = this.unrecorded.get(JSON.stringify([kind, parentOf(uid) ?? ""]));
    return source !== undefined && this.isProven({ source, uid }) ? source : undefined;
  }

  /** A new resource has one uid, below its parent's, that nothing else has. */
  private learn(mayBeHeld: (claim: Claim) => boolean): Map<string, string> {
    const recorded = [...this.recorded].map(([urn, { uid }]) => [urn, uid] as const);
    const taken = new Set(recorded.map(([, uid]) => uid));
    const possible = this.resources
      .flatMap((from) => references(from).map((reference) => this.claimOf(from, reference)))
      .filter(
        (claim): claim is Claim =>
          claim !== undefined &&
          !this.recorded.has(claim.source.resource.urn) &&
          !taken.has(claim.uid) &&
          (!this.held.has(claim.uid) || mayBeHeld(claim)) &&
          (parentOf(claim.uid) ?? "") === (claim.source.inputs["parentUid"] ?? ""),
      );
    const pairs = new Map(
      possible.map((claim) => [JSON.stringify([claim.source.resource.urn, claim.uid]), claim]),
    );
    const bySource = onlyOnes(pairs.values(), ({ source }) => source.resource.urn);
    const byUid = onlyOnes(pairs.values(), ({ uid }) => uid);
    const learned = [...bySource].flatMap(([urn, claim]) =>
      byUid.get(claim.uid) === claim ? [[urn, claim.uid] as const] : [],
    );
    return new Map([...recorded, ...learned]);
  }

  /** What the inventory has of a resource, unless others take another uid from it: then its name is that of another object. */
  objectOf({ kind, resource: { urn } }: StackResource, uid: string | undefined): InventoryObject | undefined {
    const object = this.held.get(uid ?? "");
    const isContradicted = (this.claimed().get(urn) ?? []).some((claimed) => claimed !== uid);
    return object?.kind === kind && !isContradicted ? object : undefined;
  }

  private readonly claimed = once(() => {
    const claims = this.resources.flatMap((from) =>
      references(from).flatMap((reference) => this.claimOf(from, reference) ?? []),
    );
    const bySource = groupBy(claims, ({ source }) => [source.resource.urn]);
    return new Map([...bySource].map(([urn, all]) => [urn, all.map(({ uid }) => uid)]));
  });
}

/** The step of a resource. A create has no uid. An update without a state before is as new to the rules, and keeps it. */
const toStep = (after: RecordedResource, before: InventoryObject | undefined): PreviewStep => ({
  op: after.id === undefined ? "create" : "update",
  urn: after.urn,
  before: before && { ...after, inputs: before.inputs, outputs: before.inputs },
  after,
});

/** A stack resource as a preview would record it, with its uid where that is known. */
function toRecordedResource(each: StackResource, id: string | undefined): RecordedResource {
  const { resource, kind, inputs, outputs } = each;
  const { propertyDependencies, urn, type, opts } = resource;
  return {
    urn,
    type,
    id,
    ...(each.notReviewed === undefined ? { kind } : { notReviewed: each.notReviewed, plugin: each.plugin }),
    inputs,
    outputs,
    secretPaths: [],
    dependencies: Object.fromEntries(
      Object.entries(propertyDependencies).map(([key, from]) => [key, from.map((one) => one.urn)]),
    ),
    external: false,
    protect: opts.protect,
    retainOnDelete: false,
    pendingDelete: false,
    ignoreChanges: opts.ignoreChanges,
  };
}

/** A resource in which the references that are only assumed are not known, so that the rules say so. */
function withAssumptions(each: StackResource, isAssumed: (reference: Reference) => boolean): StackResource {
  const spec = specs[each.kind];
  if (spec === undefined || each.notReviewed !== undefined) return each;
  const inputs = mapLeaves(spec, each.inputs, (value, leaf) =>
    isReference(leaf) && isAssumed({ leaf, value }) ? UNKNOWN : value,
  );
  return { ...each, inputs };
}

/**
 * The steps of a preview in which all of a stack is new that the inventory does not have: as the values say, and, where a value is
 * not what its dependency says, as the dependencies say too. The worst of both counts.
 */
function readingsOf(resources: readonly StackResource[], inventory: Inventory | undefined): PreviewStep[][] {
  const uids = new StackUids(resources, inventory);
  const { consistent, declared } = uids;
  const toSteps = (
    ids: ReadonlyMap<string, string>,
    isAssumed: (claim: Claim, id: string | undefined) => boolean,
  ): PreviewStep[] =>
    resources.map((each) => {
      const read = withAssumptions(each, (reference) => {
        const claim = uids.claimOf(each, reference);
        return claim !== undefined && isAssumed(claim, ids.get(claim.source.resource.urn));
      });
      const id = ids.get(each.resource.urn);
      return toStep(toRecordedResource(read, id), uids.objectOf(each, id));
    });
  const asValues = toSteps(consistent, (claim, id) => claim.uid === id && !uids.isProven(claim));
  const asDependencies = toSteps(declared, (claim, id) => claim.uid !== id || !uids.isProven(claim));
  return JSON.stringify(asValues) === JSON.stringify(asDependencies)
    ? [asValues]
    : [asValues, asDependencies];
}

/** Whether the server has all of what a resource declares, so that the update requests nothing. */
function isHeld({ kind, inputs, notReviewed }: StackResource, objects: readonly InventoryObject[]): boolean {
  if (notReviewed !== undefined) return false;
  const fields = Object.entries(specs[kind]?.fields ?? {});
  return objects.some(
    (object) =>
      object.kind === kind && fields.every(([key, field]) => equal(field, inputs[key], object.inputs[key])),
  );
}

interface Answer {
  readonly key: string;
  readonly findings: readonly Finding[];
}

/** Judges a stack, and before that each resource of it, each once for all policies of the pack. */
class Judge {
  /** What the update changes, as far as the engine has asked for it. */
  private readonly changed = new Map<string, StackResource>();
  /** What was found last: the engine asks each policy the same, with objects of its own. */
  private asked: Answer | undefined;
  private last: Answer | undefined;
  private known:
    { readonly inventory: Inventory | undefined; readonly policy: Policy | undefined } | undefined;

  constructor(
    private readonly args: AccessPolicyArgs,
    private readonly own: readonly Rule[],
  ) {}

  /** What the rules find in a stack, without what the policy file suppresses. */
  findInStack(resources: readonly PolicyResource[]): readonly Finding[] {
    return this.find(resources.flatMap(toStackResources));
  }

  /** What the rules find about one resource before it is requested, with what the program declared before it. */
  findInResource(args: ResourceValidationArgs): readonly Finding[] {
    const alone = withoutDependencies(args);
    const [given] = toStackResources(alone);
    const { inventory } = this.documents();
    if (given === undefined || isHeld(given, inventory?.objects ?? [])) return [];
    const key = JSON.stringify([args.urn, given.inputs, given.notReviewed]);
    if (this.asked?.key === key) return this.asked.findings;
    this.changed.delete(args.urn);
    const uids = new StackUids([...this.changed.values()], inventory);
    const sources = references(given).flatMap(({ leaf, value }) => {
      const source = leaf.path === leaf.property ? uids.newOne(referredKindOf(leaf.field), value) : undefined;
      return source === undefined ? [] : [{ property: leaf.property, from: [source.resource] }];
    });
    const resource: PolicyResource = {
      ...alone,
      propertyDependencies: Object.fromEntries(sources.map(({ property, from }) => [property, from])),
    };
    this.changed.set(args.urn, { ...given, resource });
    const findings = this.find([...this.changed.values()]).filter(
      (finding) => finding.urn === args.urn && isCertain(finding),
    );
    this.asked = { key, findings };
    return findings;
  }

  private find(resources: readonly StackResource[]): readonly Finding[] {
    if (resources.length === 0) return [];
    const readings = readingsOf(resources, this.documents().inventory);
    const key = JSON.stringify(readings);
    if (this.last?.key !== key) {
      const isCompared = this.documents().inventory !== undefined;
      const only = policyRules.filter(({ needsBefore }) => isCompared || needsBefore === undefined);
      const findings = readings.flatMap((steps) => this.findIn(steps, [...only, ...this.own]));
      const distinct = new Map(
        findings.map((each) => [JSON.stringify([each.id, each.urn, violation(each)]), each]),
      );
      this.last = { key, findings: [...distinct.values()] };
    }
    return this.last.findings;
  }

  private findIn(steps: readonly PreviewStep[], only: readonly Rule[]): readonly Finding[] {
    const { inventory, policy } = this.documents();
    const comparison = compare({ preview: { steps, omittedUnchanged: 0, problems: [] }, inventory });
    const given = Object.entries<unknown>(this.args.options ?? {}).filter(([, value]) => value !== undefined);
    const options: RuleOptions = {
      ...defaultRuleOptions(Date.now()),
      ...(policy && limitsOf(policy)),
      ...Object.fromEntries(given),
    };
    const findings = findingsOf(comparison, options, only);
    return policy === undefined
      ? findings
      : applyPolicy(findings, policy, options.now, "review", true, comparison).findings;
  }

  private documents(): NonNullable<Judge["known"]> {
    const { inventory, policyFile } = this.args;
    this.known ??= {
      inventory: inventory === undefined ? undefined : parseInventory(readRegularFile(inventory), inventory),
      policy: policyFile === undefined ? undefined : parsePolicy(readTextFile(policyFile), policyFile),
    };
    const { forbid = [], separate = [] } = this.known.policy?.assertions ?? {};
    if (inventory === undefined && forbid.length + separate.length > 0) {
      throw new CodedError("PP1302", "inventory is missing: the policy file asserts what only it can tell");
    }
    const now = this.args.options?.now ?? Date.now();
    const stale = this.known.inventory && describeStaleness(this.known.inventory, now);
    if (stale !== undefined) throw new CodedError("PP1302", stale);
    return this.known;
  }
}

/** A line of a violation: the engine prints it as it is. */
const printableLine = (line: string): string => terminalLine(terminal(line));

function violation({ message, details, advice }: Finding): string {
  const lines = [
    message,
    ...details.map((line) => `  ${line}`),
    ...(advice === undefined ? [] : [`Instead: ${advice}.`]),
  ];
  return lines.map(printableLine).join("\n");
}

/** An assertion counts what nobody can judge. Before a request that is each new holder and role: they are judged with the stack. */
const isCertain = ({ id, grant }: Finding): boolean =>
  !["P1", "P3"].includes(id) ||
  grant === undefined ||
  (grant.role.capabilities !== undefined && (grant.subject.name ?? grant.subject.urn) !== undefined);

/** A preview knows too little to stop an update at these: they are advisory. */
const ALWAYS_ADVISORY = ["X3"];

/** The rules of one's own. One that fails stops the update: what it would have found is not known. */
function loadOwnRules({ rules: given, policyFile }: AccessPolicyArgs): readonly Rule[] {
  let path = given;
  if (path === undefined && policyFile !== undefined) {
    try {
      const { rules: named } = parsePolicy(readTextFile(policyFile), policyFile);
      path = named && join(dirname(policyFile), named);
    } catch {
      // The policy `not-judged` reads the file again, and reports what is wrong with it.
    }
  }
  if (path === undefined) return [];
  return loadRules(path, {
    onFailure: (message) => {
      throw new RulesError(message);
    },
  });
}

function enforcementOf({ enforcement = {} }: AccessPolicyArgs, own: readonly Rule[]): Map<Rule, Enforcement> {
  const levels = new Map<Rule, Enforcement>();
  for (const [name, level] of Object.entries(enforcement)) {
    const rule = findRule(name, [...rules, ...own]);
    if (rule === undefined) {
      const names = [...policyRules, ...own].flatMap(({ id, name: own }) => [id, own]);
      throw new CodedError("PP1301", `enforcement: there is no rule "${name}"${suggest(name, names)}`);
    }
    const missing = whyNotInPolicyPack(rule);
    if (missing !== undefined) {
      throw new CodedError("PP1301", `enforcement: ${rule.id} is not in the policy pack: ${missing}`);
    }
    if (!(enforcements as readonly string[]).includes(level)) {
      throw new CodedError("PP1302", `enforcement: ${rule.id} must be one of ${enforcements.join(", ")}`);
    }
    levels.set(rule, level);
  }
  return levels;
}

function describeError(error: unknown): string {
  if (error instanceof CodedError) return withCode(error.message, error.errorCode);
  const { message } = error as Partial<Error>;
  return message ?? "unknown error";
}

/** A policy that is asked about each resource before its request, and about the stack after all of them. */
export type AccessPolicy = StackValidationPolicy & ResourceValidationPolicy;

/** What cannot be known of a single resource is judged with the whole stack. */
const ONLY_IN_STACK = ["X2", "X3"];

/** The policy of what the pack itself cannot do: an error ends nothing unseen, and prints no stack trace. */
function notJudgedPolicy(judge: Judge): AccessPolicy {
  const attempt = (find: () => unknown, report: (message: string) => void): void => {
    try {
      find();
    } catch (error) {
      report(printableLine(`the access cannot be judged: ${describeError(error)}`));
    }
  };
  return {
    name: "not-judged",
    description: "The access that a stack gives must be judged, or nothing is updated.",
    severity: "high",
    enforcementLevel: "mandatory",
    validateResource: (args, report) => attempt(() => judge.findInResource(args), report),
    validateStack: ({ resources }, report) => attempt(() => judge.findInStack(resources), report),
  };
}

/** Reads objects with the connection of the update: the engine gives the pack its environment and the stack's configuration. */
function readFromServer(): (kind: string, uid: string) => Promise<InventoryObject | undefined> {
  let client: ReturnType<typeof createClient>["client"] | undefined;
  return (kind, uid) => {
    const env = readEnvironment();
    const config = tryParseJson(env["PULUMI_CONFIG"] ?? "");
    const stack = (key: string): string | undefined => {
      const value = isObject(config) ? config[`platform:${key}`] : undefined;
      return typeof value === "string" ? value : undefined;
    };
    client ??= createClient(readSettings({ stack, env })).client;
    return readObject(client, kind, uid);
  };
}

/** The policy that holds an update to an approved report. It is read before the program runs. */
function approvedPolicies({ approved, digest }: AccessPolicyArgs): AccessPolicy[] {
  if (approved === undefined) {
    if (digest === undefined) return [];
    throw new CodedError("PP1302", "approved is missing: digest is that of an approved report");
  }
  if (digest === undefined) {
    throw new CodedError(
      "PP1302",
      "digest is missing: give the one that the review printed, from a place that the author of the change cannot write to",
    );
  }
  const access = new ApprovedAccess(
    parseReviewReport(readRegularFile(approved), approved, digest),
    readFromServer(),
    readEnvironment()["PULUMI_DRY_RUN"] === "true",
  );
  return [
    {
      name: "not-announced",
      description: "What decides access must be what the approved report announces.",
      remediationSteps: "Review the program again, and update with the report that is approved then.",
      severity: "critical",
      enforcementLevel: "mandatory",
      validateResource: async (resource, report) => {
        const [given] = toStackResources(withoutDependencies(resource));
        if (given === undefined) return;
        if (given.notReviewed !== undefined) {
          // What the report does not name is of another package. It announces no access, and the plan holds it.
          if (access.isAnnounced(resource.urn))
            report(printableLine(`the approved report announces this resource, and ${given.notReviewed}`));
          return;
        }
        const problems = await access
          .problemsOf({ ...toRecordedResource(given, undefined), kind: given.kind })
          .catch((error: unknown) => [
            `cannot be compared with the approved report: ${describeError(error)}`,
          ]);
        for (const problem of problems) report(printableLine(problem));
      },
      // Nothing is left to refuse after the last request.
      validateStack: () => undefined,
    },
  ];
}

/** What is found; nothing where it cannot be judged, which one policy tells for all. */
function findingsOrNone(find: () => readonly Finding[]): readonly Finding[] {
  try {
    return find();
  } catch {
    return [];
  }
}

/**
 * The rules of the access review as policies, for a pack of one's own. Each rule is one policy, by its name, for what is
 * critical or high, and one whose name ends in `-advice` for the rest; `not-judged` reports what stops the judgement.
 *
 * What is mandatory is asked of each resource before its request, as far as its values and the inventory tell. All rules
 * judge the whole stack after the last request, changed or not: a policy does not see what was there before. With an inventory
 * they compare each resource with the object of its place and name, or of the uid that others take from it. One that gets another
 * name while others name it by its uid is new.
 * With `approved`, `not-announced` stops what the approved report does not announce.
 * @throws Error where `enforcement` names no rule of the pack, for a wrong file of `rules`, for an option that is wrong, and for a report that is not the
 *   approved one.
 */
export function accessPolicies(args: AccessPolicyArgs = {}): AccessPolicy[] {
  const own = loadOwnRules(args);
  const levels = enforcementOf(args, own);
  const problem = findOptionProblem({ ...args.options });
  if (problem !== undefined) throw new CodedError("PP1302", `options: ${problem}`);
  const ofReport = approvedPolicies(args);
  const all = [...policyRules, ...own];
  const judge = new Judge(args, own);
  const ofRules = all.flatMap((rule) => {
    const policyFor = (isSevere: boolean): AccessPolicy[] => {
      const [severity, ...others] = rule.severities.filter((each) => isHighOrCritical(each) === isSevere);
      if (severity === undefined) return [];
      const enforcementLevel =
        levels.get(rule) ?? (isSevere && !ALWAYS_ADVISORY.includes(rule.id) ? "mandatory" : "advisory");
      const isAskedEarly = enforcementLevel === "mandatory" && !ONLY_IN_STACK.includes(rule.id);
      const told = new Set<string>();
      const violations = (find: () => readonly Finding[]): [string, string | undefined][] =>
        findingsOrNone(find)
          .filter(({ id, severity: found }) => id === rule.id && isHighOrCritical(found) === isSevere)
          .map((finding) => [violation(finding), finding.urn]);
      return [
        {
          name: isSevere ? rule.name : `${rule.name}-advice`,
          displayName: `${rule.id} ${rule.name}`,
          description: `${rule.id}: ${rule.why}`,
          remediationSteps: rule.fix,
          // The engine prints it beside each violation, which may be of another one of several.
          ...(others.length === 0 && { severity }),
          enforcementLevel,
          validateResource: (resource, report) => {
            if (!isAskedEarly) return;
            for (const [message, urn] of violations(() => judge.findInResource(resource))) {
              told.add(JSON.stringify([message, urn]));
              report(message);
            }
          },
          validateStack: ({ resources }, report) => {
            for (const [message, urn] of violations(() => judge.findInStack(resources))) {
              // In a preview, which goes on, it is told with its resource.
              if (!told.has(JSON.stringify([message, urn]))) report(message, urn);
            }
          },
        },
      ];
    };
    return [...policyFor(true), ...policyFor(false)];
  });
  return [...ofReport, ...ofRules, notJudgedPolicy(judge)];
}

/**
 * A policy pack of these rules: `accessPolicyPack("access")` is the whole program of a pack. Needs `@pulumi/policy`.
 * @param more Further policies of your own.
 */
export function accessPolicyPack(name: string, args: AccessPolicyArgs = {}, more: Policies = []): PolicyPack {
  return new PolicyPack(name, { policies: [...accessPolicies(args), ...more] });
}

/**
 * The policy pack in `templates/policy-pack`. It holds an update to the approved report that `PLATFORM_APPROVED_REPORT` and
 * `PLATFORM_APPROVED_DIGEST` name. It asks no rule: what the report announces was judged when it was made.
 */
export function approvedPolicyPack(): PolicyPack {
  const { PLATFORM_APPROVED_REPORT: approved = "", PLATFORM_APPROVED_DIGEST: digest = "" } =
    readEnvironment();
  try {
    if (approved === "" || digest === "") {
      throw new CodedError(
        "PP1302",
        "PLATFORM_APPROVED_REPORT or PLATFORM_APPROVED_DIGEST is missing: set both, to the path of the approved report and to its digest",
      );
    }
    return new PolicyPack("access-approved", { policies: approvedPolicies({ approved, digest }) });
  } catch (error) {
    // The engine shows what its process of the pack prints: an error that is thrown, with its stack.
    process.stderr.write(`${withCode(printableLine(describeError(error)), errorCodeOf(error))}\n`);
    process.exit(1);
  }
}
