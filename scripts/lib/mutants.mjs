// @ts-check
import ts from "typescript";

/*
 * Small defects that can be put into a source: one place each, and the program still compiles in most cases.
 */

/**
 * @typedef {object} Mutant
 * @property {string} what What becomes of the place: `=== becomes !==`.
 * @property {number} start Where the replaced text begins.
 * @property {number} end Where it ends.
 * @property {string} replacement
 * @property {number} line From 1.
 */

/** What takes the place of each operator. @type {ReadonlyMap<ts.SyntaxKind, string>} */
const OPERATORS = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, "!=="],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, "==="],
  [ts.SyntaxKind.LessThanToken, "<="],
  [ts.SyntaxKind.LessThanEqualsToken, "<"],
  [ts.SyntaxKind.GreaterThanToken, ">="],
  [ts.SyntaxKind.GreaterThanEqualsToken, ">"],
  [ts.SyntaxKind.AmpersandAmpersandToken, "||"],
  [ts.SyntaxKind.BarBarToken, "&&"],
  [ts.SyntaxKind.PlusToken, "-"],
  [ts.SyntaxKind.MinusToken, "+"],
  [ts.SyntaxKind.AsteriskToken, "/"],
  [ts.SyntaxKind.PlusEqualsToken, "-="],
]);

/** Whether a sum has a text in it: to subtract texts is no defect that anybody would write. @param {ts.Node} node */
const isText = (node) =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || ts.isNoSubstitutionTemplateLiteral(node);

/** @param {ts.Node} node @returns {[ts.Node, string, string][]} The part that is replaced, by what, and how it is called. */
function replacementsOf(node) {
  if (ts.isBinaryExpression(node)) {
    const operator = OPERATORS.get(node.operatorToken.kind);
    if (operator === undefined || isText(node.left) || isText(node.right)) return [];
    return [[node.operatorToken, operator, `${node.operatorToken.getText()} becomes ${operator}`]];
  }
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [[node, node.operand.getText(), "a negation is removed"]];
  if (node.kind === ts.SyntaxKind.TrueKeyword && !ts.isLiteralTypeNode(node.parent))
    return [[node, "false", "true becomes false"]];
  if (node.kind === ts.SyntaxKind.FalseKeyword && !ts.isLiteralTypeNode(node.parent))
    return [[node, "true", "false becomes true"]];
  if (ts.isIfStatement(node))
    return [
      [node.expression, "true", "a condition is always true"],
      [node.expression, "false", "a condition is never true"],
    ];
  if (ts.isConditionalExpression(node))
    return [
      [node.condition, "true", "a condition is always true"],
      [node.condition, "false", "a condition is never true"],
    ];
  if (ts.isNumericLiteral(node) && !ts.isLiteralTypeNode(node.parent))
    return [[node, `(${node.getText()} + 1)`, `${node.getText()} grows by one`]];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0)
    return [[node, "[]", "a list is emptied"]];
  if (ts.isExpressionStatement(node)) {
    const { expression } = node;
    const called = ts.isAwaitExpression(expression) ? expression.expression : expression;
    if (ts.isCallExpression(called) && called.expression.kind !== ts.SyntaxKind.SuperKeyword)
      return [[node, ";", "a call is removed"]];
  }
  return [];
}

/**
 * Every defect that can be put into a source, in the order of the text. Types, imports and names are left alone.
 * @param {string} file @param {string} text
 * @returns {Mutant[]}
 */
export function mutantsOf(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Mutant[]} */
  const found = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    for (const [part, replacement, what] of replacementsOf(node)) {
      const start = part.getStart(source);
      const line = source.getLineAndCharacterOfPosition(start).line + 1;
      found.push({ what, start, end: part.getEnd(), replacement, line });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** @param {string} text @param {Mutant} mutant */
export const applyMutant = (text, { start, end, replacement }) =>
  text.slice(0, start) + replacement + text.slice(end);
