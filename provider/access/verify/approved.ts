import { isDeepStrictEqual } from "node:util";
import { equal } from "../../fields/equal";
import type { ResourceSpec } from "../../fields/resourceSpec";
import type { Json, Props } from "../../fields/values";
import { isUid } from "../../text/uid";
import { SECRET_MASK, getOrCompute } from "../../fields/values";
import { DocumentError } from "../documents/jsonText";
import type { RecordedResource } from "../documents/engineState";
import type { InventoryObject } from "../documents/inventory";
import { specs } from "../documents/specs";
import { unreadReason } from "../effects";
import { entityOfObject } from "../graph/entities";
import { possibleGrants } from "../graph/accessKinds";
import { withoutRetained } from "../graph/entityKeys";
import { isReference, leavesIn, mapLeaves } from "../graph/inputLeaves";
import type { Leaf } from "../graph/inputLeaves";
import {
  createIgnoreCheck,
  declaredInputs,
  isComparable,
  isVerified,
  writtenInputs,
} from "../report/expected";
import { isUnread } from "../graph/unread";
import type { ExpectedEntity, ReviewReport } from "../report/report";
import { hasExpectedInputs, entityLabel } from "./compareExpected";
import { NO_INVENTORY } from "./verify";

/** Reads an object of the server; undefined where there is none. */
export type ReadObject = (kind: string, uid: string) => Promise<InventoryObject | undefined>;

/** A value at one path: what the report announces, and what the update is about to write. */
interface Pair {
  readonly leaf: Leaf;
  readonly announced: Json | undefined;
  readonly actual: Json | undefined;
  /** Of a reference that the review could not read: the keys of what it can name. */
  readonly candidates?: readonly string[] | undefined;
}

const leavesOf = (spec: ResourceSpec, inputs: Props) =>
  new Map(leavesIn(spec, inputs).map((leaf) => [leaf.path, leaf]));

/** What an update is about to write. */
type WrittenResource = Pick<RecordedResource, "urn" | "inputs" | "ignoreChanges"> & {
  readonly kind: string;
};

/** A resource of the report, with its uid where the review found it at the server. */
type Announced = Pick<ExpectedEntity, "kind" | "uid" | "inputs" | "candidates">;

/**
 * What an approved report lets an update write. A preview does not show what a program computes from values that exist only in
 * the update, so each resource is compared again when its values are known, before its request.
 */
export class ApprovedAccess {
  private readonly byKey = new Map<string, ExpectedEntity>();
  private readonly declared = new Map<string, Announced>();
  /** The uids of all that existed before or is announced to exist: none of them is what the update makes. */
  private readonly knownUids: ReadonlySet<string>;
  /** The resources of which somebody accepted that the review could not read a value. */
  private readonly acceptedUnread: ReadonlySet<string | undefined>;
  private readonly findIgnored: ReturnType<typeof createIgnoreCheck>;
  private readonly isMade = new Map<string, Promise<boolean>>();

  /**
   * @param isPreview whether values may be unknown yet: they are then not compared.
   * @throws DocumentError where the report was made without an inventory.
   */
  constructor(
    { expected, suppressed }: ReviewReport,
    private readonly read: ReadObject,
    private readonly isPreview: boolean,
  ) {
    if (expected === undefined) throw new DocumentError("PP6006", NO_INVENTORY);
    this.findIgnored = createIgnoreCheck(expected);
    for (const entity of expected.entities) {
      this.byKey.set(entity.key, entity);
      // The old object of a replacement that stays at the server is not what the program writes.
      const isLeft = withoutRetained(entity.key) !== entity.key;
      if (entity.urn !== undefined && !isLeft) this.declared.set(entity.urn, entity);
    }
    for (const resource of expected.declared ?? [])
      this.declared.set(resource.urn, { ...resource, uid: this.declared.get(resource.urn)?.uid });
    const known = [...expected.entities, ...(expected.owned ?? []), ...expected.before];
    const uids = known.flatMap(({ uid }) => (uid === undefined ? [] : [uid]));
    this.knownUids = new Set([...uids, ...expected.removed, expected.root]);
    this.acceptedUnread = new Set(suppressed.filter(({ id }) => id === "X3").map(({ urn }) => urn));
  }

  isAnnounced(urn: string): boolean {
    return this.declared.has(urn);
  }

  /**
   * Why a resource may not be written as it is, a line each; none where the report announces it so.
   */
  async problemsOf(resource: WrittenResource): Promise<string[]> {
    const { kind, urn, inputs } = resource;
    const spec = specs[kind];
    if (spec === undefined || !isVerified(kind)) return [];
    const announced = this.declared.get(urn);
    if (announced?.kind !== kind) return ["the approved report does not announce this resource"];
    const expected = declaredInputs(spec, announced.inputs);
    const actual = declaredInputs(spec, inputs);
    const { paths: judged } = possibleGrants({ ...announced, key: urn, inputs: expected, secretPaths: [] });
    const hidden = this.acceptedUnread.has(urn)
      ? []
      : unreadPaths(spec, expected).filter((path) => !judged.has(path));
    const unread = hidden.length === 0 ? [] : await this.withoutLive(spec, hidden, announced.uid, actual);
    const aligned = await this.align(spec, { ...announced, inputs: expected }, actual);
    const differing = Object.entries(spec.fields).flatMap(([key, field]) =>
      equal(field, expected[key], aligned[key]) ? [] : [key],
    );
    const ignored = this.findIgnored(resource);
    return [
      ...(ignored.length === 0
        ? []
        : [`ignoreChanges names what the approved report does not announce: ${ignored.join(", ")}`]),
      ...unread.map(
        (path) => `${path} could not be read by the review, so the approved report announces no value`,
      ),
      ...differing.map((key) =>
        unreadReason(actual[key]) === undefined
          ? `${key} is not what the approved report announces${this.describe(expected[key])}`
          : `${key} is not known yet: only an update can be compared with the report, so run pulumi up with --skip-preview`,
      ),
    ];
  }

  /** Those of some paths at which the server has another value. A secret that was one before, and stays as it is, has no X3. */
  private async withoutLive(
    spec: ResourceSpec,
    paths: readonly string[],
    uid: string | undefined,
    actual: Props,
  ): Promise<readonly string[]> {
    const object = uid === undefined ? undefined : await this.read(spec.kind, uid);
    if (object === undefined) return paths;
    const there = leavesOf(spec, declaredInputs(spec, object.inputs));
    const written = leavesOf(spec, actual);
    return paths.filter(
      (path) => !written.has(path) || !isDeepStrictEqual(there.get(path)?.value, written.get(path)?.value),
    );
  }

  /** In words what a reference was announced to be: no value, which may be a secret by now. */
  private describe(announced: Json | undefined): string {
    const entity = typeof announced === "string" ? this.byKey.get(announced) : undefined;
    return entity === undefined ? "" : `: ${entityLabel(entity)}`;
  }

  /** The arguments with the announced value in place of each that is it: what the report could not say, and uids of what is new. */
  private async align(
    spec: ResourceSpec,
    { inputs: announced, candidates = [] }: Announced,
    actual: Props,
  ): Promise<Props> {
    const expected = leavesOf(spec, announced);
    const candidatesAt = new Map(
      candidates.flatMap(({ paths, keys }) => paths.map((path) => [path, keys] as const)),
    );
    const pairs = leavesIn(spec, actual).map((leaf): [string, Pair] => {
      const { path, value } = leaf;
      const candidates = candidatesAt.get(path);
      return [path, { leaf, announced: expected.get(path)?.value, actual: value, candidates }];
    });
    const same = await Promise.all(
      pairs.map(async ([path, pair]) => ((await this.isAnnouncedValue(pair)) ? [path] : [])),
    );
    const paths = new Set(same.flat());
    const merged = mapLeaves(spec, actual, (value, { path }) =>
      paths.has(path) ? expected.get(path)?.value : value,
    );
    const isOpen = (key: string): boolean =>
      (isUnread(announced[key]) && !candidatesAt.has(key)) ||
      (this.isPreview && unreadReason(actual[key]) !== undefined);
    const open = Object.keys(spec.fields).filter(isOpen);
    return { ...merged, ...Object.fromEntries(open.map((key) => [key, announced[key]])) };
  }

  private async isAnnouncedValue({ leaf, announced, actual, candidates }: Pair): Promise<boolean> {
    if (isUnread(announced) && candidates !== undefined) {
      const named = await Promise.all(candidates.map((key) => this.isReferenceTo(key, actual)));
      return named.includes(true);
    }
    if (announced === SECRET_MASK || isUnread(announced)) return true;
    return isReference(leaf) && this.isReferenceTo(announced, actual);
  }

  /** Whether a uid is that of what the report calls by a key. */
  private async isReferenceTo(key: Json | undefined, uid: Json | undefined): Promise<boolean> {
    if (typeof key !== "string" || typeof uid !== "string" || !isUid(uid)) return false;
    const entity = this.byKey.get(key);
    if (entity?.uid !== undefined) return entity.uid === uid;
    return entity !== undefined && this.isNew(entity, uid);
  }

  /** Whether an object that did not exist before is the announced one: the server says what it is. */
  private isNew(entity: ExpectedEntity, uid: string): Promise<boolean> {
    if (this.knownUids.has(uid)) return Promise.resolve(false);
    const place = JSON.stringify([entity.key, uid]);
    return getOrCompute(this.isMade, place, () => this.compareNew(entity, uid));
  }

  private async compareNew({ key, kind, inputs }: ExpectedEntity, uid: string): Promise<boolean> {
    const spec = specs[kind];
    // Nothing tells apart two new objects with the same arguments, of which each may hold what is not meant for the other.
    const isTwin = (other: ExpectedEntity): boolean =>
      other.key !== key &&
      other.kind === kind &&
      other.uid === undefined &&
      isDeepStrictEqual(other.inputs, inputs);
    if ([...this.byKey.values()].some(isTwin)) return false;
    const object = await this.read(kind, uid);
    if (spec === undefined || object === undefined) return false;
    const entity = entityOfObject(object);
    const live = writtenInputs(spec, entity.inputs, (_key, field) => isComparable(field));
    const actual = leavesOf(spec, live);
    const references = leavesIn(spec, inputs).filter(isReference);
    const same = await Promise.all(
      references.map(async ({ path, value }) =>
        (await this.isReferenceTo(value, actual.get(path)?.value)) ? [path] : [],
      ),
    );
    const paths = new Set(same.flat());
    const expected = mapLeaves(spec, inputs, (value, { path }) =>
      paths.has(path) ? actual.get(path)?.value : value,
    );
    const { createTime } = object;
    return hasExpectedInputs(spec, expected, { ...entity, inputs: live, createTime });
  }
}

/** What decides access and the review could not read. */
function unreadPaths(spec: ResourceSpec, announced: Props): string[] {
  return leavesIn(spec, announced).flatMap(({ path, value, decidesAccess }) =>
    decidesAccess && unreadReason(value) !== undefined ? [path] : [],
  );
}
