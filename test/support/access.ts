import { parseStateExport } from "../../provider/access/documents/stateExport";
import { compare } from "../../provider/access/review/compare";
import type { Comparison } from "../../provider/access/review/compare";
import { lastPartOf, listResources, preview, stepsOf, urn } from "../../provider/access/rules/ruleTesting";
import type { DescribedResource } from "../../provider/access/rules/ruleTesting";
import type { Props } from "../../provider/fields/values";
import { exportText } from "../../scripts/lib/documents.cjs";

export { objectOf } from "../../provider/access/rules/ruleTesting";

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

export type Resource = DescribedResource;

type Given = Partial<Omit<Resource, "inputs" | "kind" | "urn">>;

export function resource(kind: string, name: string, inputs: Props, given: Given = {}): Resource {
  const { parentUid } = inputs;
  const parent = typeof parentUid === "string" && parentUid.startsWith(acme) ? parentUid : acme;
  return {
    kind,
    uid: `${parent}/${lastPartOf(kind, name)}`,
    urn: urn(kind, name),
    inputs: { name, ...inputs },
    ...given,
  };
}

export const group = (name: string, own: string, given: Given = {}): Resource => {
  const parentUid = own.includes("/") ? own.slice(0, own.lastIndexOf("/")) : undefined;
  return resource("Group", name, parentUid === undefined ? {} : { parentUid }, { uid: own, ...given });
};

/** The resource with other arguments. */
export const edit = (one: Resource, inputs: Props): Resource => ({
  ...one,
  inputs: { ...one.inputs, ...inputs },
});

/** What no stack records. */
export const byHand = (one: Resource): Resource => ({ ...one, external: true });

/** The three groups, as a program that does not manage the organisation sees them. */
export const groups = [
  group("acme", acme, { external: true }),
  group("payments", payments),
  group("cards", cards),
];

export const identity = (name: string, trust: Props, given?: Given): Resource =>
  resource("Identity", name, { parentUid: payments, ...trust }, given);

export const claims = (claimMatch: Props): Props => ({ claimMatch });

export const GITHUB = "https://token.actions.githubusercontent.com";

/** Of GitHub Actions, the main branch of one repository. */
export const pinned = claims({
  issuer: GITHUB,
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

/** What stands beside the two lists of resources. */
export interface ComparisonOptions {
  readonly replaced?: readonly Resource[];
  /** The program then reads with `.get` what it does not manage. */
  readonly withoutInventory?: boolean;
  /** What the server has, where it was changed by hand since the program was applied. */
  readonly live?: readonly Resource[];
  /** What other stacks record. */
  readonly otherStacks?: readonly Resource[];
  /** Who took the inventory. */
  readonly caller?: string;
  /** Further steps of the preview. */
  readonly steps?: readonly { readonly op: string }[];
}

/** Writes the preview of the change from one list of resources to the other, with the inventory before it, and compares. */
export function compareResources(
  before: readonly Resource[],
  after: readonly Resource[],
  {
    replaced,
    withoutInventory = false,
    steps = [],
    live = before,
    otherStacks = [],
    caller,
  }: ComparisonOptions = {},
): Comparison {
  const asRead = (each: Resource): Resource =>
    withoutInventory && each.external === true ? { ...each, isRead: true } : each;
  return compare({
    preview: preview(...stepsOf(before.map(asRead), after.map(asRead), replaced), ...steps),
    inventory: withoutInventory ? undefined : { ...listResources(acme, live), caller },
    otherStacks: [
      parseStateExport(exportText(otherStacks.map((each) => ({ ...each, name: lastPartOf(each.urn) })))),
    ],
  });
}
