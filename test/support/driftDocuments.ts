import { findDrift } from "../../provider/access/drift/drift";
import type { DriftRequest } from "../../provider/access/drift/drift";
import type { Inventory, InventoryObject } from "../../provider/access/documents/inventory";
import { parsePreview } from "../../provider/access/documents/preview";
import type { Preview } from "../../provider/access/documents/preview";
import { defaultRuleOptions, findingsOf } from "../../provider/access/rules";
import type { RuleOptions } from "../../provider/access/rules";
import { parseStateExport } from "../../provider/access/documents/stateExport";
import type { StateExport } from "../../provider/access/documents/stateExport";
import { listedKinds } from "../../provider/access/documents/inventoryKinds";
import type { Props } from "../../provider/engine/description";

/* Documents of an organisation of a few objects, without a server: what a stack records, and what lives. */

export const NOW = Date.parse("2026-06-01T00:00:00Z");
export const org = "0".repeat(40);

export interface Live {
  readonly kind: string;
  readonly uid: string;
  readonly inputs: Props;
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

const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };

/** A secret as an export has it: with its plain text, as `--show-secrets` writes it, or without. */
export const secret = (value: unknown, isShown = true): Record<string, string> =>
  isShown ? { ...SECRET, plaintext: JSON.stringify(value) } : { ...SECRET, ciphertext: "v1:x" };

export function stateRow(
  { kind, uid, inputs }: Pick<Live, "kind" | "uid"> & { inputs: unknown },
  stack = "prod",
) {
  const type = `pulumi-nodejs:dynamic/platform:${kind}`;
  const held = {
    ...(inputs as Props),
    __provider: `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`,
  };
  const urn = `urn:pulumi:${stack}::acme::${type}::${kind}-${uid.slice(-4)}`;
  return { urn, type, custom: true, id: uid, inputs: held, outputs: held };
}

/** What a stack records of some objects. Secrets are kept as `drift --stack` keeps them. */
export function stateOf(
  objects: readonly (Pick<Live, "kind" | "uid"> & { readonly inputs: unknown })[],
  stack = "prod",
): StateExport {
  const resources = objects.map((object) => stateRow(object, stack));
  return parseStateExport(JSON.stringify({ version: 3, deployment: { resources } }), "export.json", {
    withSecrets: true,
  });
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
export function previewOf(before: readonly Live[], after: readonly Live[]): Preview {
  const [old, now] = [before, after].map((objects) => new Map(objects.map((object) => [object.uid, object])));
  const steps = [...new Set([...before, ...after].map(({ uid }) => uid))].map((uid) => {
    const [was, is] = [old?.get(uid), now?.get(uid)];
    const oldState = was && stateRow(was);
    const newState = is && { ...stateRow(is), propertyDependencies: {} };
    if (newState !== undefined && oldState === undefined) delete (newState as { id?: string }).id;
    const isSame = JSON.stringify(was?.inputs) === JSON.stringify(is?.inputs);
    const op =
      oldState === undefined ? "create" : newState === undefined ? "delete" : isSame ? "same" : "update";
    return { op, urn: (oldState ?? newState)?.urn, oldState, newState };
  });
  return parsePreview(JSON.stringify({ steps, changeSummary: {} }), "preview.json");
}

export const rulesWith =
  (options: Partial<RuleOptions> = {}) =>
  (...[comparison]: Parameters<NonNullable<DriftRequest["rules"]>>) =>
    findingsOf(comparison, { ...defaultRuleOptions(NOW), ...options });

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
