import { referredKindOf } from "../fields/fieldSpec";
import type { FieldSpec } from "../fields/fieldSpec";
import type { Failure, ResourceSpec } from "../fields/resourceSpec";
import type { Json } from "../fields/values";
import { ADOPT, getOrCompute } from "../fields/values";
import { partsOf } from "../fields/walk";
import { isUid, lineage, parentOf } from "../text/uid";
import * as pulumi from "./sdk";

/*
 * Of which kind the uids of a program are: those of its resources, and those that its lookups returned. A preview knows
 * neither an id nor, from its form, of what it is. Where a uid comes from is known of the id itself only, not of what a
 * program makes of it.
 */

/** Where a uid comes from: its kind, and what messages call the object. */
interface UidSource {
  readonly kind: string;
  readonly label: string;
  /** The arguments of the resource; a lookup has none. */
  readonly args?: Readonly<Record<string, unknown>>;
}

const ids = new WeakMap<object, UidSource>();
/** What a run knows: the sources of uids, and whether the server is asked for others. */
const getKnownOfRun = pulumi.createPerRun(() => ({
  uids: new Map<string, UidSource>(),
  mayReadServer: true,
}));

const aKind = (kind: string): string => `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}`;

type Described = Pick<ResourceSpec, "kind" | "sharesParentUid">;

/** Remembers the id of a resource, unless it is that of another object as well. */
export function rememberId(
  { kind, sharesParentUid }: Described,
  name: string,
  id: object,
  args?: Readonly<Record<string, unknown>>,
): void {
  if (!sharesParentUid)
    ids.set(id, { kind, label: `the ${kind} ${JSON.stringify(name)}`, ...(args && { args }) });
}

/** Remembers the uid of what a lookup returned: an object, or several. */
export function rememberUids({ kind, sharesParentUid }: Described, found: unknown): void {
  if (sharesParentUid) return;
  for (const { uid } of [found].flat() as { uid?: unknown }[])
    if (typeof uid === "string") getKnownOfRun().uids.set(uid, { kind, label: aKind(kind) });
}

/** What each output has, and its public type lacks. */
interface KnownOutput {
  readonly isKnown: Promise<boolean>;
  promise(): Promise<unknown>;
}

/** What the engine takes for an argument: of a whole resource its id. */
export const idOrValue = (value: unknown): unknown =>
  pulumi.CustomResource.isInstance(value) ? value.id : value;

/** The plain value of an argument; undefined where a preview does not know it. */
export async function valueOf(value: unknown): Promise<unknown> {
  const output = pulumi.output(idOrValue(value)) as unknown as KnownOutput;
  return (await output.isKnown) ? await output.promise() : undefined;
}

interface Reference {
  readonly path: string;
  readonly kind: string;
  readonly value: unknown;
}

/** Whether a value is known only later. */
export function isLater(value: unknown): boolean {
  return pulumi.Output.isInstance(value) || value instanceof Promise;
}

function referencesIn(field: FieldSpec, path: string, value: unknown): Reference[] {
  const kind = referredKindOf(field);
  if (kind !== undefined) return [{ path, kind, value: idOrValue(value) }];
  if (isLater(value)) return [];
  return partsOf(field, value as Json).flatMap((part) =>
    referencesIn(part.field, `${path}${part.at}`, part.value),
  );
}

function checkReference({ path, kind }: Reference, source: UidSource | undefined): Failure[] {
  if (source === undefined || source.kind === kind) return [];
  const reason = `is the uid of ${source.label}: give the id of ${aKind(kind)}, or the uid that get${kind} finds`;
  return [{ property: path, reason, code: "PP1014" }];
}

const allReferences = ({ fields }: Pick<ResourceSpec, "fields">, args: Readonly<Record<string, unknown>>) =>
  Object.entries(fields).flatMap(([key, field]) => referencesIn(field, key, args[key]));

/**
 * Finds references to an object of another kind than theirs.
 * @param refuse Ends the program: what a lookup returns later fails it as soon as it is known.
 */
export function findWrongReferences(
  spec: ResourceSpec,
  args: Readonly<Record<string, unknown>>,
  refuse: (failure: Failure) => never,
): Failure[] {
  return allReferences(spec, args).flatMap((reference) => {
    const { value } = reference;
    const find = (uid: unknown) =>
      checkReference(reference, typeof uid === "string" ? getKnownOfRun().uids.get(uid) : undefined);
    if (!isLater(value)) return find(value);
    const source = ids.get(value as object);
    if (source !== undefined) return checkReference(reference, source);
    pulumi.all([value]).apply(([uid]) => {
      const [failure] = find(uid);
      if (failure !== undefined) refuse(failure);
    });
    return [];
  });
}

/** The uid behind a value: also that of an object that a new resource takes over. */
async function uidOf(value: unknown): Promise<string | undefined> {
  const known = (await valueOf(value)) ?? (await valueOf(sourceOf(value)?.args?.[ADOPT]));
  return isUid(known) ? known : undefined;
}

/** As `valueOf`; of the id of a resource that takes over an object, which a preview does not know, the uid of that. */
export const valueOrUidOf = async (value: unknown): Promise<unknown> =>
  (await uidOf(value)) ?? (await valueOf(value));

const sourceOf = (value: unknown): UidSource | undefined => {
  const given = idOrValue(value);
  return isLater(given) ? ids.get(given as object) : undefined;
};

/** A group and those above it: a uid where it is known, and else the output of a new one; undefined where some are not known. */
async function lineageOf(group: unknown): Promise<readonly unknown[] | undefined> {
  const uid = await uidOf(group);
  if (uid !== undefined) return lineage(uid);
  const source = sourceOf(group);
  if (source?.args === undefined) return undefined;
  const { parentUid } = source.args;
  if (parentUid === undefined) return [group];
  const above = await lineageOf(parentUid);
  return above && [...above, group];
}

/**
 * What is wrong with bindings of identities that cannot act where they are bound: an identity acts in its own group and below.
 * A preview knows of a new one what its arguments say.
 */
export async function findBoundElsewhere(
  spec: ResourceSpec,
  args: Readonly<Record<string, unknown>>,
): Promise<Failure[]> {
  const identities = allReferences(spec, args).filter(({ kind }) => kind === "Identity");
  if (identities.length === 0 || spec.owns === undefined) return [];
  const groups = await lineageOf(args["parentUid"]);
  if (groups === undefined) return [];
  const failures = identities.map(async ({ path, value }): Promise<Failure[]> => {
    const uid = await uidOf(value);
    const given = uid === undefined ? sourceOf(value)?.args?.["parentUid"] : parentOf(uid);
    const own = (await uidOf(given)) ?? (sourceOf(given)?.args && given);
    if (own === undefined || groups.includes(own)) return [];
    const reason =
      "is an identity of a group that is neither parentUid nor above it, and an identity can act in its own group and below only: bind it there, or move it into a group that holds both";
    return [{ property: path, reason, code: "PP1109" }];
  });
  return (await Promise.all(failures)).flat();
}

interface Absent {
  readonly uids: readonly string[];
  /** What to check where it is another server than was meant: the setting of its address, and the address. */
  readonly advice: string;
}

/** What a preview asks the server of one kind; the lookups do, which have a client. */
interface PreviewReads {
  /** Which of some uids nobody has, and at what address. */
  readonly findAbsent: (uids: readonly string[]) => Promise<Absent>;
  /** The objects directly below a group, or those at the root, as lookups return them; of very many the first. */
  readonly listBelow: (parentUid: string | undefined) => Promise<readonly object[]>;
}

const previewReads = new Map<string, PreviewReads>();

export function setPreviewReads(kind: string, ofKind: PreviewReads): void {
  previewReads.set(kind, ofKind);
}

const getListsOfRun = pulumi.createPerRun(() => new Map<string, Promise<readonly object[]>>());

/** The objects of a kind directly below a group, asked for once in a run; none where the server is not asked. */
export function listLive(kind: string, parentUid: string | undefined): Promise<readonly object[]> {
  const ofKind = previewReads.get(kind);
  if (!getKnownOfRun().mayReadServer || ofKind === undefined) return Promise.resolve([]);
  return getOrCompute(getListsOfRun(), `${kind} ${parentUid ?? ""}`, () => ofKind.listBelow(parentUid));
}

/** A provider of the program may have another address and another token than the lookups. */
export function trustWrittenUids(): void {
  getKnownOfRun().mayReadServer = false;
}

/** A uid that a program writes as text. */
export interface WrittenUid extends Reference {
  readonly value: string;
}

/** The uids that arguments have as text, and of which kind each must be. */
export const uidsOfArguments = (spec: ResourceSpec, args: Readonly<Record<string, unknown>>): WrittenUid[] =>
  [{ path: "adopt", kind: spec.kind, value: args[ADOPT] }, ...allReferences(spec, args)].filter(
    (reference): reference is WrittenUid => isUid(reference.value) && previewReads.has(reference.kind),
  );

/** The uids that a resource's arguments write as text, in a preview: an update has the server say it. */
export const findWrittenUids = (
  spec: ResourceSpec,
  args: Readonly<Record<string, unknown>>,
): readonly WrittenUid[] =>
  getKnownOfRun().mayReadServer && pulumi.isDryRun() ? uidsOfArguments(spec, args) : [];

/** Those of these that the server does not have, in their order. */
export async function findAbsentUids<T extends WrittenUid>(
  written: readonly T[],
): Promise<readonly (T & { readonly advice: string })[]> {
  if (!getKnownOfRun().mayReadServer) return [];
  const absent = new Map<string, Absent>();
  await Promise.all(
    [...previewReads].map(async ([kind, { findAbsent }]) => {
      const uids = new Set(written.flatMap((one) => (one.kind === kind ? [one.value] : [])));
      if (uids.size > 0) absent.set(kind, await findAbsent([...uids].sort()));
    }),
  );
  return written.flatMap((one) => {
    const { uids = [], advice = "" } = absent.get(one.kind) ?? {};
    return uids.includes(one.value) ? [{ ...one, advice }] : [];
  });
}

/**
 * What is wrong with a reference to what the server does not have.
 * @param others how many other arguments of the program are the same uid
 */
export function describeAbsent(
  { path, kind, value, advice }: WrittenUid & { readonly advice: string },
  others: number,
): Failure {
  const root = kind === "Group" ? "; doctor prints those of the root groups" : "";
  const also = others === 0 ? "" : ` (and ${others} other arguments of this program have it)`;
  const reason = `${JSON.stringify(value)} is the uid of no ${kind} that the token may see${also}: give the id of ${aKind(kind)}, or the uid that get${kind} finds${root}; or ${advice}`;
  return { property: path, reason, code: "PP3405" };
}
