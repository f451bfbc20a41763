// @ts-check
import ts from "typescript";
import { Document, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";

/*
 * The example of a resource in YAML and in Python: by the native plugin, and for Python by the package that Pulumi generates
 * from its schema. Examples use what the three languages share: resources, lookups, secrets of the configuration, outputs.
 */

/** @typedef {import("./resourcePage.mjs").Spec} Spec */
/** @typedef {import("../../../provider/fields/fieldSpec.js").FieldSpec} Field */

/**
 * @typedef {object} Statement
 * @property {"config" | "resource" | "variable" | "output"} is
 * @property {string} name of the variable or the output; empty if there is none.
 * @property {string} label of the resource.
 * @property {string} kind of the resource.
 * @property {ts.Expression} value the arguments of the resource, or the value.
 * @property {readonly string[]} comments
 */

/** @param {ts.Node} node @returns {never} */
function refuse(node) {
  throw new Error(`an example has ${JSON.stringify(node.getText())}, which has no form in YAML and Python`);
}

/** The lines of the comments before a node. @param {ts.Node} node */
function commentsBefore(node) {
  const text = node.getSourceFile().text;
  const ranges = ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [];
  return ranges.map(({ pos, end }) => text.slice(pos, end).replace(/^\/\/ ?/, ""));
}

/** @param {string} name */
const snakeCase = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** @param {ts.Statement} node @returns {Statement[]} */
function statementOf(node) {
  const comments = commentsBefore(node);
  if (ts.isImportDeclaration(node)) return [];
  const declaration = ts.isVariableStatement(node) ? node.declarationList.declarations[0] : undefined;
  const value = ts.isExpressionStatement(node) ? node.expression : declaration?.initializer;
  if (!value) return refuse(node);
  const name = declaration?.name.getText() ?? "";
  if (!ts.isNewExpression(value)) {
    const isExported = ts.isVariableStatement(node) && node.modifiers?.[0] !== undefined;
    return [{ is: isExported ? "output" : "variable", name, label: "", kind: "", value, comments }];
  }
  const kind = value.expression.getText();
  const [label, args] = value.arguments ?? [];
  if (kind === "pulumi.Config") return [{ is: "config", name, label: "", kind, value, comments }];
  if (!label || !ts.isStringLiteral(label) || !args) return refuse(node);
  return [{ is: "resource", name, label: label.text, kind, value: args, comments }];
}

/** @param {string} text of the example in TypeScript. */
const statementsOf = (text) =>
  ts.createSourceFile("example.ts", text, ts.ScriptTarget.Latest, true).statements.flatMap(statementOf);

/** A call of `getRoleOutput` or of `config.requireSecret`, without what is read of its result. @param {ts.Expression} node */
function callOf(node) {
  const call = ts.isPropertyAccessExpression(node) ? node.expression : node;
  if (!ts.isCallExpression(call)) return undefined;
  const lookup = /^(get\w+)Output$/.exec(call.expression.getText())?.[1];
  const [argument] = call.arguments;
  const member = ts.isPropertyAccessExpression(node) ? node.name.text : undefined;
  if (lookup && member && argument) return { lookup, argument, member };
  if (!call.expression.getText().endsWith(".requireSecret") || !argument || !ts.isStringLiteral(argument))
    return refuse(node);
  return { secret: argument.text };
}

/** The members of an object. @param {ts.ObjectLiteralExpression} node */
const membersOf = (node) =>
  node.properties.map((property) => {
    if (!ts.isPropertyAssignment(property)) return refuse(property);
    const { name, initializer } = property;
    const key = ts.isStringLiteral(name) ? name.text : name.getText();
    return { key, value: initializer, comments: commentsBefore(property) };
  });

/** A plain value; undefined for any other. @param {ts.Expression} node @returns {string | number | boolean | undefined} */
function plainOf(node) {
  if (ts.isStringLiteral(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  return node.kind === ts.SyntaxKind.FalseKeyword ? false : undefined;
}

/** @param {string} key @param {unknown} value @param {readonly string[]} [comments] */
function yamlPair(key, value, comments = []) {
  const scalar = new Scalar(key);
  if (comments.length > 0) scalar.commentBefore = comments.map((line) => ` ${line}`).join("\n");
  return new Pair(scalar, value);
}

/** @param {readonly Pair[]} pairs */
function yamlMap(pairs) {
  const map = new YAMLMap();
  map.items = [...pairs];
  return map;
}

/** @param {ts.Expression} node @param {ReadonlyMap<string, string>} labels of resources, by their variables. @returns {unknown} */
function yamlOf(node, labels) {
  const plain = plainOf(node);
  if (plain !== undefined) return new Scalar(plain);
  if (ts.isArrayLiteralExpression(node)) {
    const list = new YAMLSeq();
    list.items = node.elements.map((element) => yamlOf(element, labels));
    return list;
  }
  if (ts.isObjectLiteralExpression(node)) {
    return yamlMap(
      membersOf(node).map(({ key, value, comments }) => yamlPair(key, yamlOf(value, labels), comments)),
    );
  }
  const call = callOf(node);
  if (call?.secret) return new Scalar(`\${${call.secret}}`);
  if (call?.argument) {
    const function_ = yamlMap([
      yamlPair("function", new Scalar(`platform:index:${call.lookup}`)),
      yamlPair("arguments", yamlOf(call.argument, labels)),
      yamlPair("return", new Scalar(call.member)),
    ]);
    return yamlMap([yamlPair("fn::invoke", function_)]);
  }
  const [first = "", ...path] = node.getText().split(".");
  return new Scalar(`\${${[labels.get(first) ?? first, ...path].join(".")}}`);
}

/** @param {string} text of the example in TypeScript. */
export function inYaml(text) {
  const statements = statementsOf(text);
  const labels = new Map(statements.flatMap(({ name, label }) => (name && label ? [[name, label]] : [])));
  const secrets = [...text.matchAll(/\.requireSecret\("(\w+)"\)/g)].map(([, key = ""]) => key);
  const ofSecret = () => yamlMap([yamlPair("type", "string"), yamlPair("secret", true)]);
  const section = (/** @type {string} */ is) => statements.filter((statement) => statement.is === is);
  const resources = section("resource").map(({ label, kind, value, comments }) => {
    const members = [
      yamlPair("type", `platform:index:${kind}`),
      yamlPair("properties", yamlOf(value, labels)),
    ];
    return yamlPair(label, yamlMap(members), comments);
  });
  const values = (/** @type {string} */ is) =>
    section(is).map(({ name, value, comments }) => yamlPair(name, yamlOf(value, labels), comments));
  const sections = Object.entries({
    config: secrets.map((key) => yamlPair(key, ofSecret())),
    variables: values("variable"),
    resources,
    outputs: values("output"),
  }).filter(([, pairs]) => pairs.length > 0);
  const document = new Document();
  document.contents = yamlMap([
    yamlPair("name", "acme"),
    yamlPair("runtime", "yaml"),
    ...sections.map(([key, pairs]) => yamlPair(key, yamlMap(pairs))),
  ]);
  return document.toString({ lineWidth: 0, defaultStringType: "PLAIN" });
}

/** How long a line of Python may be. */
const WIDTH = 88;

/**
 * Items between brackets: on one line where they fit, and none has a comment.
 * @param {string} open @param {string} close
 * @param {readonly { head: string, print: (indent: number) => string, comments: readonly string[] }[]} items
 * @param {number} indent of the line that they begin in.
 * @param {number} column that they begin at.
 */
function pythonList(open, close, items, indent, column = indent) {
  const line = `${open}${items.map(({ head, print }) => head + print(0)).join(", ")}${close}`;
  const isCommented = items.some(({ comments }) => comments.length > 0);
  if (!isCommented && !line.includes("\n") && column + line.length <= WIDTH) return line;
  const inner = " ".repeat(indent + 4);
  const lines = items.flatMap(({ head, print, comments }) => [
    ...comments.map((comment) => `${inner}# ${comment}`),
    `${inner}${head}${print(indent + 4)},`,
  ]);
  return [open, ...lines, `${" ".repeat(indent)}${close}`].join("\n");
}

/** @param {ts.Expression} node @param {Field | undefined} field @param {number} indent @returns {string} */
function pythonOf(node, field, indent) {
  const plain = plainOf(node);
  if (typeof plain === "boolean") return plain ? "True" : "False";
  if (plain !== undefined) return JSON.stringify(plain);
  if (ts.isArrayLiteralExpression(node)) {
    const item = field?.type === "list" ? field.items : undefined;
    const items = node.elements.map((element) => ({
      head: "",
      print: (/** @type {number} */ at) => pythonOf(element, item, at),
      comments: [],
    }));
    return pythonList("[", "]", items, indent);
  }
  if (ts.isObjectLiteralExpression(node))
    return pythonList(
      "{",
      "}",
      pythonMembers(node, field, (key) => `${JSON.stringify(key)}: `),
      indent,
    );
  const call = callOf(node);
  if (call?.secret) return `config.require_secret(${JSON.stringify(call.secret)})`;
  if (call?.argument) {
    if (!ts.isObjectLiteralExpression(call.argument)) return refuse(node);
    const args = pythonMembers(call.argument, undefined, (key) => `${key}=`);
    const made = pythonList(`platform.${snakeCase(call.lookup)}_output(`, ")", args, indent);
    return `${made}.${snakeCase(call.member)}`;
  }
  return node.getText().split(".").map(snakeCase).join(".");
}

/**
 * The members of an object: the names of fields are Python's own, those of a map are the user's.
 * @param {ts.ObjectLiteralExpression} node @param {Field | undefined} field @param {(key: string) => string} headOf
 */
function pythonMembers(node, field, headOf) {
  return membersOf(node).map(({ key, value, comments }) => {
    const ofMember = field?.type === "object" ? field.fields[key] : undefined;
    return {
      head: headOf(field?.type === "map" ? key : snakeCase(key)),
      print: (/** @type {number} */ indent) =>
        pythonOf(value, field?.type === "map" ? field.values : ofMember, indent),
      comments,
    };
  });
}

/** @param {string} text of the example in TypeScript. @param {readonly Spec[]} specs */
export function inPython(text, specs) {
  const statements = statementsOf(text);
  const lines = statements.map(({ is, name, label, kind, value, comments }) => {
    const head = is !== "output" && name ? `${snakeCase(name)} = ` : "";
    const print = () => {
      if (is === "config") return "pulumi.Config()";
      if (is === "output") return `pulumi.export(${JSON.stringify(name)}, ${pythonOf(value, undefined, 0)})`;
      if (is === "variable") return pythonOf(value, undefined, 0);
      const spec = specs.find((each) => each.kind === kind);
      if (!spec || !ts.isObjectLiteralExpression(value)) return refuse(value);
      const whole = /** @type {Field} */ ({ type: "object", fields: spec.fields });
      const members = pythonMembers(value, whole, (key) => `${key}=`);
      const args = [{ head: JSON.stringify(label), print: () => "", comments: [] }, ...members];
      return pythonList(`platform.${kind}(`, ")", args, 0, head.length);
    };
    return [...comments.map((comment) => `# ${comment}`), head + print()].join("\n");
  });
  const usesPulumi = statements.some(({ is }) => is === "config" || is === "output");
  const imports = [...(usesPulumi ? ["import pulumi"] : []), "import pulumi_platform as platform"];
  return `${imports.join("\n")}\n\n${lines.join("\n\n")}\n`;
}
