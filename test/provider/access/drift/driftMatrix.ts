import type { Emulator } from "../../../../emulator";
import { findDrift } from "../../../../provider/access/drift/drift";
import type { DriftRequest } from "../../../../provider/access/drift/drift";
import type { DriftReport } from "../../../../provider/access/report/report";
import type { StateExport } from "../../../../provider/access/documents/stateExport";
import { listedKinds } from "../../../../provider/access/documents/inventory";
import { organisationsOf } from "../../../../provider/access/documents/stateExport";
import { isUidManaged, unlistedManagedUids } from "../../../../provider/cli/input/states";
import { takeInventory } from "../../../../provider/inventory/takeInventory";
import { addresses, bodyOf, withUids } from "../../../support/byHand";
import { createOnlyOutputs } from "../../../../provider/fields/resourceSpec";
import type { Props } from "../../../../provider/fields/values";
import { specOf } from "../../support/samples";
import { clientOf } from "../../support/server";
import { memberAt, nested, ownOf, propertyPathOf, samples } from "../../../support/samples";
import type { FieldCase, Sample } from "../../../support/samples";
import { call } from "../../../support/wire";
import { spreadOf } from "../../../support/properties";

/** What the matrix runs on: an emulator, and what one stack with every sample records. */
export interface Surveyed {
  readonly emulator: Emulator;
  readonly states: readonly StateExport[];
  /** The uids by the names that the program gave them. */
  readonly ids: Readonly<Record<string, string>>;
}

/** Compares the states with the emulator as it is now. */
export async function survey(
  { emulator, states }: Surveyed,
  more: Partial<DriftRequest> = {},
): Promise<DriftReport> {
  const inventories = await Promise.all(
    organisationsOf(states).map((root) =>
      takeInventory(clientOf(emulator), {
        root,
        additionalUids: unlistedManagedUids(states, listedKinds, root),
        isRootOptional: isUidManaged(states, root),
        now: Date.now,
      }),
    ),
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

interface DriftCase {
  readonly sample: Sample;
  readonly field: FieldCase;
}

/** The cases in rounds that change one field of each sample at most, so that one comparison serves all of a round. */
function roundsOf(cases: readonly DriftCase[]): DriftCase[][] {
  const rounds: DriftCase[][] = [];
  for (const each of cases) {
    const free = rounds.find((round) => round.every(({ sample }) => sample !== each.sample));
    if (free === undefined) rounds.push([each]);
    else free.push(each);
  }
  return rounds;
}

/** Checks that a report finds a change as just that, in the field that was changed. */
function expectChange(report: DriftReport, uid: string | undefined, { sample, field }: DriftCase): void {
  const found = brief(report).filter((each) => each.uid === uid);
  const { kind } = sample;
  const change = { kind, uid, what: "changed", direction: field.direction ?? "neutral" };
  expect(found).toEqual(field.unseen ? [] : [{ ...change, fields: expect.any(Array) }]);
  if (field.unseen) return;
  const severity = { widened: "high", unknown: "high", narrowed: "medium", neutral: "low" }[change.direction];
  expect(report.findings.filter((each) => each.uid === uid)).toMatchObject([{ severity }]);
  const property = propertyPathOf(field);
  const allowed = [property, field.without ?? property];
  const isAllowed = (one: string): boolean =>
    allowed.some((path) => one === path || one.startsWith(`${path}.`) || one.startsWith(`${path}[`));
  const fields = found[0]?.fields ?? [];
  expect(fields).not.toEqual([]);
  expect(fields.filter((one) => !isAllowed(one))).toEqual([]);
  const difference = report.differences.find((each) => each.uid === uid);
  const urn = difference?.urn ?? "";
  expect(difference?.answers.revert).toBe(
    `pulumi up --refresh --target ${urn.includes("$") ? `'${urn}'` : urn} --stack test`,
  );
  expect(difference?.answers.adopt).toContain(top(property));
}

/** Makes another object like each sample by hand; returns the uids with their samples. */
async function makeBeside({ emulator, ids }: Surveyed): Promise<(readonly [uid: string, sample: Sample])[]> {
  const made: (readonly [string, Sample])[] = [];
  for (const sample of samples) {
    const address = addresses[sample.kind];
    const args = resolvedValue({ ...sample.args, ...sample.beside }, ids, ownOf(sample.label)) as Props;
    if (address === undefined || specOf(sample.kind).listing?.onDemand || args["parentUid"] === undefined)
      continue;
    const created = await call(emulator, "POST", `${address}/${args["parentUid"] as string}`, bodyOf(args));
    made.push([String(created["uid"]), sample]);
  }
  return made;
}

/**
 * The rows of the matrix that can be put right again: each round changes one thing of each sample, looks, and changes it
 * back.
 */
export function describeDriftMatrix(surveyed: () => Surveyed): void {
  const cases = samples.flatMap((sample) => sample.fields.map((field): DriftCase => ({ sample, field })));
  const rounds = spreadOf(roundsOf(cases), 7, 0);
  const titled = rounds.map((round) => {
    const names = round.map(({ sample, field }) => `${sample.label} ${field.path}`);
    return [names.join(", "), round] as const;
  });

  test.each(titled)("each change by hand is found as just that: %s", async (_title, round) => {
    const on = surveyed();
    const undo: (() => Promise<unknown>)[] = [];
    for (const { sample, field } of round) undo.push(await change(on, sample, field));
    const report = await survey(on);
    for (const undoOne of undo) await undoOne();
    for (const each of round) expectChange(report, on.ids[each.sample.label], each);
    expect(report.findings).toHaveLength(round.filter(({ field }) => !field.unseen).length);
    expect(report.complete).toBe(true);
  });

  test("after all of it was put back there is no drift", async () => {
    expect(brief(await survey(surveyed()))).toEqual([]);
  });

  test("what is made by hand beside each sample is found, with the code that adopts it", async () => {
    const on = surveyed();
    const made = await makeBeside(on);
    const report = await survey(on);
    for (const [uid, { kind }] of made) await call(on.emulator, "DELETE", `${addresses[kind] ?? ""}/${uid}`);
    const expected = made.map(([uid, { kind }]) => ({
      kind,
      uid,
      what: "unmanaged",
      // A role and an identity give nothing before a binding names them.
      direction: specOf(kind).grantsAccess === "always" ? "widened" : "neutral",
      fields: [],
    }));
    const found = brief(report);
    expect(found).toHaveLength(expected.length);
    expect(found).toEqual(expect.arrayContaining(expected));
    for (const [uid, { kind }] of made) {
      const code = report.differences.find((each) => each.uid === uid)?.answers.adopt;
      // A secret, and a code that is told once, cannot be adopted by code alone.
      if (createOnlyOutputs(specOf(kind)).length > 0) expect(code).toBeUndefined();
      else expect(code).toMatch(new RegExp(`^new ${kind}\\(".+", adopt\\("${uid}", \\{\\n`));
    }
  });
}
