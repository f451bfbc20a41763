import type { Emulator } from "../../emulator";
import { AllKinds, stepsOf, writingOf } from "../support/allKinds";
import { WRITES_STATE_ONCE } from "../support/engine";
import type { Stack } from "../support/engine";
import { samples } from "../support/samples";

describe("losses of each kind, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let all: AllKinds;

  beforeAll(async () => {
    all = await AllKinds.start(WRITES_STATE_ONCE);
    ({ emulator, stack } = all);
  });

  afterAll(() => all.close());

  test("a resource deleted by hand is shown as deleted, created again by the next run, and destroyed where it is gone", async () => {
    const gone = samples
      .filter(({ label, permanent }) => label !== "root" && !permanent)
      .map(({ label }) => label);
    for (const label of gone) await all.deleteByHand(label);
    const preview = await stack.pulumi(["preview", "--refresh", "--json", "--expect-no-changes"]);
    expect(preview.code).toBe(7);
    expect(
      stepsOf(preview.stdout)
        .filter(({ op }) => op === "create")
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...gone].sort());
    emulator.clearRequests();
    await stack.up("--refresh");
    expect(all.methods()).toEqual(gone.map((label) => writingOf(label)?.create ?? "POST").sort());
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
    for (const label of gone) await all.deleteByHand(label);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
    expect(await stack.ours()).toEqual({});
  });
});
