import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { kindTables } from "../../emulator/tables";
import { effectOf } from "../../provider/fields/fieldAccess";
import type { AccessEffect, FieldSpec } from "../../provider/fields/fieldSpec";
import { referredKindOf } from "../../provider/fields/fieldSpec";
import { aggregatedKind } from "../../provider/fields/resourceSpec";
import type { ResourceSpec } from "../../provider/fields/resourceSpec";
import * as platform from "../../provider/index";
import { kinds } from "../../provider/kinds";
import { samples } from "../support/samples";
import { lowerFirst } from "../../scripts/lib/letterCase.cjs";

/* Whatever a kind needs beside its description, and where it is to be written. CONTRIBUTING.md, "Add a kind". */

const ROOT = join(__dirname, "../..");
const isThere = (file: string): boolean => existsSync(join(ROOT, file));
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");

function sourcesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes("node_modules"))
    .map((name) => join(folder, name));
}

/** The kind of a resource's parent whose description has to name the list of this kind, and does not. */
function parentThatOmits({ collection, fields, listing, owns }: ResourceSpec): string | undefined {
  const { parentUid } = fields;
  const parent = kinds.find(({ spec }) => parentUid && spec.kind === referredKindOf(parentUid))?.spec;
  // What is a part of its parent, or stands for others, has no list of its own.
  if (parent === undefined || listing?.singletonOf !== undefined || aggregatedKind({ owns }))
    return undefined;
  const isNamed = parent.deletion?.dependents?.some((each) => each.collection === collection);
  return isNamed ? undefined : parent.kind;
}

/** What a kind lacks, as what to do. */
function missingParts(spec: ResourceSpec): string[] {
  const { kind, capabilities, sharesParentUid } = spec;
  const name = lowerFirst(kind);
  // A resource of its own at the server has an address and a list.
  const hasList = !sharesParentUid;
  const parent = parentThatOmits(spec);
  const parts: readonly (readonly [isThere: boolean, advice: string])[] = [
    [capabilities !== undefined, `name the capabilities that its requests need in provider/kinds/${name}.ts`],
    [
      !hasList || kindTables.some((table) => table.kind === kind),
      `write emulator/tables/${name}.ts and run \`npm run docs\``,
    ],
    [
      samples.some((sample) => sample.kind === kind),
      "add to test/support/samples a sample that changes and clears each field once",
    ],
    [
      isThere(`examples/reference/resources/${name}.ts`),
      `write an example like subscription.ts in examples/reference/resources/${name}.ts`,
    ],
    [
      !hasList || `get${kind}` in platform,
      "add its lookups to provider/lookups/ofKinds.ts, as those of Subscription, with their documented arguments",
    ],
    [
      parent === undefined,
      `name its list in "dependents" of provider/kinds/${lowerFirst(parent ?? "")}.ts: a refused delete lists it`,
    ],
    [isThere(`docs/reference/resources/${kind}.md`), "run `npm run docs`"],
  ];
  return parts.flatMap(([isThere, advice]) => (isThere ? [] : [`${kind}: ${advice}`]));
}

/** Whether a description says of a field, of one around it or of all in it what a change does, or why it is harmless. */
function isJudgedField(field: FieldSpec): boolean {
  if (field.access !== undefined || field.harmless !== undefined) return true;
  if (field.type === "object") return Object.values(field.fields).every(isJudgedField);
  return field.type === "list"
    ? isJudgedField(field.items)
    : field.type === "map" && isJudgedField(field.values);
}

interface Around {
  readonly path: string;
  readonly effect?: AccessEffect | "none";
  /** Whether a list or a map is around it, which is drift as a whole. */
  readonly isPart: boolean;
}

/** What the description of a field leaves unsaid, and what to write. */
function unsaidOf(field: FieldSpec, { path, effect: inherited, isPart }: Around): string[] {
  const effect = effectOf(field, inherited);
  const isOrdered = effect === "permission" || effect === "restriction";
  const within = { effect, isPart: isPart || field.type === "list" || field.type === "map" };
  const inner: readonly (readonly [string, FieldSpec])[] =
    field.type === "object"
      ? Object.entries(field.fields).map(([key, each]) => [`${path}.${key}`, each])
      : field.type === "list"
        ? [[`${path}[]`, field.items]]
        : field.type === "map"
          ? [[`${path}{}`, field.values]]
          : [];
  return [
    ...(field.type === "list" && field.unordered === undefined && field.maxItems !== 1
      ? [`${path}: write \`unordered: true\` if order and repetition mean nothing, else \`unordered: false\``]
      : []),
    ...(field.type === "enum" && isOrdered && !isPart && field.ordered !== true
      ? [
          `${path}: write \`ordered: true\`, with the names from the least to the most, or \`access: "other"\``,
        ]
      : []),
    ...inner.flatMap(([at, each]) => unsaidOf(each, { path: at, ...within })),
  ];
}

/** What a description leaves unsaid: of which field, and what to write in which file. */
function unsaid({ kind, fields, inputWarnings }: ResourceSpec): string[] {
  const { name } = fields;
  const isNameTold =
    name?.type !== "string" || name.pattern !== undefined || inputWarnings?.["name"] !== undefined;
  const advice = Object.entries(fields).flatMap(([path, field]) => [
    ...(isJudgedField(field)
      ? []
      : [
          `${path}: write \`access\`, what a change of it does to access, or \`harmless\`, why it does nothing`,
        ]),
    ...unsaidOf(field, { path, isPart: false }),
  ]);
  if (!isNameTold) advice.push("name: write its `pattern`, or `inputWarnings: { name: adviseOnName }`");
  return advice.map((line) => `provider/kinds/${lowerFirst(kind)}.ts: ${line}`);
}

describe("a kind of resource", () => {
  test("has its example in a separate file, not in its source", () => {
    const sources = [...sourcesIn("provider/kinds"), ...sourcesIn("provider/lookups")];
    expect(sources.length).toBeGreaterThan(kinds.length);
    const found = sources.filter((file) => read(file).includes("@example"));
    expect(found.map((file) => `${file}: move its example to examples/reference`)).toEqual([]);
  });

  test.each(kinds.map(({ spec }) => [spec.kind, spec] as const))(
    "%s has everything that a kind needs, and its description leaves nothing unsaid",
    (_kind, spec) => {
      expect([...missingParts(spec), ...unsaid(spec)]).toEqual([]);
    },
  );

  test("is in the list when a file describes it, and its class has the name of the file", () => {
    const listed = kinds.map(({ spec }) => spec.kind);
    const described = sourcesIn("provider/kinds").flatMap((file) => {
      const name = /export class (\w+) extends resource/.exec(read(file))?.[1];
      return name === undefined ? [] : [{ name, file }];
    });
    const forgotten = described.filter(({ name }) => !listed.includes(name));
    expect(forgotten.map(({ name, file }) => `run \`npm run docs\` for ${name} of ${file}`)).toEqual([]);
    const fileOf = (name: string) => `provider/kinds/${lowerFirst(name)}.ts`;
    expect(described.filter(({ name, file }) => file !== fileOf(name))).toEqual([]);
    expect(described).toHaveLength(kinds.length);
  });
});
