import { findDrift } from "../../provider/access/drift/drift";
import type { DriftRequest } from "../../provider/access/drift/drift";
import type { Inventory, InventoryObject } from "../../provider/access/documents/inventory";
import { parsePreview } from "../../provider/access/documents/preview";
import type { Preview } from "../../provider/access/documents/preview";
import { defaultRuleOptions, findingsOf } from "../../provider/access/rules";
import { withNamedKinds } from "./namedKinds";
import type { RuleOptions } from "../../provider/access/rules";
import { parseStateExport } from "../../provider/access/documents/stateExport";
import type { StateExport } from "../../provider/access/documents/stateExport";
import { listedKinds } from "../../provider/access/documents/inventory";
import type { Props } from "../../provider/fields/values";
import { exportText, pairsOf, previewText } from "../../scripts/lib/documents.cjs";

/* Documents of an organisation of a few objects, without a server: what a stack records, and what lives. */

export const NOW = Date.parse("2026-06-01T00:00:00Z");
export const org = "0".repeat(40);

export interface Live {
  readonly kind: string;
  readonly uid: string;
  readonly inputs: Props;
  /** What only the server sets. */
  readonly details?: Props;
  readonly builtIn?: true;
}

let count = 0;

/** An object below a group, with a uid of its own. */
export function live(kind: string, inputs: Props, parentUid = org): Live {
  count += 1;
  return {
    kind,
    uid: `${parentUid}/${count.toString(16).padStart(16, "0")}`,
    inputs: { parentUid, ...inputs },
  };
}

/** The organisation itself. */
export const root: Live = { kind: "Group", uid: org, inputs: { name: "acme" } };

export const builtIn = (name: string, digit: string, capabilities: string[]): Live => ({
  kind: "Role",
  uid: digit.repeat(40),
  inputs: { name, capabilities },
  builtIn: true,
});

export const bind = (who: Live, role: Live, at = org): Live =>
  live("RoleBinding", { identityUid: who.uid, roleUid: role.uid }, at);

/** What an identity of GitHub Actions trusts. */
export const ofGitHub = (subject: string) => ({
  claimMatch: { issuer: "https://token.actions.githubusercontent.com", subject },
});

export const edit = (object: Live, inputs: Props): Live => ({
  ...object,
  inputs: { ...object.inputs, ...inputs },
});

/** A sample's arguments with uids in place of references. */
export const argumentsOf = (args: Record<string, unknown>): Props =>
  JSON.parse(
    JSON.stringify(args).replace(/"\$\{[\w-]+\}"/g, JSON.stringify(`${org}/${"9".repeat(16)}`)),
  ) as Props;

const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };

/** A secret as an export has it: with its plain text, as `--show-secrets` writes it, or without. */
export const secret = (value: unknown, isShown = true): Record<string, string> =>
  isShown ? { ...SECRET, plaintext: JSON.stringify(value) } : { ...SECRET, ciphertext: "v1:x" };

type Recorded = Pick<Live, "kind" | "uid"> & {
  readonly inputs: unknown;
  readonly outputs?: Props;
  readonly created?: string;
};

/** The object with a name for its resource. */
export const named = ({ kind, uid, inputs, outputs, created }: Recorded) => ({
  kind,
  uid,
  created,
  inputs: inputs as Props,
  ...(outputs === undefined ? {} : { outputs }),
  name: `${kind}-${uid.slice(-4)}`,
});

/** What a stack records of some objects. Secrets are kept as `drift --stack` keeps them. */
export function stateOf(objects: readonly Recorded[], stack?: string): StateExport {
  return parseStateExport(exportText(objects.map(named), stack), "export.json", { withSecrets: true });
}

export function inventoryOf(objects: readonly Live[], more: Partial<Inventory> = {}): Inventory {
  return {
    schemaVersion: 1,
    root: org,
    takenAt: "2026-06-01T00:00:00Z",
    complete: true,
    refused: [],
    kinds: listedKinds,
    objects: objects.map((object): InventoryObject => object),
    ...more,
  };
}

/** The preview of a program that turns some objects into others. */
export const previewOf = (before: readonly Live[], after: readonly Live[]): Preview =>
  parsePreview(previewText(pairsOf(before.map(named), after.map(named))), "preview.json");

export const rulesWith =
  (options: Partial<RuleOptions> = {}) =>
  (...[comparison]: Parameters<NonNullable<DriftRequest["rules"]>>) =>
    withNamedKinds(findingsOf(comparison, { ...defaultRuleOptions(NOW), ...options }));

/** Drift between what a stack records and what lives, judged by all rules. */
export function driftBetween(
  states: readonly StateExport[],
  objects: readonly Live[],
  more: Partial<DriftRequest> = {},
) {
  const inventories = [inventoryOf(objects)];
  return findDrift({
    states,
    inventories,
    failOn: "any",
    now: NOW,
    version: "0",
    rules: rulesWith(),
    ...more,
  });
}
