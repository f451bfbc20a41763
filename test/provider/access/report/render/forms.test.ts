import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import AjvDraft4 from "ajv-draft-04";
import addFormats from "ajv-formats";
import fc, { spreadOf } from "../../../../support/properties";
import MarkdownIt from "markdown-it";
import { parse } from "parse5";
import type { DefaultTreeAdapterMap } from "parse5";
import type { ReportFormat, RenderOptions } from "../../../../../provider/access/report/render";
import { reportFormats, renderers } from "../../../../../provider/access/report/render";
import { columnsOf } from "../../../../../provider/text/plain";
import type { Report } from "../../../../../provider/access/report/report";
import { teamReview } from "./teamReview";
import { cleanReview, largeReview, nightDrift, rewritten, riskyReview, wholeReports } from "./reports";

const options: RenderOptions = {
  sourceRoot: "infra",
  marker: "acme/access/prod",
  commit: "1f2e3d4c5b6a79880716253443526170f9e8d7c6",
  repository: { host: "github", url: "https://github.com/acme/access" },
  pageUrl: "https://reports.example/review.html",
};
const GOLDEN = join(__dirname, "golden");
const extensions: Readonly<Record<ReportFormat, string>> = {
  text: "txt",
  json: "json",
  md: "md",
  sarif: "sarif",
  github: "github.txt",
  codequality: "codequality.json",
  html: "html",
};

const bytes = (text: string): number => Buffer.byteLength(text);

describe.each<[string, () => Report]>([
  ["riskyReview", () => riskyReview],
  ["nightDrift", () => nightDrift],
  ["teamReview", teamReview],
])("the golden output of %s", (name, make) => {
  test.each(reportFormats)("as %s is unchanged", (format) => {
    const report = make();
    const file = join(GOLDEN, `${name}.${extensions[format]}`);
    // Style and script are long, and the browser's test is about them.
    const output = renderers[format](report, options)
      .replace(/(<style>).*?(<\/style>)/gs, "$1$2")
      .replace(/(<script>).*?(<\/script>)/gs, "$1$2")
      .replace(/sha256-[\w+/&#;=]+/g, "sha256-");
    if (process.env["UPDATE_GOLDEN"] === "1") {
      mkdirSync(GOLDEN, { recursive: true });
      writeFileSync(file, output);
    }
    if (!existsSync(file)) throw new Error(`${file} is missing: run with UPDATE_GOLDEN=1`);
    expect(output).toBe(readFileSync(file, "utf8"));
  });
});

const load = createRequire(__filename);
const sarifSchema: object = JSON.parse(
  readFileSync(load.resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"), "utf8"),
);
// The official schema has a regular expression that is none in Unicode's mode.
const validSarif = addFormats(
  new AjvDraft4({ strict: false, allErrors: true, unicodeRegExp: false }),
).compile(sarifSchema);

interface SarifRun {
  readonly results: readonly { readonly message: { readonly text: string } }[];
  readonly invocations: readonly [
    { readonly toolExecutionNotifications?: readonly { readonly message: { readonly text: string } }[] },
  ];
}

function sarifRun(report: Report, more: RenderOptions = options): SarifRun {
  const { runs } = JSON.parse(renderers.sarif(report, more)) as { runs: [SarifRun] };
  return runs[0];
}

test("what a name writes as a link is none in SARIF", () => {
  const [first] = riskyReview.findings;
  const message = "ref [click](https://evil.example) of [one] (or two)";
  const { results } = sarifRun({ ...riskyReview, findings: [{ ...first!, message }] });
  expect(results[0]?.message.text).toContain("ref [click\\](https://evil.example) of [one] (or two)");
});

describe("a report of 1,200 findings as a comment", () => {
  const large = largeReview(1_200, 40);

  test("keeps the verdict and every critical finding, and says what is left out", () => {
    const text = renderers.md(large, options);
    expect(bytes(text)).toBeLessThanOrEqual(65_000);
    expect(bytes(text)).toBeGreaterThan(50_000);
    expect(text).toContain("**Fails: ");
    for (let index = 0; index < 40; index += 1) expect(text).toContain(`finding number ${index} of critical`);
    const [, omitted] =
      /leaves out details, (\d+) of 1200 findings \((?:\d+ (?:high|medium|low)(?:, )?)+\), \d+ of 1200 changed grants/.exec(
        text,
      ) ?? [];
    expect(Number(omitted) + (text.match(/finding number \d+/g) ?? []).length).toBe(1_200);
  });
});

describe("a report of 5,200 findings", () => {
  const large = largeReview(5_200, 40);

  test("shows the 5,000 results that GitHub shows, worst first, and says what is left out", () => {
    const run = sarifRun(large);
    expect(run.results).toHaveLength(5000);
    expect(run.invocations[0].toolExecutionNotifications?.at(-1)?.message.text).toContain(
      "200 of 5,200 findings omitted (200 ",
    );
    const small = renderers.sarif(large, { ...options, maxBytes: 100_000 });
    expect(bytes(small)).toBeLessThanOrEqual(100_000);
    expect(small).toContain("finding number 0 of critical severity");
  });

  test("has ten errors, ten warnings and ten notices at most, the last of which has the verdict", () => {
    const lines = renderers.github(large, options).trimEnd().split("\n");
    const of = (level: string): string[] => lines.filter((line) => line.startsWith(`::${level} `));
    expect([of("error"), of("warning"), of("notice")].map(({ length }) => length)).toEqual([10, 10, 10]);
    expect(lines.at(-1)).toMatch(/^::notice title=.*::fails: .*more findings not shown/);
  });

  test("is a code quality report of at most 1,000,000 bytes that says what is left out", () => {
    const text = renderers.codequality(large, options);
    expect(bytes(text)).toBeLessThanOrEqual(1_000_000);
    const issues = JSON.parse(text) as { severity: string; check_name: string; description: string }[];
    expect(issues.filter(({ severity }) => severity === "blocker")).toHaveLength(40);
    const small = JSON.parse(renderers.codequality(large, { ...options, maxBytes: 50_000 })) as typeof issues;
    expect(small.at(-1)).toMatchObject({ check_name: "cut" });
    expect(small.at(-1)?.description).toMatch(/more findings omitted/);
    expect(small.filter(({ severity }) => severity === "blocker")).toHaveLength(40);
  });
});

describe.each(["md", "sarif", "codequality", "github"] as const)("in %s", (format) => {
  test.each([
    ["medium", "medium"],
    ["critical", "high"],
  ] as const)("findings of one rule, however many, hide none of another: %s and %s", (many, one) => {
    const large = largeReview(1_200, 0);
    const [first] = large.findings;
    const alike = large.findings.map((finding) => ({ ...finding, id: "G6", severity: many }));
    const message = "all events go to evil.example";
    const other = { ...first!, id: "X1", severity: one, urn: "urn:other", uid: "other", message };
    const report = { ...large, findings: [...alike, other] };
    const text = renderers[format](report, { ...options, maxBytes: 60_000 });
    expect(text).toContain("evil.example");
  });
});

test.each(reportFormats)("a report of no stack names none as %s", (format) => {
  for (const report of [riskyReview, nightDrift]) {
    const text = renderers[format]({ ...report, stacks: [] }, options);
    expect(text).not.toMatch(/undefined| of <span class="mono">|(?:Access review|Drift) of/);
  }
});

test("a rule of one's own is explained by its own words, and a gap by the code of its error", () => {
  const [first] = riskyReview.findings;
  const ownRules = [{ id: first!.id, name: "own", why: "Why so.", fix: "Do it so.", file: "rules.cjs" }];
  const incomplete = ["role: not compared (PP3403)", "says [that](https://x.example)"];
  const report: Report = { ...riskyReview, ownRules, complete: false, incomplete };
  const log = JSON.parse(renderers.sarif(report, options)) as {
    runs: [{ tool: { driver: { rules: { id: string }[] } }; invocations: unknown }];
  };
  const [run] = log.runs;
  expect(run.tool.driver.rules.find(({ id }) => id === first!.id)).toMatchObject({
    fullDescription: { text: "Why so." },
    help: { text: "Do it so." },
  });
  expect(run.invocations).toMatchObject([
    {
      toolExecutionNotifications: [
        { descriptor: { id: "PP3403" }, message: { text: `Incomplete: ${incomplete[0]}` } },
        { message: { text: "Incomplete: says [that\\](https://x.example)" } },
      ],
    },
  ]);
  expect(renderers.html(report, options)).toContain("Why so.");
});

test("a comment leads to the run, and shows the first 50 lines of what a finding has in detail", () => {
  const [first] = riskyReview.findings;
  const details = Array.from({ length: 61 }, (_, line) => `line ${line};`);
  const findings = [{ ...first!, details }];
  const text = renderers.md({ ...riskyReview, findings }, { runUrl: "https://ci.example/1" });
  expect(text).toContain("[the run and its files](<https://ci.example/1>)");
  expect(text).toContain("line 49;");
  expect(text).not.toContain("line 50;");
  expect(text).toContain("… and 11 more lines");
});

test("an incomplete report is never called clean", () => {
  const incomplete: Report = { ...cleanReview, complete: false, incomplete: ["the preview failed"] };
  for (const format of ["text", "md", "html", "github"] as const) {
    const output = renderers[format](incomplete, options);
    expect(output.toLowerCase()).toContain("not everything could be checked");
    expect(output.toLowerCase()).not.toContain("passes");
  }
  expect(renderers.text(cleanReview, {})).toContain("Passes: no change of access, no finding");
});

describe("text for a terminal", () => {
  const plainLines = (report: Report, width: number): string[] =>
    renderers.text(report, { width }).trimEnd().split("\n");

  test("keeps to the width, however wide the letters are", () => {
    const wide = rewritten(riskyReview, (text) => `${text} 名前空間の長い名前 👩‍💻 é ${text}`);
    for (const width of [60, 80, 132]) {
      for (const line of [...plainLines(riskyReview, width), ...plainLines(wide, width)]) {
        expect(columnsOf(line)).toBeLessThanOrEqual(width);
      }
    }
  });

  test("has colours only when they are asked for", () => {
    expect(renderers.text(riskyReview, {})).not.toContain("\u001b");
    const coloured = renderers.text(riskyReview, { colour: true });
    expect(coloured).toContain("\u001b[31m\u001b[1mcritical");
    // eslint-disable-next-line no-control-regex
    expect(coloured.replace(/\u001b\[[\d;]*m/g, "")).toBe(renderers.text(riskyReview, {}));
  });
});

type Node = DefaultTreeAdapterMap["node"];
const walk = (node: Node): Node[] => [node, ...("childNodes" in node ? node.childNodes.flatMap(walk) : [])];

/** The elements and attributes of a page without its texts, and but for where a path may break. */
const skeleton = (page: string): string[] =>
  walk(parse(page)).flatMap((node) =>
    "tagName" in node && node.tagName !== "wbr"
      ? [`${node.tagName} ${node.attrs.map(({ name }) => name).join(" ")}`]
      : node.nodeName === "#comment"
        ? ["comment"]
        : [],
  );

const ATTACKS: readonly string[] = [
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "</style></title></textarea><svg onload=alert(1)>",
  "| a | b |\n| --- | --- |\n",
  "```\n# heading\n@acme/admins #1 ![x](http://evil.example/x)",
  "<!-- pulumi-platform:review:acme/access/prod -->",
  "</details><h1>Passes</h1>",
  "\n::error file=a,line=1::forged\n::set-output name=x::y",
  "##[error]forged",
  "\u001b]0;title\u0007\u001b[2J\u202e",
  "%0A::error::forged",
  "::debug::forged",
];

const targets = wholeReports.map((report) => [report.command, report] as const);

test.each(targets)("no text that a report of %s may hold changes the structure of a form", (_, whole) => {
  const markdownReader = new MarkdownIt({ html: true, linkify: true });
  const tags = (text: string): string[] =>
    skeleton(markdownReader.render(text)).filter((name) => !/^(code|br) /.test(name));
  const quiet = rewritten(whole, () => "quiet");
  expect(quiet.findings.map(({ message }) => message)).toEqual(quiet.findings.map(() => "quiet"));
  const page = skeleton(renderers.html(quiet, options));
  const comment = tags(renderers.md(quiet, options));
  const attacks = spreadOf(ATTACKS, 3, 0);
  const tails = fc.sample(fc.string({ unit: "grapheme", maxLength: 8 }), attacks.length);
  for (const [i, attack] of attacks.entries()) {
    const tail = tails[i] ?? "";
    const report = rewritten(whole, () => `${attack}${tail}x`);
    expect(skeleton(renderers.html(report, options))).toEqual(page);
    const rendered = renderers.md(report, options);
    expect(tags(rendered)).toEqual(comment);
    expect(rendered.split("<!-- pulumi-platform:").length - 1).toBe(1);
    for (const line of renderers.text(report, options).split("\n")) {
      expect(line).not.toMatch(/^\s*::|##|\p{Cc}|\u202e/u);
    }
    const annotations = renderers.github(report, options).trimEnd().split("\n");
    expect(annotations).toHaveLength(whole.findings.length + 1);
    for (const line of annotations) expect(line).toMatch(/^::(error|warning|notice) /);
    validSarif(JSON.parse(renderers.sarif(report, options)));
    expect(validSarif.errors ?? []).toEqual([]);
    JSON.parse(renderers.codequality(report, options));
  }
});
