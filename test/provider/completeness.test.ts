import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kindTables } from "../../emulator/tables";
import type { ResourceSpec } from "../../provider/fields/description";
import * as platform from "../../provider/index";
import { kinds } from "../../provider/kinds";
import { samples } from "../support/samples";
import { lowerFirst } from "../../scripts/lib/letterCase.cjs";

/* Whatever a kind needs beside its description, and where it is to be written. CONTRIBUTING.md, "Add a kind". */

const ROOT = join(__dirname, "../..");
const isThere = (file: string): boolean => existsSync(join(ROOT, file));
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

/** The place in a file at which a text begins, as editors and terminals open it. */
function placeOf(file: string, text: string): string {
  const line = read(file)
    .split("\n")
    .findIndex((each) => each.includes(text));
  if (line < 0) throw new Error(`${file} has no ${text}`);
  return `${file}:${line + 1}`;
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
    .map((name) => join(folder, name));
}

/** Whether it is a resource of its own at the server, with an address and a list. */
const hasList = ({ sharesParentUid }: ResourceSpec): boolean => !sharesParentUid;

/** What a kind lacks: where, and what to write there. */
function missingPlaces(spec: ResourceSpec): string[] {
  const { kind } = spec;
  const name = lowerFirst(kind);
  const places: readonly (readonly [isThere: boolean, file: string, text: string, advice: string])[] = [
    [
      spec.capabilities !== undefined,
      "provider/kinds/subscription.ts",
      "capabilities:",
      `name the capabilities that its requests need in provider/kinds/${name}.ts`,
    ],
    [
      !hasList(spec) || kindTables.some((table) => table.kind === kind),
      "emulator/tables/index.ts",
      "export const kindTables",
      `add the table of emulator/tables/${name}.ts`,
    ],
    [
      samples.some((sample) => sample.kind === kind),
      "test/support/samples.ts",
      "export const samples",
      "add to the file of its family a sample that changes and clears each field once",
    ],
    [
      isThere(`examples/reference/resources/${name}.ts`),
      "examples/reference/resources/subscription.ts",
      "new Subscription",
      `write an example like this one in examples/reference/resources/${name}.ts`,
    ],
    [
      !hasList(spec) || `get${kind}` in platform,
      "provider/lookups/ofKinds.ts",
      "lookupsOf",
      "add its lookups, as those of Subscription, with their documented arguments",
    ],
    [
      isThere(`docs/reference/resources/${kind}.md`),
      "docs/reference/README.md",
      "## Resources",
      "run `npm run docs`",
    ],
  ];
  return places
    .filter(([isThere]) => !isThere)
    .map(([, file, text, advice]) => `${placeOf(file, text)}: nothing of ${kind}: ${advice}`);
}

describe("a kind of resource", () => {
  test("has its example in a separate file, not in its source", () => {
    const sources = [...sourcesIn("provider/kinds"), ...sourcesIn("provider/lookups")];
    expect(sources.length).toBeGreaterThan(kinds.length);
    const text = "@example";
    const found = sources.filter((file) => read(file).includes(text));
    expect(found.map((file) => `${placeOf(file, text)}: move it to examples/reference`)).toEqual([]);
  });

  test.each(kinds.map(({ spec }) => [spec.kind, spec] as const))(
    "%s has everything that a kind needs",
    (_kind, spec) => {
      expect(missingPlaces(spec)).toEqual([]);
    },
  );

  test("that has only a description lists every missing place, by file and line", () => {
    const spec: ResourceSpec = {
      kind: "Nothing",
      noun: "nothing",
      collection: "/iam/v2/nothings",
      fields: {},
    };
    const missing = missingPlaces(spec);
    expect(missing.map((line) => line.replace(/:\d+: .*$/, ":LINE"))).toEqual([
      "provider/kinds/subscription.ts:LINE",
      "emulator/tables/index.ts:LINE",
      "test/support/samples.ts:LINE",
      "examples/reference/resources/subscription.ts:LINE",
      "provider/lookups/ofKinds.ts:LINE",
      "docs/reference/README.md:LINE",
    ]);
  });

  test("is in the list when a file describes it, and its class has the name of the file", () => {
    const listed = kinds.map(({ spec }) => spec.kind);
    const described = sourcesIn("provider/kinds").flatMap((file) => {
      const name = /export class (\w+) extends resource/.exec(read(file))?.[1];
      return name === undefined ? [] : [{ name, file }];
    });
    const forgotten = described.filter(({ name }) => !listed.includes(name));
    const place = placeOf("provider/kinds/exports.ts", "export *");
    expect(
      forgotten.map(({ name, file }) => `${place}: add the line of ${name}, which ${file} describes`),
    ).toEqual([]);
    const fileOf = (name: string) => `provider/kinds/${lowerFirst(name)}.ts`;
    expect(described.filter(({ name, file }) => file !== fileOf(name))).toEqual([]);
    expect(described).toHaveLength(kinds.length);
  });
});
