import { createHash } from "node:crypto";
import { compare } from "../../provider/access/review/compare";
import type { Comparison } from "../../provider/access/review/comparison";
import { UNKNOWN } from "../../provider/fields/values";
import type { Json, Props } from "../../provider/fields/values";
import { listedKinds } from "../../provider/access/documents/inventory";
import { inventoryOf, preview, state, step, urn } from "./documents";
import type { State } from "./documents";

/** A uid: 40 hex digits made of a word, and 16 for each further part. */
export function uid(...parts: string[]): string {
  const hex = (text: string, length: number): string =>
    Buffer.from(text).toString("hex").padEnd(length, "0").slice(0, length);
  return parts.map((part, i) => hex(part, i === 0 ? 40 : 16)).join("/");
}

/** The organisation of these tests, and two groups in it, one below the other. */
export const acme = uid("acme");
export const payments = `${acme}/${"1".repeat(16)}`;
export const cards = `${payments}/${"2".repeat(16)}`;

/** A resource as a test describes it. Other resources refer to it by its uid, also before it has one. */
export interface Resource {
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
  /** A line of the program: `project:///index.ts#7`. */
  readonly sourcePosition?: string;
}

type Given = Partial<Omit<Resource, "inputs" | "kind" | "urn">>;

/** The last part of a uid, which differs for each resource. */
const digestOf = (...parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);

export function resource(kind: string, name: string, inputs: Props, given: Given = {}): Resource {
  const { parentUid } = inputs;
  const parent = typeof parentUid === "string" && parentUid.startsWith(acme) ? parentUid : acme;
  return {
    kind,
    uid: `${parent}/${digestOf(kind, name)}`,
    urn: urn(kind, name),
    inputs: { name, ...inputs },
    ...given,
  };
}

export const group = (name: string, own: string, given: Given = {}): Resource => {
  const parentUid = own.includes("/") ? own.slice(0, own.lastIndexOf("/")) : undefined;
  return resource("Group", name, parentUid === undefined ? {} : { parentUid }, { uid: own, ...given });
};

/** The three groups, as a program that does not manage the organisation sees them. */
export const groups = [
  group("acme", acme, { external: true }),
  group("payments", payments),
  group("cards", cards),
];

export const identity = (name: string, trust: Props, given?: Given): Resource =>
  resource("Identity", name, { parentUid: payments, ...trust }, given);

export const claims = (claimMatch: Props): Props => ({ claimMatch });

/** Of GitHub Actions, the main branch of one repository. */
export const pinned = claims({
  issuer: "https://token.actions.githubusercontent.com",
  subject: "repo:acme/pay:ref:refs/heads/main",
});

export const role = (name: string, capabilities: string[], given?: Given): Resource =>
  resource("Role", name, { parentUid: acme, capabilities: capabilities.map((cap) => `CAP_${cap}`) }, given);

const builtIn = (name: string, capabilities: string[]): Resource =>
  role(name, capabilities, { uid: uid(name), builtIn: true, external: true });

export const viewer = builtIn("viewer", [
  "IAM_GROUPS_LIST",
  "IAM_IDENTITY_PROVIDERS_LIST",
  "REPO_LIST",
  "REPO_BLOBS_GET",
]);
export const pusher = builtIn("registry.push", ["REPO_LIST", "MANIFEST_CREATE", "TAG_CREATE"]);
export const owner = builtIn("owner", [
  "IAM_GROUPS_LIST",
  "IAM_GROUPS_DELETE",
  "IAM_ROLES_UPDATE",
  "IAM_ROLE_BINDINGS_CREATE",
  "IAM_IDENTITY_UPDATE",
  "REPO_LIST",
  "TAG_CREATE",
]);

export function binding(who: Resource, what: Resource, where: string, given?: Given): Resource {
  const inputs = { parentUid: where, identityUid: who.uid, roleUid: what.uid };
  const name = `${who.inputs["name"] as string}-${what.inputs["name"] as string}-${where.length}`;
  return resource("RoleBinding", name, { name: undefined, ...inputs }, given);
}

/** Replaces each reference to what has no uid yet, as a preview does, and names the resources referred to. */
class References {
  readonly dependencies: Record<string, string[]> = {};

  constructor(
    private readonly managed: ReadonlyMap<string, Resource>,
    private readonly isUnknown: (uid: string) => boolean,
  ) {}

  resolve(inputs: Props): Props {
    return Object.fromEntries(
      Object.entries(inputs).map(([property, value]) => [property, this.resolveValue(property, value)]),
    );
  }

  private resolveValue(property: string, value: Json | undefined): Json | undefined {
    if (typeof value !== "string") {
      if (Array.isArray(value)) return value.map((item) => this.resolveValue(property, item) ?? null);
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, member]) => [key, this.resolveValue(property, member)]),
      );
    }
    const referred = this.managed.get(value);
    if (referred === undefined) return value;
    (this.dependencies[property] ??= []).push(referred.urn);
    return this.isUnknown(value) ? UNKNOWN : value;
  }
}

function stateOf({ kind, uid: id, ...given }: Resource, references: References, hasId: boolean): State {
  const { urn: own, inputs, outputs, protect, isRead, sourcePosition } = given;
  const name = own.slice(own.lastIndexOf("::") + 2);
  const resolved = references.resolve(inputs);
  const { dependencies } = references;
  const flags = { urn: own, outputs: { ...resolved, ...outputs }, protect, external: isRead, sourcePosition };
  return state(kind, name, resolved, { ...(hasId ? { id } : {}), dependencies, ...flags });
}

/** What a test adds to the two lists of resources. */
export interface ComparisonOptions {
  readonly replaced?: readonly Resource[];
  /** The program then reads with `.get` what it does not manage. */
  readonly withoutInventory?: boolean;
  /** What the server has, where it was changed by hand since the program was applied. */
  readonly live?: readonly Resource[];
  /** Who took the inventory. */
  readonly caller?: string;
  /** Further steps of the preview. */
  readonly steps?: readonly { readonly op: string }[];
}

const byUid = (resources: readonly Resource[]): Map<string, Resource> =>
  new Map(resources.map((each) => [each.uid, each]));

/** Writes the preview of the change from one list of resources to the other, with the inventory before it, and compares. */
export function compareResources(
  before: readonly Resource[],
  after: readonly Resource[],
  { replaced = [], withoutInventory = false, steps = [], live = before, caller }: ComparisonOptions = {},
): Comparison {
  const asRead = (each: Resource): Resource =>
    withoutInventory && each.external === true ? { ...each, isRead: true } : each;
  const isInProgram = (each: Resource): boolean => each.external !== true || each.isRead === true;
  const [old, now] = [before, after].map((all) => byUid(all.map(asRead).filter(isInProgram))) as [
    Map<string, Resource>,
    Map<string, Resource>,
  ];
  const isUnknown = (own: string): boolean => !old.has(own) || replaced.some((each) => each.uid === own);
  const stateBefore = (each: Resource) => stateOf(each, new References(old, () => false), true);
  const stepOf = (own: string) => {
    const [was, is] = [old.get(own), now.get(own)];
    const oldState = was && stateBefore(was);
    if (is === undefined) return step("delete", oldState);
    const newState = stateOf(is, new References(now, isUnknown), !isUnknown(own));
    if (oldState === undefined) return step("create", undefined, newState);
    const isSame = JSON.stringify(oldState.inputs) === JSON.stringify(newState.inputs);
    return step(isUnknown(own) ? "replace" : isSame ? "same" : "update", oldState, newState);
  };
  const objects = live.flatMap(liveObjects);
  const uids = [...new Set([...now.keys(), ...old.keys()])];
  return compare({
    preview: preview(...uids.map(stepOf), ...steps),
    ...(withoutInventory
      ? {}
      : {
          inventory: {
            ...inventoryOf(acme, ...objects.map(objectOf)),
            kinds: listedKinds,
            ...(caller === undefined ? {} : { caller }),
          },
        }),
  });
}

/** What the server has of a resource: the bindings of one that owns all of them. */
function liveObjects(each: Resource): Resource[] {
  if (each.isRead === true) return [];
  if (each.kind !== "GroupAccess") return [each];
  const { parentUid, bindings } = each.inputs;
  return Object.values(bindings as Record<string, Props>).map((grant) => ({
    ...each,
    kind: "RoleBinding",
    uid: `${parentUid as string}/${digestOf("RoleBinding", parentUid, grant)}`,
    inputs: { parentUid, ...grant },
  }));
}

/** The resource as the server holds it. */
export function objectOf({ kind, uid: own, inputs, builtIn: isBuiltIn, lastSeenTime }: Resource) {
  return {
    kind,
    uid: own,
    inputs,
    ...(isBuiltIn === true ? { builtIn: isBuiltIn } : {}),
    ...(lastSeenTime === undefined ? {} : { lastSeenTime }),
  };
}
