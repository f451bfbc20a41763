import fc, { casesOf } from "../../../../support/properties";
import MarkdownIt from "markdown-it";
import { parseFragment } from "parse5";
import type { DefaultTreeAdapterMap } from "parse5";
import { logLine, logLines, visible, plainText } from "../../../../../provider/text/printable";
import {
  commentMarker,
  csv,
  html,
  json,
  markdown,
  markdownBlock,
  markdownCode,
  shorten,
  terminal,
  terminalLine,
  workflowMessage,
  workflowProperty,
} from "../../../../../provider/access/report/render/escape";

const words = `
  | \` \`\`\` \\ " * _ ~~ [ ] {+ @org/team #1 !7 %3 :rocket: http://evil.example www.evil.example a@b.example
  ![i](http://evil.example/x.png) [a](javascript:alert(1)) <script>alert(1)</script> --> ::error::x ##[error]x %0A
  --- &#64; </style> </details> x é 名`;
const invisible = "\n\r\t\u001b\u0007\u202e\u200b\u2028\u{e0041}\u0338\ud800\u00a0 ";
const pieces = [
  ...words.trim().split(/\s+/),
  ...Array.from(invisible),
  "\u001b[31m",
  "\u0301".repeat(9),
  ...["- ", "# ", "<!-- x -->", "<!-- pulumi-platform:review:acme/access/prod -->"],
  '"]; click a "http://evil.example"',
];
const hostile = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 30 }),
);
const runs = { numRuns: casesOf(600) };
const INVISIBLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069\u200b-\u200f\u2028\u2029\ufeff\p{Cs}]/u;

type Node = DefaultTreeAdapterMap["node"];
const elements = (node: Node): string[] => [
  ...("tagName" in node ? [node.tagName] : []),
  ...("childNodes" in node ? node.childNodes.flatMap(elements) : []),
];
const textOf = (node: Node): string =>
  "value" in node ? node.value : "childNodes" in node ? node.childNodes.map(textOf).join("") : "";
const comments = (node: Node): number =>
  (node.nodeName === "#comment" ? 1 : 0) +
  ("childNodes" in node ? node.childNodes.reduce((sum, child) => sum + comments(child), 0) : 0);

/** The part of a page where a host looks for mentions, references, emoji and addresses: not in code. */
const withoutCode = (node: Node): Node =>
  "childNodes" in node
    ? ({
        ...node,
        childNodes: node.childNodes.filter(({ nodeName }) => nodeName !== "code").map(withoutCode),
      } as Node)
    : node;

const reader = new MarkdownIt({ html: true, linkify: true, typographer: false });

test("an escaped text has no invisible characters and none that reorder others", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(plainText(text)).not.toMatch(INVISIBLE);
    }),
    runs,
  );
  expect(plainText("a\u202eb\nc\u001b[2J")).toBe("a\\u{202e}b\\nc\\u{1b}[2J");
  expect(plainText("家 é ✌️")).toBe("家 é ✌️");
});

test("in every form four marks stand on one letter, and the others are written out", () => {
  const name = (marks: number): string => `e${"\u0301".repeat(marks)}x`;
  const shown = `${name(4).slice(0, -1)}${"\\u{301}".repeat(296)}x`;
  const forms: readonly ((text: string) => string)[] = [
    ...[html, markdown, markdownCode, terminal, workflowMessage, csv, logLine, logLines],
    (text) => markdownBlock(text, ""),
    (text) => visible(text, 3_000),
  ];
  for (const form of forms) {
    const most = (text: string): number =>
      Math.max(0, ...(text.match(/\p{M}+/gu) ?? []).map((marks) => marks.length));
    expect(most(form(name(300)))).toBe(4);
    expect(form(name(4))).toContain(name(4));
    expect(most(form("\u0301x"))).toBe(0);
  }
  expect(plainText(name(300))).toBe(shown);
  expect(plainText(name(299))).not.toBe(shown);
  expect(plainText("\u0338x")).toBe("\\u{338}x");
  expect(JSON.parse(json(name(300)))).toBe(name(300));
  // Vietnamese taken apart, Thai, Hebrew with its points, Devanagari, a flag of marks after pictures.
  const words =
    "Vie\u0323\u0302t \u0e17\u0e35\u0e48 \u05e9\u05c1\u05bc\u05b8 \u0915\u094d\u0937\u093f \u203c\ufe0f\u2602\ufe0f";
  for (const word of words.split(" ")) expect(plainText(word)).toBe(word);
});

test("a text is cut between characters", () => {
  expect(shorten("ab😀cd", 4)).toBe("ab…d");
  expect(shorten("😀😀cd😀😀", 5)).toBe("😀😀…😀😀");
  expect(shorten("abc", 1)).toBe("…");
  expect(shorten("abcd", 4)).toBe("abcd");
  expect(shorten("😀😀😀", 4)).toBe("😀😀😀");
});

test("HTML of any text is that text and nothing else", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const tree = parseFragment(`<p title="${html(text)}">${html(text)}</p>`);
      expect(elements(tree)).toEqual(["p"]);
      expect(comments(tree)).toBe(0);
      expect(textOf(tree)).toBe(plainText(text));
      const [paragraph] = tree.childNodes;
      expect(paragraph).toMatchObject({ attrs: [{ name: "title", value: plainText(text) }] });
    }),
    runs,
  );
});

test("Markdown of any text is that text: no markup, link, mention, reference or emoji", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      for (const source of [
        `- **x** ${markdown(text)}\n`,
        `${markdown(text)}\n`,
        `| a | b |\n| --- | --- |\n| ${markdown(text)} | end |\n`,
      ]) {
        const whole = parseFragment(reader.render(source));
        expect(textOf(whole)).not.toMatch(/[\u200b\u00ad]/);
        expect(textOf(whole)).toContain(plainText(text).trim());
        const tree = withoutCode(whole);
        const allowed = source.startsWith("|")
          ? ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
          : source.startsWith("-")
            ? ["ul", "li", "strong"]
            : ["p"];
        const found = elements(tree);
        expect(found.length === 0 ? ["p"] : found).toEqual(allowed);
        expect(comments(tree)).toBe(0);
        const shown = textOf(tree);
        expect(shown).not.toMatch(/(^|[^\w`])@[a-z\d]/i);
        expect(shown).not.toMatch(/(^|\W)(#|GH-|!)\d/i);
        expect(shown).not.toMatch(/:\/\/|www\.\w|:\w+:/i);
      }
    }),
    runs,
  );
});

test("a share is a number, and what refers to a milestone or is a path is code", () => {
  expect(markdown('of bindings["ci pushes"].roleUid, or [" ')).toBe(
    'of `bindings["ci pushes"].roleUid`, or `[`"',
  );
  for (const text of ["4 of 5 (80 %)", "33%, limit 25%", "50%."]) expect(markdown(text)).toBe(text);
  for (const text of ["%18", '%"next"', "%v1", "50%),x"]) expect(markdown(text)).toMatch(/`/);
});

test("a name in Markdown is one piece of code, in a table too", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const sources = [
        `- x ${markdownCode(text)} y\n`,
        `| a | b |\n| --- | --- |\n| ${markdownCode(text)} | end |\n`,
      ];
      for (const source of sources) {
        const tree = parseFragment(reader.render(source));
        const found = elements(tree).filter(
          (name) => !["ul", "li", "table", "thead", "tbody", "tr", "th", "td"].includes(name),
        );
        expect(found).toEqual(["code"]);
        expect(elements(tree).filter((name) => name === "td").length).toBe(source.startsWith("|") ? 2 : 0);
        // CommonMark strips one space at both ends; a name of spaces alone is shown as one.
        if (plainText(text).trim() !== "")
          expect(textOf(tree).replace(/\s+/g, " ")).toContain(plainText(text).trim().replace(/ +/g, " "));
      }
    }),
    runs,
  );
});

test("a code block in Markdown cannot be closed by its content", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const tree = parseFragment(reader.render(`${markdownBlock(text, "ts")}\n\nafter\n`));
      expect(elements(tree)).toEqual(["pre", "code", "p"]);
    }),
    runs,
  );
});

/** How GitHub's runner reads a line, and what it then decodes. */
const command = /^\s*::(?<name>\S+?)(?: (?<properties>.*?))?::(?<message>.*)$/s;

test("a workflow command of any text is one command with that text", () => {
  const decode = (text: string): string =>
    text.replace(/%(2C|3A|0A|0D|25)/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)));
  fc.assert(
    fc.property(hostile, hostile, (title, message) => {
      const line = `::error title=${workflowProperty(title)},line=1::${workflowMessage(message)}`;
      expect(line).not.toMatch(/[\r\n]/);
      const groups = command.exec(line)?.groups;
      expect(groups?.["name"]).toBe("error");
      const [first, second, ...rest] = (groups?.["properties"] ?? "").split(",");
      expect(rest).toEqual([]);
      expect(second).toBe("line=1");
      expect(decode((first ?? "").slice("title=".length))).toBe(plainText(title));
      expect(decode(groups?.["message"] ?? "")).toBe(plainText(message));
    }),
    runs,
  );
});

test("no line for a terminal is a command to a runner or to the terminal", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const line = terminalLine(`  ${terminal(text)}`);
      expect(line).not.toMatch(/^\s*::/);
      expect(line).not.toContain("##");
      expect(line).not.toMatch(INVISIBLE);
    }),
    runs,
  );
});

test("JSON reads back as it was and is safe to print", () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const value = { [text]: [text] };
      const written = json(value);
      expect(JSON.parse(written)).toEqual(value);
      expect(written.replaceAll("\n", "")).not.toMatch(INVISIBLE);
      expect(written).not.toContain("##");
    }),
    runs,
  );
});

test("a marker's key cannot end the comment, and two keys have two markers", () => {
  const long = ["a", "b"].map((end) => commentMarker("review", "x".repeat(2_000) + end));
  expect(new Set(long).size).toBe(2);
  expect(long[0]?.length).toBeLessThan(1_200);
  fc.assert(
    fc.property(hostile, hostile, (one, other) => {
      const marker = commentMarker("review", one);
      expect(marker).toMatch(/^<!-- pulumi-platform:review:[A-Za-z0-9._/%-]* -->$/);
      expect(marker.slice(4, -3)).not.toContain("--");
      if (plainText(one) !== plainText(other)) expect(commentMarker("review", other)).not.toBe(marker);
    }),
    runs,
  );
});
