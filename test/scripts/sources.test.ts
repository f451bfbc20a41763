import { readFileSync, existsSync, readdirSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { listFiles, projectRoot } from "./support";
import { documents } from "../support/pages";

/* What no linter has a rule for: how the package throws errors, and where it reads variables. */

const files = listFiles().filter((file) => /^provider\/.*\.ts$/.test(file));

interface SourceRule {
  readonly instead: string;
  readonly forbidden: RegExp;
  /** The places that may, with the reason. */
  readonly except: readonly string[];
}

const rules: readonly SourceRule[] = [
  {
    instead: "every error has a code: throw a CodedError, or write its message withCode(…)",
    forbidden: /new (?:pulumi\.)?(?:Error|TypeError|RangeError|RunError)\((?!\s*withCode\(|\))/g,
    // Its lines have their codes already.
    except: ["provider/program/argumentErrors.ts: new pulumi.RunError("],
  },
  {
    instead: "every error has a code: extend CodedError",
    forbidden: /class \w+ extends Error\b/g,
    except: [
      "provider/errors/codedError.ts: class CodedError extends Error",
      // Caught where it is thrown: nobody sees it.
      "provider/access/trust/budget.ts: class BudgetExceeded extends Error",
    ],
  },
  {
    instead: "declare the variable in provider/settings/environment.ts, and read it from readEnvironment()",
    forbidden: /process\.env[.[]/g,
    except: [],
  },
];

const places = (text: string, file: string, forbidden: RegExp): string[] =>
  [...text.matchAll(forbidden)].map(([found]) => `${file}: ${found}`);

test.each(rules)("$instead", ({ forbidden, except }) => {
  const found = files.flatMap((file) =>
    places(readFileSync(path.join(projectRoot, file), "utf8"), file, forbidden),
  );
  expect(found.sort()).toEqual([...except].sort());
});

test.each([
  "throw new Error('no');",
  "throw new pulumi.RunError(\n  text,\n);",
  "class Refused extends Error {}",
  "const home = process.env['HOME'];",
])("finds %j", (text) => {
  expect(rules.flatMap(({ forbidden }) => places(text, "a.ts", forbidden))).toHaveLength(1);
});

/* Comments name only files and parameters that exist, so that a rename cannot leave them behind. */

const allFiles = listFiles();
const commented = allFiles.filter((file) => /^(provider|emulator|scripts)\/.*\.(ts|mjs|cjs)$/.test(file));

const parse = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(path.join(projectRoot, file), "utf8"), ts.ScriptTarget.Latest, true);

function forEachNode(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  for (const child of node.getChildren()) forEachNode(child, visit);
}

function commentsOf(source: ts.SourceFile): ReadonlySet<string> {
  const comments = new Set<string>();
  forEachNode(source, (node) => {
    for (const ranges of [ts.getLeadingCommentRanges, ts.getTrailingCommentRanges]) {
      const at = ranges === ts.getLeadingCommentRanges ? node.pos : node.end;
      for (const { pos, end } of ranges(source.text, at) ?? []) comments.add(source.text.slice(pos, end));
    }
  });
  return comments;
}

const exists = (name: string): boolean =>
  allFiles.some((file) => file === name || file.endsWith(`/${name.replace(/^(\.\.?\/)+/, "")}`));

function parametersOf(node: ts.Node): ts.NodeArray<ts.ParameterDeclaration> | undefined {
  if (ts.isFunctionLike(node)) return node.parameters;
  const value = ts.isVariableStatement(node) ? node.declarationList.declarations[0]?.initializer : undefined;
  return value !== undefined && ts.isFunctionLike(value) ? value.parameters : undefined;
}

/** Documented parameters that the function has not; any name may stand for a destructured one. */
function unknownParameters(source: ts.SourceFile): string[] {
  const unknown: string[] = [];
  forEachNode(source, (node) => {
    const parameters = parametersOf(node);
    if (parameters === undefined) return;
    const names = parameters.map(({ name }) => (ts.isIdentifier(name) ? name.text : undefined));
    const documented = ts.getJSDocTags(node).filter(ts.isJSDocParameterTag);
    const others = documented.map(({ name }) => name.getText(source)).filter((name) => !names.includes(name));
    const destructured = names.filter((name) => name === undefined).length;
    unknown.push(...others.filter((name) => !name.includes(".")).slice(destructured));
  });
  return unknown;
}

test.each(commented)("the comments of %s name files and parameters that exist", (file) => {
  const source = parse(file);
  const comments = [...commentsOf(source)];
  const named = comments.flatMap((comment) =>
    [...comment.replace(/"[^"\n]*"/g, "").matchAll(/(?<![\w/.*])[\w./-]*\w\.(?:ts|mjs|cjs|md)\b/g)].map(
      ([name]) => name,
    ),
  );
  expect(named.filter((name) => !exists(name))).toEqual([]);
  expect(unknownParameters(source)).toEqual([]);
});

/* The links between the documents: each file is there, and has the heading that is named. */

const read = (file: string): string => readFileSync(path.join(projectRoot, file), "utf8");

const withoutCodeBlocks = (text: string): string => text.replace(/^```.*?^```/gms, "");

/** The addresses of the headings of a page, as GitHub derives them. */
function anchorsOf(file: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutCodeBlocks(read(file)).matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replace(/ /g, "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** What is wrong with a link in a document; undefined if nothing is. */
function linkProblem(file: string, link: string): string | undefined {
  const [relative = "", anchor] = link.split("#");
  const target = relative === "" ? file : path.join(path.dirname(file), relative);
  if (!existsSync(path.join(projectRoot, target))) return `${link}: there is no ${target}`;
  const isNamed = anchor !== undefined && target.endsWith(".md");
  return isNamed && !anchorsOf(target).has(anchor) ? `${link}: ${target} has no such heading` : undefined;
}

test.each(documents)("every link of %s leads somewhere", (file) => {
  const text = withoutCodeBlocks(read(file)).replace(/`[^`\n]*`/g, "");
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  const local = links.filter((link) => !/^[a-z]+:/.test(link));
  expect(local.map((link) => linkProblem(file, link)).filter((problem) => problem !== undefined)).toEqual([]);
});

test("no captured document names a folder of the computer that captured it", () => {
  const folder = path.join(projectRoot, "test/fixtures/previews");
  const documents = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const places = documents.flatMap((name) =>
    [
      ...readFileSync(path.join(folder, name), "utf8").matchAll(
        /project:\/\/\/[^"#]*|(?<![\w:/.*-])\/[\w.-]+\/[^\s"\\]*/g,
      ),
    ].map(([place]) => place),
  );
  expect(places.length).toBeGreaterThan(1000);
  expect(
    places.filter(
      (place) =>
        !/^(project:\/\/\/(index\.js|node_modules\/)|\/program\/(index\.js|node_modules\/))/.test(place),
    ),
  ).toEqual([]);
});
