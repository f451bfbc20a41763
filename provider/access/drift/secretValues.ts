import { aggregatedKind } from "../../fields/resourceSpec";
import type { ResourceSpec } from "../../fields/resourceSpec";
import { SECRET_MASK, isObject } from "../../fields/values";
import type { Json, Props } from "../../fields/values";
import type { PlainSecrets, RecordedResource } from "../documents/engineState";
import { isReference, mapLeaves, isPathWithin } from "../graph/references";
import type { Leaf } from "../graph/references";
import type { DriftNotes, ManagedResource } from "./difference";

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
  return isObject(value) ? revealMembers(value, live, `${path}.`, secrets) : value;
}

interface Secrets {
  readonly paths: ReadonlySet<string>;
  readonly plaintext: PlainSecrets | undefined;
}

/** Reveals the secrets inside of an object. Keys may contain any character, so paths are composed and never split. */
function revealMembers(recorded: Props, live: Json | undefined, prefix: string, secrets: Secrets): Props {
  const entries = Object.entries(recorded)
    .map(([key, value]): [string, Json | undefined] => {
      const liveValue = isObject(live) && Object.hasOwn(live, key) ? live[key] : undefined;
      return [key, reveal(value, liveValue, `${prefix}${key}`, secrets)];
    })
    .filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** Whether a field is sent and never returned. */
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

/** The leaves of a resource's arguments that its state records as secrets. */
function secretLeaves(spec: ResourceSpec, { inputs, secretPaths }: RecordedResource): Leaf[] {
  const paths = new Set(secretPaths);
  const leaves: Leaf[] = [];
  mapLeaves(spec, inputs, (value, leaf) => {
    if (paths.has(leaf.path)) leaves.push(leaf);
    return value;
  });
  return leaves;
}

/** The secrets that responses contain too. The response of a collection shows which of its members it lacks. */
function comparableLeaves({ spec, resource }: ManagedResource): Leaf[] {
  if (resource.secretPaths.length === 0) return [];
  const isCollection = aggregatedKind(spec) !== undefined;
  return secretLeaves(spec, resource).filter(({ path }) => isCollection || !isInputOnly(spec, path));
}

/** The recorded arguments to compare with live ones. Notes each secret that is not compared. */
export function recordedArguments(managed: ManagedResource, live: Props, notes: DriftNotes): Props {
  const { resource, stack } = managed;
  const leaves = comparableLeaves(managed);
  if (leaves.length === 0) return resource.inputs;
  for (const { path, decidesAccess } of leaves) {
    if (resource.secrets?.has(path)) continue;
    const line = `${stack}: ${path} of ${resource.urn} is a secret in the state, and was not compared`;
    if (decidesAccess)
      notes.incomplete.add(`${line}, though it decides access: use --stack, which reads the secrets`);
    else notes.unresolved.add(line);
  }
  const secrets = { paths: new Set(leaves.map(({ path }) => path)), plaintext: resource.secrets };
  return revealMembers(resource.inputs, live, "", secrets);
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
