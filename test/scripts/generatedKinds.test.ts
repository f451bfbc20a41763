import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { accessMeanings } from "../../provider/fields/fieldSpec";
import { formatWords } from "../../provider/fields/formats";
import { kinds } from "../../provider/kinds";
import { capabilityNames } from "../../provider/kinds/capabilities";
import { settingDefinitions } from "../../provider/settings/definitions";
import type { SettingDefinition } from "../../provider/settings/definitions";
import { hostVariables } from "../../provider/settings/environment";
import { ruleReferences, uncomparedFields } from "../../scripts/lib/generatedPages.cjs";
import { evaluate, projectRoot } from "./support";

// eslint-disable-next-line @typescript-eslint/no-require-imports
const load = (file: string): unknown => require(path.join(projectRoot, "provider", file));
const specs = JSON.stringify(kinds.map(({ spec }) => spec));
const root = JSON.stringify(projectRoot);
const read = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");

/** A text without what only lays it out. */
const contentOf = (text: string): string => text.replace(/[\s,]+/g, "").replace(/-{3,}/g, "---");

test("each lookup with arguments has a table of them", () => {
  const pages = readdirSync(path.join(projectRoot, "docs/reference/lookups"));
  const empty = /^## (\w+)\n\n.*\n\n\| Argument .*\n\|.*\n(?!\|)/m;
  expect(pages.filter((page) => empty.test(read(`docs/reference/lookups/${page}`)))).toEqual([]);
});

test("docs/reference equals the output of npm run docs, and no page is stale", async () => {
  const given = [uncomparedFields(load), ruleReferences(load), formatWords, accessMeanings];
  const givenText = given.map((one) => JSON.stringify(one)).join(", ");
  const pages = await evaluate(
    "lib/reference/index.mjs",
    `((pages) => [...pages, ["stale", m.stalePages(${root}, pages).join()]])(m.referencePages(${root}, ${specs}, ${givenText}))`,
  );
  const written = new Map(pages as [string, string][]);
  expect(written.get("stale")).toBe("");
  written.delete("stale");
  expect(written.size).toBeGreaterThan(kinds.length);
  for (const [file, text] of written) expect([file, contentOf(read(file))]).toEqual([file, contentOf(text)]);
});

test("the plugin's schema and its enumerations equal the output of npm run docs", async () => {
  const modules = {
    "fields/formats": { formatWords },
    "kinds/index": { kinds: kinds.map(({ spec }) => ({ spec })) },
    "settings/definitions": { settingDefinitions },
  };
  const [schema, enumerations] = (await evaluate(
    "lib/pluginSchema.mjs",
    `((schema) => [schema, m.enumerationsModule(schema, ${JSON.stringify(capabilityNames)})])(m.pluginSchema(${root}, (file) => (${JSON.stringify(modules)})[file]))`,
  )) as [unknown, string];
  expect(JSON.parse(read("schema/plugin.json"))).toEqual(schema);
  expect(contentOf(read("provider/native/enumerations.ts"))).toBe(contentOf(enumerations));
});

test("templates/init equals the output of npm run docs, beside the texts of the command", async () => {
  const templates = await evaluate("lib/initTemplates.mjs", `[...m.initTemplates(${root})]`);
  const written = new Map(templates as [string, string][]);
  for (const [file, text] of written) expect([file, read(`templates/init/${file}`)]).toEqual([file, text]);
  const kept = readdirSync(path.join(projectRoot, "templates/init"), {
    recursive: true,
    encoding: "utf8",
  }).filter((file) => path.extname(file) !== "");
  expect(kept.sort()).toEqual([...written.keys(), "CODEOWNERS.txt", "commands.txt", "output.txt"].sort());
});

test("the capabilities of each job equal the output of npm run docs", async () => {
  const page = read("docs/least-privilege.md");
  const written = await evaluate(
    "lib/leastPrivilege.mjs",
    `((jobs) => [m.capabilitiesModule(jobs), m.withJobs(${JSON.stringify(page)}, jobs)])(m.jobsOf(${specs}))`,
  );
  const files = [read("examples/least-privilege/capabilities.ts"), page];
  expect(files.map(contentOf)).toEqual((written as string[]).map(contentOf));
});

test("every other variable of the list is read, and has a row in docs/settings.md", () => {
  const readers = readdirSync(path.join(projectRoot, "provider"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith("environment.ts"))
    .map((file) => read(`provider/${file}`))
    .join("\n");
  // As in `env["PATH"]`, and in `const { no_proxy: direct } = env`.
  const isRead = (name: string): boolean => readers.includes(`"${name}"`) || readers.includes(`${name}: `);
  expect(hostVariables.filter((name) => !isRead(name))).toEqual([]);
  const [table = ""] = /^\| Variable [^]*?\n\n/m.exec(read("docs/settings.md")) ?? [];
  expect([...table.matchAll(/^\| `(\w+)` .*\|.+\|.+\|$/gm)].map(([, name]) => name)).toEqual([
    ...hostVariables,
  ]);
});

test("every setting of the list is read", () => {
  const readers = read("provider/settings/settings.ts");
  const unread = Object.entries(settingDefinitions).filter(
    ([name, { variable, key }]: [string, SettingDefinition]) =>
      ![`settingDefinitions.${name}`, `{ ${name} } = settingDefinitions`, `"${variable}"`, `"${key}"`].some(
        (use) => readers.includes(use),
      ),
  );
  expect(unread).toEqual([]);
});

/** A table without what only lines up its columns. */
const rowsOf = (page: string): string[] =>
  page
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.replace(/\s*\|\s*/g, "|").replace(/-+/g, "-"));

test("docs/threats.md equals the output of npm run docs", async () => {
  const table = await evaluate("lib/corpus.mjs", `m.corpusTable(${JSON.stringify(projectRoot)})`);
  const page = readFileSync(path.join(projectRoot, "docs/threats.md"), "utf8");
  const [, ours = ""] = page.split("by `npm run docs`. -->");
  expect(rowsOf(ours)).toEqual(rowsOf(String(table)));
});
