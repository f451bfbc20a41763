import { Directory } from "../../../../provider/access/graph/directory";
import { specs } from "../../../../provider/access/documents/specs";
import type { Inventory } from "../../../../provider/access/documents/inventory";

const ROOT = "a".repeat(40);
const below = (n: number): string => `${ROOT}/${String(n).padStart(16, "0")}`;

function directoryOf(root: string, team: string): Directory {
  const objects: Inventory["objects"] = [
    { kind: "Group", uid: ROOT, inputs: { name: root } },
    { kind: "Group", uid: below(1), inputs: { parentUid: ROOT, name: team } },
  ];
  const header = { schemaVersion: 1 as const, root: ROOT, takenAt: "2026-01-01T00:00:00Z", complete: true };
  return new Directory([{ ...header, refused: [], kinds: [], objects }]);
}

it.each([
  ["acme", "sandbox", "acme / sandbox"],
  ["acme / sandbox", "x", "acme \\/ sandbox / x"],
  ["acme", "sandbox / x", "acme / sandbox \\/ x"],
  ["acme /", "sandbox", "acme \\/ / sandbox"],
  ["acme", "/ sandbox", "acme / \\/ sandbox"],
  ["acme\\", "sandbox", "acme\\\\ / sandbox"],
  ["acme", "sandbox\u200b", "acme / sandbox\\u{200b}"],
])("no two groups have one path: %j and %j", (root, team, path) => {
  expect(directoryOf(root, team).pathOf(below(1))).toBe(path);
});

it.each([
  ["ci", '"ci" at acme / team'],
  ["team/ci", '"team/ci" at acme / team'],
  ['ci" at acme / sandbox', '"ci\\" at acme \\/ sandbox" at acme / team'],
  ["ci\u202e", '"ci\\u{202e}" at acme / team'],
])("a description escapes a name that looks like a path or a reference: %j", (name, description) => {
  const spec = specs["Identity"];
  if (spec === undefined) throw new Error("there is no kind Identity");
  const uid = `${below(1)}/${"2".repeat(16)}`;
  expect(directoryOf("acme", "team").describe(spec, uid, { name })).toBe(description);
});
