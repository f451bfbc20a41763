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
    "emulator/tables/index.ts",
    "test/support/samples/registry.ts",
    "examples/reference/resources/subscription.ts",
    "provider/kinds/capabilities.ts",
    "emulator/data/capabilities.json",
  ]);
});
