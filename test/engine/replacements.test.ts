import type { Emulator } from "../../emulator";
import { AllKinds, asIs, stepsOf, writingOf } from "../support/allKinds";
import { WRITES_STATE_ONCE } from "../support/engine";
import type { Declarations, Stack } from "../support/engine";
import { samples, surroundings } from "../support/samples";

describe("refreshes, spellings, losses and replacements of each kind, through the real engine", () => {
  let emulator: Emulator;
  let stack: Stack;
  let all: AllKinds;

  beforeAll(async () => {
    all = await AllKinds.start(WRITES_STATE_ONCE);
    ({ emulator, stack } = all);
  });

  afterAll(() => all.close());

  test("shows a resource deleted by hand as deleted, and the next run creates it again", async () => {
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
  });

  test("replacing a parent replaces its children, without a failed step", async () => {
    const below = (parentOfTop: string): Declarations => ({
      ...surroundings,
      old: { kind: "Group", args: { parentUid: "${org}", name: "old" } },
      top: { kind: "Group", args: { parentUid: parentOfTop, name: "top" } },
      team: { kind: "Group", args: { parentUid: "${top}", name: "team" } },
      role: { kind: "Role", args: { parentUid: "${team}", name: "r", capabilities: ["CAP_REPO_LIST"] } },
      binding: {
        kind: "RoleBinding",
        args: { parentUid: "${team}", identityUid: "${someone}", roleUid: "${role}" },
      },
      repo: { kind: "Repo", args: { parentUid: "${team}", name: "repo" } },
    });
    stack.declare(below("${org}"));
    await stack.up();
    stack.declare(below("${old}"));
    const run = await stack.pulumi(["up", "--yes"]);
    expect({ code: run.code, output: run.code === 0 ? "" : run.output }).toEqual({ code: 0, output: "" });
    const ours = await stack.ours();
    const team = ours["team"]?.id ?? "";
    expect(team.startsWith(`${ours["old"]?.id ?? "?"}/`)).toBe(true);
    for (const name of ["role", "binding", "repo"]) expect(ours[name]?.id?.startsWith(`${team}/`)).toBe(true);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"]);
  });

  test("deleting a missing object succeeds, and the server ends empty", async () => {
    stack.declare(asIs);
    await stack.up();
    for (const { label, permanent } of samples) if (!permanent) await all.deleteByHand(label);
    await stack.succeed(["destroy", "--yes", "--skip-preview"]);
    expect(Object.values(emulator.state()).flat()).toEqual([]);
    expect(await stack.ours()).toEqual({});
  });
});
