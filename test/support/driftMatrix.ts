import type { Emulator } from "../../emulator";
import { findDrift } from "../../provider/access/drift/drift";
import type { DriftRequest } from "../../provider/access/drift/drift";
import type { DriftReport } from "../../provider/access/report/report";
import type { StateExport } from "../../provider/access/documents/stateExport";
import { listedKinds } from "../../provider/access/documents/inventoryKinds";
import { takeInventory } from "../../provider/inventory/takeInventory";
import { tokenSource } from "../../provider/api/auth";
import { Client } from "../../provider/api/client";
import { addresses, bodyOf, withUids } from "./byHand";
import { createOnlyOutputs } from "../../provider/engine/description";
import type { Props } from "../../provider/engine/description";
import { specOf } from "../provider/support/samples";
import { memberAt, nested, ownOf, propertyPathOf, samples } from "./samples";
import type { FieldCase, Sample } from "./samples";
import { call } from "./wire";
import { isQuick } from "./properties";

/** What the matrix runs on: an emulator, and what one stack with every sample records. */
export interface Surveyed {
  readonly emulator: Emulator;
  readonly states: readonly StateExport[];
  /** The uids by the names that the program gave them. */
  readonly ids: Readonly<Record<string, string>>;
}

export function clientOf(emulator: Emulator): Client {
  return new Client({
    baseUrl: emulator.url,
    timeoutMs: 60_000,
    maxRetries: 1,
    maxConcurrency: 8,
    tokens: tokenSource({ kind: "token", token: emulator.token, setting: "PLATFORM_TOKEN" }),
    policy: { firstDelayMs: 1, maxDelayMs: 5 },
  });
}

/** Compares the states with the emulator as it is now. */
export async function survey(
  { emulator, states }: Surveyed,
  more: Partial<DriftRequest> = {},
): Promise<DriftReport> {
  const managed = states.flatMap(({ resources }) => resources).filter(({ external }) => !external);
  const roots = [
    ...new Set(managed.flatMap(({ kind, id }) => (kind === undefined ? [] : [id?.split("/")[0] ?? ""]))),
  ];
  const inventories = await Promise.all(
    roots.sort().map((root) => {
      const also = new Map<string, string[]>();
      for (const { kind, id = "" } of managed) {
        if (kind !== undefined && !listedKinds.includes(kind) && (id === root || id.startsWith(`${root}/`))) {
          also.set(kind, [...(also.get(kind) ?? []), id]);
        }
      }
      return takeInventory(clientOf(emulator), {
        root,
        additionalUids: also,
        isRootOptional: true,
        now: Date.now,
      });
    }),
  );
  return findDrift({ states, inventories, failOn: "any", now: Date.now(), version: "0", ...more });
}

/** What matters of a report's findings. */
export const brief = ({ findings }: DriftReport) =>
  findings.map(({ kind, uid, drift }) => ({
    kind,
    uid,
    what: drift?.kind,
    direction: drift?.direction,
    fields: drift?.paths ?? [],
  }));

const top = (path: string): string => path.split(".")[0] ?? "";

/** The value with `${name}` replaced by uids. */
function resolvedValue(value: unknown, ids: Surveyed["ids"], own: string): unknown {
  return withUids(value, { ...ids, own: ids[own] ?? "" });
}

/** Changes one field of a sample by hand, and gives back what puts it right again. */
async function change(on: Surveyed, sample: Sample, field: FieldCase): Promise<() => Promise<unknown>> {
  const { emulator, ids } = on;
  const uid = ids[sample.label] ?? "";
  const own = ownOf(sample.label);
  const to = resolvedValue("wire" in field ? field.wire : field.to, ids, own);
  const { update } = sample.writing ?? {};
  if (update?.body !== undefined) {
    const address = update.address.replace("${own}", ids[own] ?? "");
    await call(emulator, update.method, address, { ...update.body, [field.path]: to });
    return () => call(emulator, update.method, address, update.body);
  }
  const address =
    update?.address.replace("${own}", ids[own] ?? "") ?? `${addresses[sample.kind] ?? ""}/${uid}`;
  const before = await call(emulator, "GET", address);
  await call(emulator, "PATCH", `${address}?updateMask=${field.path}`, nested(field.path, to));
  const key = top(field.path);
  const flat: Record<string, unknown> = {
    identityUid: memberAt(before, "identity.uid"),
    roleUid: memberAt(before, "role.uid"),
  };
  // What the server owns in it must not be sent back.
  const value = key === "sync_config" ? sample.args["syncConfig"] : (flat[key] ?? before[key]);
  return () => call(emulator, "PATCH", `${address}?updateMask=${key}`, { [key]: value });
}

type DriftCase = readonly [title: string, sample: Sample, field: FieldCase];

const formOf = (value: unknown): string =>
  Array.isArray(value) ? "list" : value === null ? "null" : typeof value;

/** Of all cases the first with each pair of kind, form of the value, depth, direction and visibility. */
function selectPairs(cases: readonly DriftCase[]): DriftCase[] {
  const covered = new Set<string>();
  return cases.filter(([, { kind }, field]) => {
    const traits = [
      kind,
      formOf("wire" in field ? field.wire : field.to),
      field.path.split(".").length,
      field.direction ?? "neutral",
      field.unseen === true,
    ];
    const pairs = traits.flatMap((one, i) =>
      traits.slice(i + 1).map((other, j) => JSON.stringify([i, one, i + 1 + j, other])),
    );
    const isNew = pairs.some((pair) => !covered.has(pair));
    for (const pair of pairs) covered.add(pair);
    return isNew;
  });
}

/**
 * The rows of the matrix that can be put right again: each changes one thing, looks, and changes it back. `pairs` is a
 * selection, for states that the real engine writes.
 */
export function describeDriftMatrix(surveyed: () => Surveyed, extent: "all" | "pairs"): void {
  const cases = samples.flatMap((sample) =>
    sample.fields.map((field): DriftCase => [`${sample.label} ${field.path}`, sample, field]),
  );
  const titled = extent === "all" && !isQuick ? cases : selectPairs(cases);

  test.each(titled)("a change of %s by hand is found as just that", async (_title, sample, field) => {
    const on = surveyed();
    const undo = await change(on, sample, field);
    const report = await survey(on);
    await undo();
    const found = brief(report);
    if (field.unseen) {
      expect(found).toEqual([]);
      return;
    }
    expect(found).toEqual([
      {
        kind: sample.kind,
        uid: on.ids[sample.label],
        what: "changed",
        direction: field.direction ?? "neutral",
        fields: expect.any(Array),
      },
    ]);
    const property = propertyPathOf(field);
    const fields = found[0]?.fields ?? [];
    expect(fields).not.toEqual([]);
    const others = [property, field.without ?? property];
    for (const one of fields)
      expect(
        others.some((path) => one === path || one.startsWith(`${path}.`) || one.startsWith(`${path}[`)),
      ).toBe(true);
    const [difference] = report.differences;
    expect(difference?.answers.revert).toBe(
      `pulumi up --refresh --target ${difference?.urn?.includes("$") ? `'${difference.urn}'` : (difference?.urn ?? "")} --stack test`,
    );
    expect(difference?.answers.adopt).toContain(top(property));
    expect(report.complete).toBe(true);
  });

  test("after all of it was put back there is no drift", async () => {
    expect(brief(await survey(surveyed()))).toEqual([]);
  });

  // What is in no state is found without any.
  if (extent === "pairs") return;
  const made = samples.filter(({ kind }) => addresses[kind] !== undefined && !specOf(kind).listing?.onDemand);
  test.each(made.map((sample) => [sample.label, sample] as const))(
    "%s made by hand beside it is found, with the code that adopts it",
    async (_label, sample) => {
      const on = surveyed();
      const { beside, kind } = sample;
      const args = resolvedValue({ ...sample.args, ...beside }, on.ids, ownOf(sample.label)) as Props;
      const parent = args["parentUid"] as string | undefined;
      if (parent === undefined) return;
      const address = addresses[kind] ?? "";
      const created = await call(on.emulator, "POST", `${address}/${parent}`, bodyOf(args));
      const uid = String(created["uid"]);
      const report = await survey(on);
      await call(on.emulator, "DELETE", `${address}/${uid}`);
      expect(brief(report)).toEqual([
        {
          kind,
          uid,
          what: "unmanaged",
          // A role and an identity give nothing before a binding names them.
          direction: specOf(kind).grantsAccess === "always" ? "widened" : "neutral",
          fields: [],
        },
      ]);
      const code = report.differences[0]?.answers.adopt;
      // A secret, and a code that is told once, cannot be adopted by code alone.
      if (createOnlyOutputs(specOf(kind)).length > 0) expect(code).toBeUndefined();
      else expect(code).toMatch(new RegExp(`^new ${kind}\\(".+", adopt\\("${uid}", \\{\\n`));
    },
  );
}
