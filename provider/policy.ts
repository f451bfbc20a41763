import { CodedError } from "./errors/codedError";
import { readFileSync } from "node:fs";
import { PolicyPack } from "@pulumi/policy";
import type { Policies, PolicyResource, StackValidationPolicy } from "@pulumi/policy";
import { compare } from "./access/review/compare";
import { parseKind, pluginOfInputs } from "./access/documents/engineState";
import type { RecordedResource } from "./access/documents/engineState";
import { parseInventory } from "./access/documents/parseInventory";
import { applyPolicy } from "./access/suppressions/applyPolicy";
import { parsePolicy } from "./access/suppressions/parsePolicy";
import { isReference, mapLeaves, referredKind } from "./access/graph/references";
import { specs } from "./access/documents/specs";
import { pluginOfProvider, whyNotReviewed } from "./access/documents/reviewable";
import type { Plugin } from "./access/documents/reviewable";
import type { Leaf } from "./access/graph/references";
import type { PreviewStep } from "./access/documents/preview";
import type { Finding } from "./access/review/finding";
import { isHighOrCritical } from "./access/review/finding";
import { terminal, terminalLine } from "./access/report/render/escape";
import { defaultRuleOptions, findingsOf, findRule, rules } from "./access/rules";
import { findOptionProblem } from "./access/rules/ruleOptions";
import { whyNotInPolicyPack } from "./access/rules/rule";
import type { Rule, RuleOptions } from "./access/rules";
import { isUnknown, UNKNOWN } from "./fields/values";
import type { Json, Props } from "./fields/values";
import { didYouMean } from "./text/suggestions";

const enforcements = ["advisory", "mandatory", "disabled"] as const;

/** What happens where a rule finds something: the engine's words. */
export type Enforcement = (typeof enforcements)[number];

/** How the rules of the access review are used as policies. */
export interface AccessPolicyArgs {
  /** The guards of the rules: issuers and hosts that are allowed, and so on. `now` is the time of the run if not given. */
  readonly options?: Partial<RuleOptions>;
  /**
   * The path of an inventory (`pulumi-platform inventory`). Without one the capabilities of roles outside of the
   * program are not known, built-in ones included: such a grant is reported by X3 only, which stops nothing.
   */
  readonly inventory?: string;
  /** The path of a policy file (`access-policy.yaml`): what it suppresses is not reported. */
  readonly policyFile?: string;
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
  const notReviewed = texts.length > 0 ? whyNotReviewed(type, texts, pluginOf(resource)) : undefined;
  return [{ resource, kind, inputs, outputs, ...(notReviewed === undefined ? {} : { notReviewed }) }];
}

function* references({ kind, inputs }: StackResource): Generator<[Leaf, Json | undefined]> {
  const spec = specs[kind];
  if (spec === undefined) return;
  const found: [Leaf, Json | undefined][] = [];
  mapLeaves(spec, inputs, (value, leaf) => {
    if (isReference(leaf)) found.push([leaf, value]);
    return value;
  });
  yield* found;
}

/** The resource that a property comes from, where it can be one only. */
function sourceOf({ resource }: StackResource, leaf: Leaf): PolicyResource | undefined {
  const wanted = referredKind(leaf);
  const all = resource.propertyDependencies[leaf.property] ?? [];
  const candidates = all.filter(({ type }) => {
    const kind = parseKind(type);
    return kind !== undefined && (wanted === undefined || kind === wanted);
  });
  return leaf.path === leaf.property && all.length === 1 ? candidates[0] : undefined;
}

/** Maps URNs to uids. A policy gets no uids: they are learned from references that depend on one resource alone. */
function findUids(stackResources: readonly StackResource[]): Map<string, string> {
  const uids = new Map<string, string>();
  for (const each of stackResources) {
    for (const [leaf, value] of references(each)) {
      const source = sourceOf(each, leaf);
      if (source !== undefined && typeof value === "string" && !isUnknown(value)) uids.set(source.urn, value);
    }
  }
  return uids;
}

/** A stack resource as a preview would record it, with its uid where another resource refers to it. */
function toRecordedResource(each: StackResource, uids: ReadonlyMap<string, string>): RecordedResource {
  const { resource, kind, inputs, outputs } = each;
  const id = uids.get(resource.urn);
  const { propertyDependencies, urn, type, opts } = resource;
  return {
    urn,
    type,
    ...(id === undefined ? {} : { id }),
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

/** The steps of a preview in which all of a stack is new. */
function toSteps(resources: readonly PolicyResource[]): PreviewStep[] {
  const stackResources = resources.flatMap(toStackResources);
  const uids = findUids(stackResources);
  return stackResources.map((each) => {
    const after = toRecordedResource(each, uids);
    // A create has no uid. An update without a state before is as new to the rules, and keeps it.
    return { op: after.id === undefined ? "create" : "update", urn: after.urn, after };
  });
}

/** What the rules find in a stack, as if all of it were new, without what the policy file suppresses. */
function findingsIn(steps: readonly PreviewStep[], args: AccessPolicyArgs): readonly Finding[] {
  if (steps.length === 0) return [];
  const { inventory, policyFile } = args;
  const comparison = compare({
    preview: { steps, omittedUnchanged: 0, problems: [] },
    inventory: inventory === undefined ? undefined : parseInventory(readFileSync(inventory), inventory),
  });
  const given = Object.entries<unknown>(args.options ?? {}).filter(([, value]) => value !== undefined);
  const options: RuleOptions = { ...defaultRuleOptions(Date.now()), ...Object.fromEntries(given) };
  const findings = findingsOf(comparison, options, policyRules);
  if (policyFile === undefined) return findings;
  const policy = parsePolicy(readFileSync(policyFile, "utf8"), policyFile);
  return applyPolicy(findings, policy, options.now, "review", true, comparison).findings;
}

/** Compares each stack once: the engine gives every policy the same resources, in objects of its own. */
function createFinder(args: AccessPolicyArgs): (resources: readonly PolicyResource[]) => readonly Finding[] {
  let last: { readonly key: string; readonly findings: readonly Finding[] } | undefined;
  return (resources) => {
    const steps = toSteps(resources);
    const key = JSON.stringify(steps);
    if (last?.key !== key) last = { key, findings: findingsIn(steps, args) };
    return last.findings;
  };
}

function violation({ message, details, advice }: Finding): string {
  const lines = [
    message,
    ...details.map((line) => `  ${line}`),
    ...(advice === undefined ? [] : [`Instead: ${advice}.`]),
  ];
  // The engine prints it as it is.
  return lines.map((line) => terminalLine(terminal(line))).join("\n");
}

/** A preview knows too little to stop an update at these: they are advisory. */
const ALWAYS_ADVISORY = ["X3"];

function enforcementOf({ enforcement = {} }: AccessPolicyArgs): Map<Rule, Enforcement> {
  const levels = new Map<Rule, Enforcement>();
  for (const [name, level] of Object.entries(enforcement)) {
    const rule = findRule(name);
    if (rule === undefined) {
      const names = policyRules.flatMap(({ id, name: own }) => [id, own]);
      const meant = didYouMean(name, names);
      throw new CodedError(
        "PP1301",
        `enforcement: there is no rule "${name}"${meant === undefined ? "" : `; did you mean "${meant}"?`}`,
      );
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

/**
 * The rules of the access review as policies over a whole stack, for a pack of one's own. Each rule is one policy, by
 * its name, for what is critical or high, and one whose name ends in `-advice` for the rest.
 *
 * They judge what the stack holds, changed or not: a policy does not see what was there before. In a preview a value
 * that is not known yet is not judged (X3 tells of it); the update is judged again with all values, at its end.
 * @throws Error where `enforcement` names no rule of the pack, and for an option that is wrong.
 */
export function accessPolicies(args: AccessPolicyArgs = {}): StackValidationPolicy[] {
  const levels = enforcementOf(args);
  const problem = findOptionProblem({ ...args.options });
  if (problem !== undefined) throw new CodedError("PP1302", `options: ${problem}`);
  const find = createFinder(args);
  return policyRules.flatMap((rule) => {
    const policyFor = (isSevere: boolean): StackValidationPolicy[] => {
      const severity = rule.severities.find((each) => isHighOrCritical(each) === isSevere);
      if (severity === undefined) return [];
      return [
        {
          name: isSevere ? rule.name : `${rule.name}-advice`,
          displayName: `${rule.id} ${rule.name}`,
          description: `${rule.id}: ${rule.why}`,
          remediationSteps: rule.fix,
          severity,
          enforcementLevel:
            levels.get(rule) ?? (isSevere && !ALWAYS_ADVISORY.includes(rule.id) ? "mandatory" : "advisory"),
          validateStack: ({ resources }, report) => {
            for (const finding of find(resources)) {
              if (finding.id === rule.id && isHighOrCritical(finding.severity) === isSevere) {
                report(violation(finding), finding.urn);
              }
            }
          },
        },
      ];
    };
    return [...policyFor(true), ...policyFor(false)];
  });
}

/**
 * A policy pack of these rules: `accessPolicyPack("access")` is the whole program of a pack. Needs `@pulumi/policy`.
 * @param more Further policies of your own.
 */
export function accessPolicyPack(name: string, args: AccessPolicyArgs = {}, more: Policies = []): PolicyPack {
  return new PolicyPack(name, { policies: [...accessPolicies(args), ...more] });
}
