import { spawnSync } from "node:child_process";
import path from "node:path";
import { projectRoot } from "./support";

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
