import { reportDigest } from "../../../provider/access/report/report";
import { specs } from "../../../provider/access/documents/specs";
import type { Props } from "../../../provider/fields/values";
import { CommandChain } from "../../support/commandChain";
import { withUids } from "../../support/byHand";
import { ownOf, samples, surroundings } from "../../support/samples";
import { isThorough, spreadOf } from "../../support/properties";
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
    schemaVersion: 1,
    root: ROOT,
    takenAt: "2026-01-01T00:00:00Z",
    complete: true,
    refused: [],
    kinds: [...new Set(of.map(({ kind }) => kind))],
    objects: of.map(({ kind, uid, inputs }) => ({
      kind,
      uid,
      inputs,
      lastSeenTime: "2026-01-01T00:00:00Z",
      details: { expirationTime: "2027-01-01T00:00:00Z" },
    })),
  });

/** A fifth of the cases, which is prime to the number of values: each value stands in each kind of place. */
const isTried = (_case: unknown, index: number): boolean => isThorough || index % 5 === 0;

const NOW = ["--now", "2026-06-01T00:00:00Z"];
const REPORT_FORMS = ["text", "json", "md", "html", "sarif", "github", "codequality"];

describe("a value that nobody expects", () => {
  const chain = new CommandChain();

  const forms = (...names: string[]): string[] =>
    names.flatMap((form) => ["-o", `${form}=${chain.path(`out.${form}`)}`]);

  /** Runs a command, which must end with one of its own exit codes, and with no unexpected error. */
  async function expectEnded(what: string, ...argv: string[]): Promise<number> {
    const { code, stderr } = await chain.run(...argv);
    const isExpected = code !== 1 && !stderr.includes("PP9001");
    expect({ what: `${what}: ${argv[0]}`, isExpected, stderr: isExpected ? "" : stderr }).toEqual({
      what: `${what}: ${argv[0]}`,
      isExpected: true,
      stderr: "",
    });
    return code;
  }

  const [plain, hostile] = [variants.map(({ object }) => object), variants.map(({ hostile }) => hostile)];
  const others = [
    [hostile, plain],
    [hostile, hostile],
    [hostile, []],
    [[], hostile],
  ] as const;

  test.each(spreadOf([...HOSTILE.entries()], 6, 1))(
    "%i: %s as an argument of any kind",
    async (index, value) => {
      const write = (name: string, text: string): string => chain.write(name, withHostile(text, value));
      const live = write("live.json", inventoryText(hostile));
      const recorded = write("state.json", exportText(hostile));
      const plainLive = chain.write("plain.json", inventoryText(plain));
      const plainState = chain.write("plain-state.json", exportText(plain));
      const report = chain.path("out.json");
      const changed = write("changed.json", previewText(pairsOf(plain, hostile)));
      await expectEnded(value, "review", changed, ...forms(...REPORT_FORMS), ...NOW);
      await expectEnded(value, "review", changed, "--inventory", live, ...forms("json"), ...NOW);
      await expectEnded(value, "verify", report, "--inventory", live, ...forms("md"), ...NOW);
      await expectEnded(value, "verify", report, "--inventory", plainLive, "--state", recorded, ...NOW);
      await expectEnded(value, "access", "--preview", changed, ...forms("text", "json", "csv", "md", "html"));
      const [before, after] = others[index % others.length] ?? [[], []];
      const other = write("other.json", previewText(pairsOf<Named>(before, after)));
      await expectEnded(value, "review", other, "--inventory", plainLive, ...forms("json"), ...NOW);
      await expectEnded(
        value,
        "drift",
        "--state",
        recorded,
        "--inventory",
        plainLive,
        ...forms("md", "json"),
        ...NOW,
      );
      await expectEnded(
        value,
        "drift",
        "--state",
        plainState,
        "--inventory",
        live,
        ...forms(...REPORT_FORMS),
        ...NOW,
      );
      await expectEnded(value, "drift", "--since", plainLive, "--inventory", live, ...forms("text"), ...NOW);
      await expectEnded(value, "adopt", "--inventory", live, "--out", chain.path("out"), "--force");
    },
  );

  const [team, binding] = [
    objects.find(({ kind }) => kind === "Group"),
    objects.find(({ kind }) => kind === "RoleBinding"),
  ];
  const few = [team, binding].flatMap((object) => object ?? []);
  const documents: Readonly<Record<string, { readonly text: string; readonly argv: readonly string[] }>> = {
    preview: { text: previewText(pairsOf<Named>([], few)), argv: ["review", "FILE"] },
    state: { text: exportText(few), argv: ["drift", "--inventory", "LIVE", "--state", "FILE"] },
    before: { text: exportText(few), argv: ["review", "PREVIEW", "--before", "FILE"] },
    inventory: { text: inventoryText(few), argv: ["review", "PREVIEW", "--inventory", "FILE"] },
    live: { text: inventoryText(few), argv: ["drift", "--state", "STATE", "--inventory", "FILE"] },
    adopted: { text: inventoryText(few), argv: ["adopt", "--force", "--out", "OUT", "--inventory", "FILE"] },
    policy: {
      text: JSON.stringify({
        allow: [{ rule: "G6", reason: "x", match: { name: "x" }, expires: "2027-01-01" }],
      }),
      argv: ["review", "PREVIEW", "--policy", "FILE"],
    },
  };

  test.each(Object.keys(documents))("in any place of a document: %s", async (name) => {
    const { text, argv } = documents[name] ?? { text: "", argv: [] };
    const files: Readonly<Record<string, string>> = {
      FILE: chain.path("document.json"),
      PREVIEW: chain.write("preview.json", previewText(pairsOf<Named>(few, few))),
      STATE: chain.write("few.json", exportText(few)),
      LIVE: chain.write("few-live.json", inventoryText(few)),
      OUT: chain.path("out"),
    };
    const document: unknown = JSON.parse(text);
    const cases = placesIn(document).flatMap((path) => HOSTILE.map((value) => ({ path, value })));
    for (const { path, value } of spreadOf(cases.filter(isTried), 40, 3)) {
      chain.write("document.json", withHostile(JSON.stringify(marked(document, path)), value));
      await expectEnded(
        `${path.join(".")} is ${value}`,
        ...argv.map((word) => files[word] ?? word),
        ...(argv[0] === "adopt" ? [] : NOW),
      );
    }
  });

  test("in any place of a report that is verified or posted", async () => {
    const preview = chain.write("preview.json", previewText(pairsOf<Named>([], few)));
    const live = chain.write("few-live.json", inventoryText(few));
    const made = ["review", preview, "--inventory", live, "-o", `json=${chain.path("whole.json")}`, ...NOW];
    await expectEnded("the report", ...made);
    const document: unknown = JSON.parse(chain.read("whole.json"));
    const cases = placesIn(document).flatMap((path) => HOSTILE.map((value) => ({ path, value })));
    for (const { path, value } of spreadOf(
      cases.filter((_, index) => index % 7 === 0),
      60,
      5,
    )) {
      const text = withHostile(JSON.stringify(marked(document, path)), value);
      chain.write("document.json", text);
      const what = `${path.join(".")} is ${value}`;
      await expectEnded(what, "post", chain.path("document.json"), "--to", "github-issue", "--dry-run");
      // Whoever writes a report can write its digest.
      const report = JSON.parse(text) as Parameters<typeof reportDigest>[0];
      chain.write("document.json", JSON.stringify({ ...report, digest: reportDigest(report) }));
      await expectEnded(what, "verify", chain.path("document.json"), "--inventory", live, ...NOW);
    }
  });
});
