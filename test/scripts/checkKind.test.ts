import { spawnSync } from "node:child_process";
import path from "node:path";
import { evaluate, projectRoot } from "./support";

test.each([[["Webhok"]], [[]], [["Group", "Role"]]])(
  "check:kind %j is refused with one line that names the kinds",
  (args) => {
    const script = path.join(projectRoot, "scripts/checkKind.mjs");
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: "utf8" });
    expect(status).toBe(1);
    expect(stdout).toBe("");
    expect(stderr.split("\n")).toEqual([
      expect.stringMatching(
        new RegExp(`^npm run check:kind: give one kind of resource, not "${args.join(" ")}": .*Group.*Role`),
      ),
      "",
    ]);
  },
);

test("a kind is checked by the files that are written for it by hand", async () => {
  expect(await evaluate("checkKind.mjs", 'm.listFilesOfKind("subscription.ts")')).toEqual([
    "provider/kinds/subscription.ts",
    "provider/kinds/exports.ts",
    "provider/lookups/ofKinds.ts",
    "emulator/tables/subscription.ts",
    "emulator/tables/exports.ts",
    "test/support/samples/registry.ts",
    "examples/reference/resources/subscription.ts",
    "provider/kinds/capabilities.ts",
    "emulator/data/capabilities.json",
  ]);
});

test.each([
  [1, "a snapshot is new"],
  [2, "2 snapshots are new"],
])("of %d snapshots that nobody has read it says how to record them", async (count, beginning) => {
  expect(await evaluate("checkKind.mjs", `m.snapshotAdvice(${count}, "Tag")`)).toBe(
    `${beginning}, or not as before: read above what it holds, then record it by \`npm run check:kind Tag -- --update-snapshots\``,
  );
});
