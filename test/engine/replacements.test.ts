import { startEmulator } from "../../emulator";
import { Stack } from "../support/engine";
import type { Declarations } from "../support/engine";
import { surroundings } from "../support/samples";

test("replacing a parent replaces its children, without a failed step", async () => {
  const emulator = await startEmulator();
  const stack = await new Stack(emulator).init();
  try {
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
  } finally {
    await emulator.close();
    stack.dispose();
  }
});
