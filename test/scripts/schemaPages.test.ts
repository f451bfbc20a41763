import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { projectRoot } from "./support";

/* A page for each published schema, with every member of it. */

const read = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");

/** Those of documents; `plugin.json` is for the engine. */
const names = readdirSync(path.join(projectRoot, "schema")).flatMap((file) =>
  file.endsWith(".schema.json") ? [file.replace(".schema.json", "")] : [],
);

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const membersOf = (schema: Schema): string[] => [
  ...Object.keys(schema.properties ?? {}),
  ...[
    ...Object.values(schema.properties ?? {}),
    ...Object.values(schema.definitions ?? {}),
    ...(schema.items ? [schema.items] : []),
  ].flatMap(membersOf),
];

test.each(names)("the page of %s names every member, with its meaning", (name) => {
  const page = read(`docs/reference/schemas/${name}.md`);
  const members = membersOf(JSON.parse(read(`schema/${name}.schema.json`)) as Schema);
  expect(members.length).toBeGreaterThan(3);
  expect(members.filter((member) => !page.includes(`| \`${member}\``))).toEqual([]);
  expect(page).not.toMatch(/\| +\|$/m);
});

test.each(names)("programs can load the schema of %s from the package", (name) => {
  const { exports } = JSON.parse(read("package.json")) as { exports: Record<string, unknown> };
  expect(Object.keys(exports)).toContain(`./schema/${name}.schema.json`);
});
