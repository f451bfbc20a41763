import { reportDigest } from "../../../provider/access/report/report";
import { specs } from "../../../provider/access/documents/specs";
import type { Props } from "../../../provider/fields/values";
import { CommandChain } from "../../support/commandChain";
import { inventoryOf } from "../../support/documents";
import { withUids } from "../../support/byHand";
import { ownOf, samples, surroundings } from "../../support/samples";
import { isQuick, oneIn, spreadOf } from "../../support/properties";
import { exportText, pairsOf, previewText } from "../../../scripts/lib/documents.cjs";

/*
 * No value of a document ends a command with an unexpected error, whatever it is and wherever it stands: a stranger who
 * writes one of a pull request's values could stop its review.
 */

const ROOT = "a".repeat(40);
const TEAM = `${ROOT}/${"1".repeat(16)}`;
const URN = "urn:pulumi:prod::acme::pulumi-nodejs:dynamic/platform:Group::team";
const SIGNATURE = "4dabf18193072939515e22adb298388d";

/** As JSON text, since some of them are no plain object of JavaScript. */
const HOSTILE: readonly string[] = [
  '"["',
  '"[]"',
  `"[\\"retained\\",\\"${TEAM}\\"]"`,
  '"{"',
  '"\\""',
  '"\\u0000"',
  '"\\u0000[\\"secret\\",\\"x\\",\\"after\\",\\"y\\"]"',
  '"\\u0000{}"',
  '"__proto__"',
  '"constructor"',
  '"\\ud800"',
  '"xn--"',
  '"https://xn--a/%"',
  JSON.stringify(URN),
  '"04da6b54-80e4-46f7-96ec-b56ff0331ba9"',
  '"[secret]"',
  `{"${SIGNATURE}":"1b47061264138c4ac30d75fd1eb44270","ciphertext":"x"}`,
  `{"${SIGNATURE}":"1b47061264138c4ac30d75fd1eb44270","plaintext":"["}`,
  `{"${SIGNATURE}":"d0e6a833031e9bbcd3f4e8bde6ca49a4","value":{"${SIGNATURE}":[]}}`,
  '{"__proto__":{"x":"["},"constructor":null,"":[["["]],"[":"\\u0000"}',
  '[null,"[",{"":"["},[[]]]',
  "1e999",
  "-12345678901234567890.5",
  "null",
  "true",
  '""',
  "{}",
  "[]",
];

type Path = readonly (string | number)[];

/** The places of all values inside a document, those of objects and lists included. */
function placesIn(value: unknown, path: Path = []): Path[] {
  const inner =
    value === null || typeof value !== "object"
      ? []
      : Array.isArray(value)
        ? value.flatMap((item, index) => placesIn(item, [...path, index]))
        : Object.entries(value).flatMap(([key, member]) => placesIn(member, [...path, key]));
  return path.length === 0 ? inner : [path, ...inner];
}

const MARK = "replaced by what is hostile";

/** A copy of a document with a mark at a place, for the text to be replaced. */
function marked(document: unknown, path: Path): unknown {
  const copy = structuredClone(document);
  const holder = path.slice(0, -1).reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], copy);
  (holder as Record<string, unknown>)[path.at(-1) ?? ""] = MARK;
  return copy;
}

const withHostile = (text: string, value: string): string =>
  text.replaceAll(JSON.stringify(MARK), () => value);

interface Named {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly inputs: Props;
}

const ids: Record<string, string> = Object.fromEntries(
  [...Object.keys(surroundings), ...samples.flatMap(({ label }) => [label, ownOf(label)])].map(
    (name, index) => [name, `${ROOT}/${(index + 16).toString(16).padStart(16, "0")}`],
  ),
);
ids["org"] = ROOT;

/** An object of each sample, each with its own group where one object alone may be there. */
const objects: readonly Named[] = [
  { kind: "Group", name: "org", uid: ROOT, inputs: { name: "org" } },
  ...samples.map(({ label, kind, args }): Named => {
    const inputs = withUids(args, { ...ids, own: ids[ownOf(label)] ?? ROOT }) as Props;
    const parent = typeof inputs["parentUid"] === "string" ? inputs["parentUid"] : ROOT;
    return {
      kind,
      name: label,
      uid: specs[kind]?.sharesParentUid === true ? parent : (ids[label] ?? ""),
      inputs,
    };
  }),
];

/** Each object once for each place in its arguments, with the mark there. */
const variants: readonly { readonly object: Named; readonly hostile: Named }[] = objects.flatMap(
  (object, index) =>
    placesIn(object.inputs).map((path, variant) => {
      const uid =
        specs[object.kind]?.sharesParentUid === true
          ? object.uid
          : `${ROOT}/${(index + 1).toString(16).padStart(8, "0")}${(variant + 1).toString(16).padStart(8, "0")}`;
      const named = { ...object, name: `${object.name}-${variant}`, uid };
      return { object: named, hostile: { ...named, inputs: marked(object.inputs, path) as Props } };
    }),
);

const inventoryText = (of: readonly Named[]): string =>
  JSON.stringify({
    ...inventoryOf(ROOT),
    kinds: [...new Set(of.map(({ kind }) => kind))],
    objects: of.map(({ kind, uid, inputs }) => ({
      ...{ kind, uid, inputs, lastSeenTime: "2026-01-01T00:00:00Z" },
      details: { expirationTime: "2027-01-01T00:00:00Z" },
    })),
  });

const ALL_FORMS = ["text", "json", "md", "html", "sarif", "github", "codequality"];

describe("a value that nobody expects", () => {
  const chain = new CommandChain();
  const MD = "-o md=out.md --now 2026-06-01T00:00:00Z";
  const FORMS = `${ALL_FORMS.map((form) => `-o ${form}=out.${form}`).join(" ")} --now 2026-06-01T00:00:00Z`;

  /** Runs a command, which must end with one of its own exit codes, and with no unexpected error. */
  async function expectEnded(what: string, line: string): Promise<void> {
    const { code, stderr } = await chain.run(...chain.wordsOf(line));
    const isExpected = code !== 1 && !stderr.includes("PP9001");
    expect({ what, line, stderr: isExpected ? "" : stderr }).toEqual({ what, line, stderr: "" });
  }

  const [plain, hostile] = [variants.map(({ object }) => object), variants.map(({ hostile }) => hostile)];
  const others = [
    [hostile, plain],
    [hostile, hostile],
    [hostile, []],
    [[], hostile],
  ] as const;

  test.each(spreadOf([...HOSTILE.entries()], 1, 1))(
    "%i: %s as an argument of any kind",
    async (index, value) => {
      const [before, after] = others[Math.floor(index / 2) % others.length] ?? [[], []];
      const files = {
        "live.json": inventoryText(hostile),
        "state.json": exportText(hostile),
        "plain.json": inventoryText(plain),
        "plain-state.json": exportText(plain),
        "changed.json": previewText(pairsOf(plain, hostile)),
        "other.json": previewText(pairsOf<Named>(before, after)),
      };
      for (const [name, text] of Object.entries(files)) chain.write(name, withHostile(text, value));
      const chains = [
        [`review changed.json ${FORMS}`],
        [
          `review changed.json --inventory live.json -o json=out.json ${MD}`,
          `verify out.json --inventory live.json ${MD}`,
          `verify out.json --inventory plain.json --state state.json ${MD}`,
        ],
        [
          "access --preview changed.json -o text=out.text -o json=access.json -o csv=out.csv -o html=out.html",
          `review other.json --inventory plain.json ${MD}`,
        ],
        [
          `drift --state state.json --inventory plain.json -o json=drift.json ${MD}`,
          `drift --since plain.json --inventory live.json ${MD}`,
        ],
        [`drift --state plain-state.json --inventory live.json ${FORMS}`],
        ["adopt --inventory live.json --out out.dir --force"],
      ];
      // Every second one, the others with the next value: at night each value is given to all.
      for (const line of (isQuick ? chains : oneIn(2, chains, index)).flat()) await expectEnded(value, line);
    },
  );

  const few = ["Group", "RoleBinding"].flatMap(
    (kind) => objects.find((object) => object.kind === kind) ?? [],
  );
  const entry = { rule: "G6", reason: "x", match: { name: "x" }, expires: "2027-01-01" };
  const documents = {
    "preview.json": previewText(pairsOf<Named>(few, few)),
    "state.json": exportText(few),
    "live.json": inventoryText(few),
  };

  test.each([
    [`review document.json ${MD}`, previewText(pairsOf<Named>([], few))],
    [`drift --inventory live.json --state document.json ${MD}`, exportText(few)],
    [`review preview.json --before document.json ${MD}`, exportText(few)],
    [`review preview.json --inventory document.json ${MD}`, inventoryText(few)],
    [`drift --state state.json --inventory document.json ${MD}`, inventoryText(few)],
    ["adopt --force --out out.dir --inventory document.json", inventoryText(few)],
    [`review preview.json --policy document.json ${MD}`, JSON.stringify({ allow: [entry] })],
  ])("%s: in any place of the document", async (line, text) => {
    for (const [name, other] of Object.entries(documents)) chain.write(name, other);
    const document: unknown = JSON.parse(text);
    const cases = placesIn(document).flatMap((path) => HOSTILE.map((value) => ({ path, value })));
    // A fifth is prime to the number of values: each value stands in each kind of place.
    for (const { path, value } of spreadOf(oneIn(5, cases), 10, 3)) {
      chain.write("document.json", withHostile(JSON.stringify(marked(document, path)), value));
      await expectEnded(`${path.join(".")} is ${value}`, line);
    }
  });

  test("in any place of a report that is verified or posted", async () => {
    chain.write("preview.json", previewText(pairsOf<Named>([], few)));
    chain.write("live.json", inventoryText(few));
    await expectEnded("the report", `review preview.json --inventory live.json -o json=whole.json ${MD}`);
    const document: unknown = JSON.parse(chain.read("whole.json"));
    const cases = placesIn(document).flatMap((path) => HOSTILE.map((value) => ({ path, value })));
    const tried = cases.filter((_, index) => index % 7 === 0);
    for (const { path, value } of spreadOf(tried, 10, 5)) {
      const text = withHostile(JSON.stringify(marked(document, path)), value);
      chain.write("document.json", text);
      const what = `${path.join(".")} is ${value}`;
      await expectEnded(what, "post document.json --to github-issue --dry-run");
      // Whoever writes a report can write its digest.
      const report = JSON.parse(text) as Parameters<typeof reportDigest>[0];
      chain.write("document.json", JSON.stringify({ ...report, digest: reportDigest(report) }));
      await expectEnded(what, `verify document.json --inventory live.json ${MD}`);
    }
  });
});
