import { checkInputs } from "../../fields/check";
import { diffInputs } from "../../fields/diff";
import { declaredFields } from "../../fields/mergeLive";
import { aggregatedKind, objectKey } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import {
  getOrCompute,
  compareTexts,
  isObject,
  SECRET_TYPE,
  SIGNATURE,
  stringOrEmpty,
  UNKNOWN,
  SECRET_MASK,
  ownMember,
} from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import { kinds } from "../../kinds";
import { isTopUid, parentOf } from "../../text/uid";
import { providerUrn, urnParts } from "../documents/engineState";
import type { Inventory, InventoryObject } from "../documents/inventory";
import { DocumentError } from "../documents/jsonText";
import { parseKind } from "../documents/reviewable";
import { specs } from "../documents/specs";
import { asPendingCreates, describeInterrupted } from "../documents/stateExport";
import { fieldsWhere } from "../graph/describedFields";
import type { Directory } from "../graph/directory";
import type { AdoptedResource } from "./program";

/** What a program declares for an object that exists. */
interface Declaration {
  readonly inputs: Props;
  /** Of secrets that the server has and never returns: `oidc.clientSecret`. */
  readonly secretPaths: readonly string[];
}

/** Inputs with another value at a path. */
export function withMember(inputs: Props, path: readonly string[], value: Json): Props {
  const [key = "", ...rest] = path;
  const member = inputs[key];
  return {
    ...inputs,
    [key]: rest.length === 0 ? value : withMember(isObject(member) ? member : {}, rest, value),
  };
}

/** Secrets that the server never returns. */
const unreturnedSecrets = fieldsWhere(({ secret, inputOnly }) => secret === true && inputOnly === true);

/**
 * The arguments with which a program declares an object as it is, or why it cannot.
 *
 * @param now milliseconds since the epoch: an end that has passed cannot be declared, and drift compares none that is left out.
 */
export function declareObject(
  spec: ResourceSpec,
  object: InventoryObject,
  now: number,
): Declaration | { readonly reason: string } {
  const createOnly = Object.entries(spec.outputs ?? {}).filter(([, field]) => field.createOnly);
  if (createOnly.length > 0) {
    return {
      reason: `its ${createOnly.map(([key]) => key).join(", ")} is returned only at creation`,
    };
  }
  const inputs = declaredFields(spec.fields, object.inputs);
  const problems = checkInputs(spec, inputs, { olds: {}, now });
  if (problems.length > 0) {
    // An object that is valid with a secret only has one on the server.
    const paths = unreturnedSecrets(spec.kind).map(({ path }) => path);
    const filled = paths.reduce((all, path) => withMember(all, path.split("."), "secret"), inputs);
    if (paths.length > 0 && checkInputs(spec, filled, { olds: {}, now }).length === 0) {
      return { inputs, secretPaths: paths };
    }
  }
  const [problem] = problems;
  if (problem === undefined) return { inputs, secretPaths: [] };
  return { reason: `${problem.property} ${problem.reason}`.trim() };
}

/** Which objects of an inventory to adopt. */
export interface CandidateRequest {
  readonly inventory: Inventory;
  /** Kinds and uids; by default everything but the organisation itself. */
  readonly only?: readonly string[];
  /** Nothing but these objects, with these names: by `Role <uid>`. */
  readonly names?: ReadonlyMap<string, string>;
  /** Objects that a stack manages already, and which: `Role <uid>`. */
  readonly managers?: ReadonlyMap<string, string>;
}

/** An object that the program declares. */
export interface Candidate extends Declaration {
  readonly spec: ResourceSpec;
  readonly object: InventoryObject;
}

/** An object that the program does not declare, and why. */
export interface SkippedObject {
  readonly kind: string;
  readonly uid: string;
  readonly name: string;
  readonly reason: string;
}

const orderOfKind: ReadonlyMap<string, number> = new Map(kinds.map(({ spec }, i) => [spec.kind, i]));

/** Parents before children, kinds in the order of the package's list. */
function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    (orderOfKind.get(a.spec.kind) ?? 0) - (orderOfKind.get(b.spec.kind) ?? 0) ||
    a.object.uid.split("/").length - b.object.uid.split("/").length ||
    compareTexts(a.object.uid, b.object.uid)
  );
}

const compareSkipped = (a: SkippedObject, b: SkippedObject): number =>
  compareTexts(a.kind, b.kind) || compareTexts(a.name, b.name) || compareTexts(a.uid, b.uid);

/** The kind that owns all objects of a kind at a group. */
function collectionKindOf(kind: string): string | undefined {
  return kinds.find(({ spec }) => aggregatedKind(spec) === kind)?.spec.kind;
}

/** Why an object is not declared whatever its arguments are; undefined where it may be. */
function skipReason(
  { only, names, managers }: CandidateRequest,
  spec: ResourceSpec,
  { kind, uid }: InventoryObject,
): string | undefined {
  const collectionKind = collectionKindOf(kind);
  const manager = managers?.get(objectKey(kind, uid));
  if (manager !== undefined) return `${manager} manages it already`;
  const owner = collectionKind && managers?.get(objectKey(collectionKind, parentOf(uid) ?? ""));
  if (owner !== undefined)
    return `the ${collectionKind} of ${owner} has all of its group, this one as well: add it there only if drift says that it is missing`;
  const isNamed = only?.includes(uid) === true || names?.has(objectKey(kind, uid)) === true;
  if (isTopUid(uid) && !spec.sharesParentUid && !isNamed) {
    return "it is the organisation itself: name its uid with --only if the program is to manage it too";
  }
  return undefined;
}

/** Selects the objects to declare, in the order of the program. */
export function selectCandidates(
  request: CandidateRequest,
  directory: Directory,
): { readonly candidates: readonly Candidate[]; readonly skipped: readonly SkippedObject[] } {
  const { inventory } = request;
  const now = Date.parse(inventory.takenAt);
  const only = request.only && new Set(request.only);
  const candidates: Candidate[] = [];
  const skipped: SkippedObject[] = [];
  for (const object of inventory.objects) {
    const { kind, uid, builtIn } = object;
    const spec = specs[kind];
    if (spec === undefined || builtIn) continue;
    if (only && !only.has(kind) && !only.has(uid)) continue;
    if (request.names && !request.names.has(objectKey(kind, uid))) continue;
    const reason = skipReason(request, spec, object);
    const declared = reason === undefined ? declareObject(spec, object, now) : { reason };
    if ("reason" in declared) {
      const name = directory.describe(spec, uid, object.inputs);
      skipped.push({ kind, uid, name, reason: declared.reason });
    } else {
      candidates.push({ spec, object, ...declared });
    }
  }
  return { candidates: candidates.sort(compareCandidates), skipped: skipped.sort(compareSkipped) };
}

const PROVIDERS = "pulumi:providers:";
const OWN_PROVIDER = "platform";
const STACK_TYPE = "pulumi:pulumi:Stack";

type StateResource = Props;

/** The parts of a state. All documents are as the CLI writes them. */
export interface StateParts {
  /** `pulumi stack export` */
  readonly exported: unknown;
  /** `pulumi preview --json` of the program that declares the resources. */
  readonly preview: unknown;
  readonly resources: readonly AdoptedResource[];
  /** The values of secrets, by their key in the stack's configuration. */
  readonly secrets: ReadonlyMap<string, string>;
  /** The stack's configuration, which the engine records with its provider. */
  readonly config: Readonly<Record<string, { readonly value: string; readonly secret: boolean }>>;
  readonly newId: () => string;
}

/** Why a state cannot be written: one line each. */
export class StateMergeError extends DocumentError {
  constructor(lines: readonly string[]) {
    const shown = lines.slice(0, 20);
    super(
      "PP6007",
      [...shown, ...(lines.length > shown.length ? [`… and ${lines.length - shown.length} more`] : [])].join(
        "\n  ",
      ),
    );
  }
}

function wrapSecret(value: Json): Props {
  return { [SIGNATURE]: SECRET_TYPE, plaintext: JSON.stringify(value) };
}

function readResources(exported: unknown): StateResource[] {
  const deployment = isObject(exported) ? exported["deployment"] : undefined;
  const resources = isObject(deployment) ? deployment["resources"] : undefined;
  if (!isObject(deployment)) throw new StateMergeError(["the stack's export has no deployment"]);
  const pending = deployment["pending_operations"];
  if (Array.isArray(pending) && pending.length > 0) {
    throw new StateMergeError([
      `${describeInterrupted({ pendingOperations: pending.length, pendingCreates: asPendingCreates(pending) })}; then adopt again`,
    ]);
  }
  return Array.isArray(resources) ? (resources as StateResource[]) : [];
}

/** Replaces the unknown arguments of a preview by the live ones. */
function fillUnknowns(planned: Json | undefined, live: Json | undefined): Json | undefined {
  if (planned === UNKNOWN) return live;
  if (Array.isArray(planned)) {
    return planned.map((item, i) => fillUnknowns(item, Array.isArray(live) ? live[i] : undefined) ?? null);
  }
  if (!isObject(planned)) return planned;
  return Object.fromEntries(
    Object.entries(planned).map(([key, member]) => [
      key,
      fillUnknowns(member, isObject(live) ? ownMember(live, key) : undefined),
    ]),
  );
}

function withoutProvider(inputs: Props): Props {
  return Object.fromEntries(Object.entries(inputs).filter(([key]) => !key.startsWith("__")));
}

/** The steps of a preview. @throws where its program fails: the engine's words, since nothing was merged yet. */
function readSteps(preview: unknown): Props[] {
  const { steps, diagnostics } = isObject(preview) ? preview : {};
  const errors = (Array.isArray(diagnostics) ? diagnostics : []).flatMap((one) =>
    isObject(one) && one["severity"] === "error" ? [stringOrEmpty(one["message"]).trim()] : [],
  );
  if (errors.length > 0)
    throw new DocumentError(
      "PP5009",
      ["the preview of the program fails:", ...errors.slice(0, 20)].join("\n  "),
    );
  if (!Array.isArray(steps)) throw new StateMergeError(["this is no preview: it has no steps"]);
  return steps.filter(isObject);
}

/** What the engine records as the inputs of a default provider: the configuration, or that of the package. */
function configOf(packageName: string, config: StateParts["config"]): Props {
  const namespace = `${packageName}:`;
  return Object.fromEntries(
    Object.entries(config).flatMap(([key, { value, secret }]): [string, Json][] => {
      const recorded = secret ? wrapSecret(value) : value;
      if (packageName !== OWN_PROVIDER) return [[key, recorded]];
      return key.startsWith(namespace) ? [[key.slice(namespace.length), recorded]] : [];
    }),
  );
}

/** The members of a planned step that a state has too. */
const STATE_MEMBERS = [
  "urn",
  "custom",
  "type",
  "inputs",
  "parent",
  "protect",
  "dependencies",
  "propertyDependencies",
  "additionalSecretOutputs",
  "aliases",
  "customTimeouts",
  "retainOnDelete",
  "ignoreChanges",
  "sourcePosition",
  "stackTrace",
];

function pickStateMembers(state: Props): StateResource {
  return Object.fromEntries(STATE_MEMBERS.filter((key) => key in state).map((key) => [key, state[key]]));
}

/** Sorts resources after their dependencies: the engine refuses a state in another order. */
function sortByDependencies(rows: readonly StateResource[], known: ReadonlySet<string>): StateResource[] {
  const byUrn = new Map(rows.map((row) => [stringOrEmpty(row["urn"]), row]));
  const done = new Set(known);
  const result: StateResource[] = [];
  const visit = (row: StateResource): void => {
    const urn = stringOrEmpty(row["urn"]);
    if (done.has(urn)) return;
    done.add(urn);
    const dependencies = [
      stringOrEmpty(row["parent"]),
      providerUrn(stringOrEmpty(row["provider"])),
      ...(Array.isArray(row["dependencies"]) ? row["dependencies"].map((urn) => stringOrEmpty(urn)) : []),
    ];
    for (const dependency of dependencies) {
      const resource = byUrn.get(dependency);
      if (resource) visit(resource);
    }
    result.push(row);
  };
  const isStack = (row: StateResource): boolean => row["type"] === STACK_TYPE;
  for (const row of [...rows.filter(isStack), ...rows]) visit(row);
  return result;
}

/**
 * Adds the adopted resources to the state of a stack, for `pulumi stack import`. What the stack has already stays
 * as it is.
 *
 * @throws StateMergeError where the program does not declare exactly what is adopted.
 */
export function mergeState(parts: StateParts): {
  readonly document: unknown;
  readonly urns: readonly string[];
} {
  const existing = readResources(parts.exported);
  const pending = new Map(parts.resources.map((resource) => [`${resource.kind} ${resource.name}`, resource]));
  const problems: string[] = [];
  const added: StateResource[] = [];
  const urns: string[] = [];
  const providers = new Map<string, string>();
  /** Refers to the stack's default provider of a package, or adds one before the resources that use it. */
  const referToProvider = (packageName: string, planned: string): string =>
    getOrCompute(providers, packageName, () => {
      const type = `${PROVIDERS}${packageName}`;
      const { stack, project } = urnParts(planned);
      const urn = `urn:pulumi:${stack}::${project}::${type}::default`;
      const own = existing.find(
        (row) =>
          row["type"] === type &&
          row["delete"] !== true &&
          (packageName !== OWN_PROVIDER || row["urn"] === urn),
      );
      if (own) return `${stringOrEmpty(own["urn"])}::${stringOrEmpty(own["id"])}`;
      const [id, config] = [parts.newId(), configOf(packageName, parts.config)];
      added.push({ urn, custom: true, id, type, inputs: config, outputs: config });
      return `${urn}::${id}`;
    });
  for (const step of readSteps(parts.preview)) {
    const [op, urn, state] = [stringOrEmpty(step["op"]), stringOrEmpty(step["urn"]), step["newState"]];
    if (["same", "read", "refresh"].includes(op)) continue;
    const { type, name } = urnParts(urn);
    if (op !== "create") {
      problems.push(
        `the program would also ${op} ${urn}: run pulumi up first, so that nothing is left to do`,
      );
      continue;
    }
    if (!isObject(state) || type.startsWith(PROVIDERS)) continue;
    if (state["custom"] !== true) {
      // The stack itself, and components, exist in the state only.
      added.push(pickStateMembers(state));
      continue;
    }
    const key = `${parseKind(type) ?? type} ${name}`;
    const resource = pending.get(key);
    const spec = resource && specs[resource.kind];
    if (!resource || !spec) {
      problems.push(`the program would also create ${urn}: run pulumi up first, or take it out`);
      continue;
    }
    pending.delete(key);
    const planned = isObject(state["inputs"]) ? state["inputs"] : {};
    let inputs = (fillUnknowns(planned, resource.inputs) ?? {}) as Props;
    for (const { path, key: secret } of resource.secrets) {
      const value = parts.secrets.get(secret);
      if (value !== undefined) inputs = withMember(inputs, path.split("."), wrapSecret(value));
      else
        problems.push(
          `the secret ${secret} is not set: in the folder of the program, run pulumi config set --secret ${secret}`,
        );
    }
    const [declared, shown] = [resource.inputs, withoutProvider(inputs)].map((all) =>
      resource.secrets.reduce((masked, { path }) => withMember(masked, path.split("."), SECRET_MASK), all),
    ) as [Props, Props];
    if (diffInputs(spec, declared, shown).changed) {
      problems.push(
        `${urn} differs from what the organisation has (${resource.uid}): the file was edited, or belongs to another inventory`,
      );
    }
    const provider = referToProvider(stringOrEmpty(state["type"]).split(":")[0] ?? "", urn);
    added.push({ ...pickStateMembers(state), id: resource.uid, inputs, outputs: inputs, provider });
    urns.push(urn);
  }
  for (const { kind, name, uid } of pending.values()) {
    problems.push(
      `the preview creates no ${kind} "${name}" (${uid}): is the file that declares it a part of the program?`,
    );
  }
  if (problems.length > 0) throw new StateMergeError(problems);
  const exported = parts.exported as Record<string, Props>;
  const known = new Set(existing.map((row) => stringOrEmpty(row["urn"])));
  const resources = [...existing, ...sortByDependencies(added, known)];
  const document = { ...exported, deployment: { ...exported["deployment"], resources } };
  return { document, urns };
}
