import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { listFiles, projectRoot } from "./support";

/* Comments name only files and parameters that exist, so that a rename cannot leave them behind. */

const files = listFiles();
const sources = files.filter((file) => /^(provider|emulator|scripts)\/.*\.(ts|mjs|cjs)$/.test(file));

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
  files.some((file) => file === name || file.endsWith(`/${name.replace(/^(\.\.?\/)+/, "")}`));

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

test.each(sources)("the comments of %s name files and parameters that exist", (file) => {
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
