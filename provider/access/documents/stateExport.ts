import { sortedJson, timestampNanos } from "../../fields/formats";
import { isObject } from "../../fields/values";
import { sha256 } from "./digest";
import {
  cliVersionOf,
  findOtherCase,
  findForeignProviders,
  isDefaultProvider,
  readState,
  urnParts,
  withForeignProvider,
} from "./engineState";
import type { RecordedResource } from "./engineState";
import { listFirst, plural } from "../../text/plain";
import { printable } from "../../text/printable";
import { rootOf } from "../../text/uid";
import { DocumentError, parseJson, checkResourceSize, labelOfUrn } from "./jsonText";

const EXPORT = "write it with pulumi stack export --file export.json";

/** What a stack records, as `pulumi stack export` writes it. */
export interface StateExport {
  /** `project/stack`; undefined of an empty stack. */
  readonly stack?: string;
  /** 3 or 4. */
  readonly version: number;
  /** In the document's order, without the rests of replacements. */
  readonly resources: readonly RecordedResource[];
  /** The rests of replacements that were not done to their end: still at the server, perhaps. */
  readonly pendingDeletes: readonly RecordedResource[];
  /** Operations that an interrupted update left open: what they did is in no state. */
  readonly pendingOperations: number;
  /** The urns of those that created something. */
  readonly pendingCreates?: readonly string[];
  /** The version of the Pulumi CLI that wrote the state: `v3.230.0`. */
  readonly cli?: string;
  /** When the engine wrote the state. */
  readonly time?: string;
}

/**
 * A recorded resource as a text of all that a review believes of it: an export and a preview have the same. A refresh takes the
 * dependencies away, by which only values that are not known yet are resolved.
 */
export function recordLine(resource: RecordedResource): string {
  const omitted = {
    kind: undefined,
    notReviewed: undefined,
    location: undefined,
    secrets: undefined,
    dependencies: undefined,
    created: undefined,
  };
  return sortedJson({ ...resource, ...omitted });
}

/** SHA-256 of recorded resources in any order, hex: the same of an export and of the states before a preview. */
export const digestRecord = (resources: readonly RecordedResource[]): string =>
  // Thousands of resources are many megabytes: what is kept of each is its digest.
  sha256([...new Set(resources.map((resource) => sha256(recordLine(resource))))].sort().join("\n"));

/** All that an export records, rests of replacements included, but for the engine's own providers, which no preview shows. */
export const listRecorded = ({ resources, pendingDeletes }: StateExport): readonly RecordedResource[] =>
  [...resources, ...pendingDeletes].filter(({ urn }) => !isDefaultProvider(urn));

/** A resource whose object the stack manages: not one that it only reads. */
export type ManagedState = RecordedResource & { readonly kind: string; readonly id: string };

/** What a stack manages, of the kinds of this package. */
export function listManaged({ resources }: Pick<StateExport, "resources">): ManagedState[] {
  return resources.filter(
    (resource): resource is ManagedState =>
      resource.kind !== undefined && resource.id !== undefined && !resource.external,
  );
}

function timeOf(manifest: unknown): string | undefined {
  const time = isObject(manifest) ? manifest["time"] : undefined;
  return typeof time === "string" && timestampNanos(time) !== undefined ? time : undefined;
}

/** @throws DocumentError for a member that the engine reads, and that is not read here. */
function checkCase(member: string | undefined, name: string): void {
  if (member === undefined) return;
  throw new DocumentError(
    "PP6003",
    `${name} has the member ${printable(member, 80)}, which the engine writes in another case: ${EXPORT}`,
  );
}

/** @throws DocumentError where the text is not one stack export of a known version. */
function checkExport(
  document: Record<string, unknown>,
  name: string,
): { readonly version: number; readonly deployment: Record<string, unknown> } {
  const { version, deployment } = document;
  if (!isObject(deployment)) throw new DocumentError("PP6002", `${name} is no stack export: ${EXPORT}`);
  checkCase(findOtherCase(document, ["version", "deployment"]), name);
  checkCase(findOtherCase(deployment, ["resources", "pending_operations", "manifest"]), name);
  if (version !== 3 && version !== 4) {
    throw new DocumentError(
      "PP6003",
      `${name} is a stack export of version ${JSON.stringify(version ?? null).slice(0, 20)}, and only 3 and 4 are known: write it with a newer CLI, or use a newer version of this package`,
    );
  }
  return { version, deployment };
}

/**
 * Reads the output of `pulumi stack export`, with or without `--show-secrets`: no secret is kept, unless it is asked for.
 *
 * @param input text or bytes, with Windows' newlines and a byte order mark too.
 * @param name what messages call it: a path.
 * @param options `withSecrets`: keeps the plain text of secret inputs, for comparisons alone.
 * @throws DocumentError in one line.
 */
export function parseStateExport(
  input: string | Uint8Array,
  name = "the export",
  options: { readonly withSecrets?: boolean } = {},
): StateExport {
  const { version, deployment } = checkExport(parseJson(input, name, EXPORT), name);
  const { resources: rows, pending_operations: pending, manifest } = deployment;
  const resources: RecordedResource[] = [];
  const pendingDeletes: RecordedResource[] = [];
  for (const row of Array.isArray(rows) ? (rows as unknown[]) : []) {
    checkCase(findOtherCase(row), name);
    checkResourceSize(row, name);
    const resource = readState(row, "export", options);
    if (resource === undefined) {
      throw new DocumentError("PP6003", `${name} has a resource without urn or type: ${EXPORT}`);
    }
    (resource.pendingDelete ? pendingDeletes : resources).push(resource);
  }
  const foreign = findForeignProviders(resources);
  const judge = (resource: RecordedResource) => withForeignProvider(resource, foreign);
  const [first] = resources;
  const { stack, project } = urnParts(first?.urn ?? "");
  return {
    stack: first === undefined ? undefined : `${project}/${stack}`,
    version,
    resources: resources.map(judge),
    pendingDeletes: pendingDeletes.map(judge),
    pendingCreates: asPendingCreates(pending),
    pendingOperations: Array.isArray(pending) ? pending.length : 0,
    cli: cliVersionOf(manifest),
    time: timeOf(manifest),
  };
}

/**
 * What an interrupted update left open, and what to do about it. Pulumi forgets an interrupted delete or update when it writes
 * the state, and leaves an interrupted create in it.
 */
export function describeInterrupted({
  pendingOperations,
  pendingCreates = [],
}: Pick<StateExport, "pendingOperations" | "pendingCreates">): string {
  const what = `an update of the stack was interrupted, and its state does not say how ${plural(pendingOperations, "operation")} ended`;
  if (pendingCreates.length === 0) return `${what}: run pulumi up again, or pulumi refresh`;
  const creates = listFirst(pendingCreates.map(labelOfUrn));
  return `${what}. Whether ${creates} was created is not recorded: take over what was (adopt), or delete it, and run pulumi refresh --clear-pending-creates`;
}

/** The resources that an interrupted update was creating, of the pending operations of an export. */
export function asPendingCreates(pending: unknown): string[] {
  return (Array.isArray(pending) ? (pending as unknown[]) : []).flatMap((operation) => {
    const { type, resource } = isObject(operation) ? operation : {};
    const urn = isObject(resource) ? resource["urn"] : undefined;
    return type === "creating" && typeof urn === "string" ? [urn] : [];
  });
}

/** The organisations that states manage something of: the uids of their root groups, sorted. */
export function organisationsOf(states: readonly StateExport[]): string[] {
  return [...new Set(states.flatMap(listManaged).map(({ id }) => rootOf(id)))].sort();
}
