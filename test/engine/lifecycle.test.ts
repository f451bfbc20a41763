import { REFRESHED } from "../../provider/fields/refreshed";
import type { Emulator } from "../../emulator";
import {
  AllKinds,
  changesAlone,
  edited,
  editedLabels,
  samples,
  stepsOf,
  writingOf,
} from "./support/allKinds";
import { withUids } from "../support/byHand";
import type { Stack } from "../support/engine";
import { isQuick } from "../support/properties";
import { nested, ownOf, propertyPathOf } from "../support/samples";

/*
 * One stack with every kind, from its first update to its end. `npm test` runs this file alone of those that run the engine;
 * `npm run test:all` runs the others too. test/engine/native.test.ts has every kind in the form of the plugin.
 */

/** A change by hand of each sample that can be changed: the last field that changes alone, where an update goes. */
const byHand = Object.fromEntries(
  samples.flatMap(({ label, fields, writing }) => {
    const field = fields.findLast((one) => changesAlone(one) && !one.unseen);
    if (field === undefined) return [];
    const property = propertyPathOf(field);
    const change = nested(field.path, "wire" in field ? field.wire : field.to);
    const body = { ...writing?.update.body, ...(change as Record<string, unknown>) };
    return [[label, { body, property: property.split(".")[0] }] as const];
  }),
);

/** Security-relevant fields that no program set. */
const addedByHand: Record<string, Record<string, unknown>> = {
  someone: { claimMatch: { audiencePattern: ".*" } },
  other: { claimMatch: { claimPatterns: { ref: ".*" } } },
  partners: { google: { projectId: "by-hand", projectNumber: "1" } },
};

describe("the life of each kind, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let all: AllKinds;

  beforeAll(async () => {
    all = await AllKinds.start();
    ({ emulator, stack } = all);
  });

  afterAll(() => all.close());

  test("a second run shows nothing in its preview, and writes nothing", async () => {
    emulator.clearRequests();
    await stack.succeed(["up", "--yes", "--expect-no-changes"]);
    expect(all.writes()).toEqual([]);
  });

  test("a change by hand shows, with its property, and the next run repairs it", async () => {
    const before = emulator.state();
    for (const [label, { body }] of Object.entries(byHand)) {
      await all.updateByHand(label, withUids(body, { ...stack.ids(), own: all.uid(ownOf(label)) }));
    }
    for (const [label, body] of Object.entries(addedByHand)) {
      await all.updateByHand(label, body);
    }
    const names = [...Object.keys(byHand), ...Object.keys(addedByHand)].sort();

    const preview = await stack.pulumi(["preview", "--refresh", "--json", "--expect-no-changes"]);
    expect(preview.code).toBe(7);
    const shown = stepsOf(preview.stdout).filter(({ op }) => op === "update");
    expect(shown.map(({ name }) => name).sort()).toEqual(names);

    const properties = Object.fromEntries(
      shown.map(({ name, detailedDiff }) => [
        name,
        Object.keys(detailedDiff ?? {}).map((path) => path.replace(/[.[].*$/, "")),
      ]),
    );
    for (const [label, { property }] of Object.entries(byHand)) {
      expect({ label, properties: properties[label] }).toEqual({
        label,
        properties: expect.arrayContaining([property]) as unknown,
      });
    }

    // A refresh records it, and says so until an update of the resource.
    const marked = () =>
      Object.entries(stack.recorded()).flatMap(([name, { outputs }]) =>
        REFRESHED in (outputs ?? {}) ? [name] : [],
      );
    await stack.succeed(["refresh", "--yes"]);
    expect(marked()).toEqual(expect.arrayContaining([...Object.keys(addedByHand), "role", "binding"]));
    expect(names).toEqual(expect.arrayContaining(marked()));

    emulator.clearRequests();
    await stack.up("--refresh");
    expect(marked()).toEqual([]);
    expect(all.methods()).toEqual(names.map((label) => writingOf(label)?.update.method ?? "PATCH").sort());
    const untimed = (state: ReturnType<Emulator["state"]>) =>
      Object.values(state)
        .flat()
        .map((resource) => ({ ...resource, updateTime: undefined }));
    expect(untimed(emulator.state())).toEqual(untimed(before));
  });

  test("a changed field is one write of each resource, after which nothing is left to do", async () => {
    emulator.clearRequests();
    stack.declare(edited);
    await stack.up();
    expect(all.methods()).toEqual(
      editedLabels.map((label) => writingOf(label)?.update.method ?? "PATCH").sort(),
    );
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  });

  const gone = samples
    .filter(({ label, permanent }) => label !== "root" && !permanent)
    .map(({ label }) => label);
  const testAll = isQuick ? test.skip : test;
  testAll("a resource deleted by hand is shown as deleted, and created again by the next run", async () => {
    for (const label of gone) await all.deleteByHand(label);
    const preview = await stack.pulumi(["preview", "--refresh", "--json", "--expect-no-changes"]);
    expect(preview.code).toBe(7);
    const created = stepsOf(preview.stdout).filter(({ op }) => op === "create");
    expect(created.map(({ name }) => name).sort()).toEqual([...gone].sort());
    emulator.clearRequests();
    await stack.up("--refresh");
    expect(all.methods()).toEqual(gone.map((label) => writingOf(label)?.create ?? "POST").sort());
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
    // The destroy then finds them gone.
    for (const label of gone) await all.deleteByHand(label);
  });

  test("a destroy leaves nothing, at the server and in the state", async () => {
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
    expect(await stack.ours()).toEqual({});
  });
});
