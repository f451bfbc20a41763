import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { reportDigest } from "../../provider/access/report/report";
import type { ReviewReport } from "../../provider/access/report/report";
import { ROOT } from "../support/engine";
import { temporaryFolder } from "../support/folders";
import { run } from "../support/project";

const golden = join(ROOT, "test/provider/access/report/render/golden/riskyReview.json");

// What the pack does to an update is in the suites of the pipelines and of the honest programs, which use it.
test("the pack of the package ends without its report, or with the digest of another one, in one line", async () => {
  const report = join(temporaryFolder(), "review.json");
  const written = JSON.parse(readFileSync(golden, "utf8")) as ReviewReport;
  writeFileSync(report, JSON.stringify({ ...written, digest: reportDigest(written) }));
  const approved = { PLATFORM_APPROVED_REPORT: report, PLATFORM_APPROVED_DIGEST: "0".repeat(64) };
  for (const [env, says] of [
    [{}, "PLATFORM_APPROVED_REPORT or PLATFORM_APPROVED_DIGEST is missing"],
    [approved, "so it is not the report that was approved"],
  ] as const) {
    const pack = join(ROOT, "templates/policy-pack/index.js");
    const { code, output } = await run(process.execPath, [pack], { cwd: ROOT, env });
    expect(output).toMatch(/^[^\n]+\(PP\d{4}\)\n$/);
    expect(output).toContain(says);
    expect(code).toBe(1);
  }
});
