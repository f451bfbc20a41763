import { Directory } from "../../../../provider/access/graph/directory";
import { inventoryOf } from "../../../support/documents";
import { specOf } from "../../support/samples";

const ROOT = "a".repeat(40);
const below = (n: number): string => `${ROOT}/${String(n).padStart(16, "0")}`;

const directoryOf = (root: string, team: string): Directory =>
  new Directory([
    inventoryOf(
      ROOT,
      { kind: "Group", uid: ROOT, inputs: { name: root } },
      { kind: "Group", uid: below(1), inputs: { parentUid: ROOT, name: team } },
    ),
  ]);

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
  const uid = `${below(1)}/${"2".repeat(16)}`;
  expect(directoryOf("acme", "team").describe(specOf("Identity"), uid, { name })).toBe(description);
});
