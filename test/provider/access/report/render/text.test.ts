import { renderers } from "../../../../../provider/access/report/render";
import { wrap } from "../../../../../provider/access/report/render/text/wrap";
import { nightDrift, rewritten, riskyReview } from "./reports";
import { teamReview } from "./teamReview";

const uid = `ce2d1984a010471142503340d670612d63ffb9f6/1a2b3c4d5e6f7081/99aa88bb77cc66dd`;

test.each([40, 41, 60, 80, 200])("a uid is never broken, whatever the width: %d", (width) => {
  for (const text of [`binding ${uid} is gone`, `${"x".repeat(50)}:${uid},${"y".repeat(90)}`, uid]) {
    const lines = wrap(text, width);
    expect(lines.filter((line) => line.includes(uid))).toHaveLength(1);
    expect(lines.join("").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
  }
  const report = rewritten(riskyReview, (text) => `${text} ${uid}`);
  for (const line of renderers.text(report, { width }).split("\n")) {
    expect(line.replaceAll(uid, "")).not.toMatch(/[0-9a-f]{16}/);
  }
});

test("commands, code and policy entries are shown with --fix only", () => {
  for (const report of [nightDrift, teamReview()]) {
    const [plain, fix] = [renderers.text(report, {}), renderers.text(report, { fix: true })];
    expect(plain).not.toMatch(/^ +(restore|update the program|suppress):$/m);
    expect(plain).toContain("Use --fix");
    expect(fix).toMatch(/^ +suppress:$/m);
    expect(fix).not.toContain("Use --fix");
  }
  expect(renderers.text(nightDrift, { fix: true })).toContain("pulumi up --refresh --target");
  expect(renderers.text(riskyReview, {})).not.toContain("Use --fix");
});

test("each line of detail has a bullet", () => {
  const text = renderers.text(riskyReview, {});
  for (const line of ["holds registry.push at acme / payments", "K2 static-ci (2026-03-01)"]) {
    expect(text).toContain(`- ${line}`);
  }
});
