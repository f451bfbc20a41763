import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import type { FieldSpec } from "../../provider/fields/fieldSpec";
import * as platform from "../../provider/index";
import { kinds } from "../../provider/kinds";
import { ROOT } from "../support/engine";
import { Project } from "../support/project";
import { lowerFirst } from "../../scripts/lib/letterCase.cjs";

/*
 * What an editor shows of the packed package: the questions that it asks the language service, for each kind, by the
 * descriptions of the kinds.
 */

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.Node16,
  moduleResolution: ts.ModuleResolutionKind.Node16,
  strict: true,
  skipLibCheck: true,
  types: [],
};

interface Shown {
  readonly text: string;
  readonly documentation: string;
  /** What the tag `@example` of its comment says. */
  readonly example: string;
}

/** A stretch of the program that the editor shows. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** One program of all statements that are asked about: each other program would have to be checked anew. */
class Page {
  text = 'import * as platform from "pulumi-platform";\n';

  /** Adds a statement on a line of its own. */
  add(statement: string): Place {
    const start = this.text.length;
    this.text += `${statement}\n`;
    return { start, end: start + statement.length };
  }

  /** Adds a statement; returns where its last such word begins. */
  addWord(statement: string, word: string): number {
    return this.add(statement).start + statement.lastIndexOf(word);
  }

  /** Adds a statement that is still written, at its `|`. */
  addCursor(statement: string): number {
    return this.add(statement.replace("|", "")).start + statement.indexOf("|");
  }
}

class Editor {
  private readonly file: string;
  private readonly service: ts.LanguageService;
  private readonly diagnostics: readonly ts.Diagnostic[];

  constructor(directory: string, { text }: Page) {
    this.file = join(directory, "index.ts");
    const read = (path: string) => (path === this.file ? text : ts.sys.readFile(path));
    this.service = ts.createLanguageService({
      getScriptFileNames: () => [this.file],
      getScriptVersion: () => "1",
      getScriptSnapshot: (path) => {
        const found = read(path);
        return found === undefined ? undefined : ts.ScriptSnapshot.fromString(found);
      },
      getCurrentDirectory: () => directory,
      getCompilationSettings: () => compilerOptions,
      getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
      fileExists: (path) => path === this.file || ts.sys.fileExists(path),
      readFile: read,
      readDirectory: (...args) => ts.sys.readDirectory(...args),
      directoryExists: (path) => ts.sys.directoryExists(path),
      getDirectories: (path) => ts.sys.getDirectories(path),
    });
    this.diagnostics = this.service.getSemanticDiagnostics(this.file);
  }

  hover(position: number): Shown {
    const info = this.service.getQuickInfoAtPosition(this.file, position);
    return {
      text: ts.displayPartsToString(info?.displayParts),
      documentation: ts.displayPartsToString(info?.documentation),
      example: ts.displayPartsToString(info?.tags?.find(({ name }) => name === "example")?.text),
    };
  }

  complete(position: number, of = ts.ScriptElementKind.memberVariableElement): string[] {
    return (this.service.getCompletionsAtPosition(this.file, position, undefined)?.entries ?? [])
      .filter(({ kind }) => kind === of)
      .map(({ name }) => name);
  }

  errors({ start, end }: Place): string[] {
    return this.diagnostics
      .filter((diagnostic) => (diagnostic.start ?? 0) >= start && (diagnostic.start ?? 0) < end)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  }
}

type Fields = Readonly<Record<string, FieldSpec>>;

/** A value of the type of each field that must be given. */
function required(fields: Fields): string {
  const members = Object.entries(fields)
    .filter(([, field]) => field.required)
    .map(([key, field]) => `${key}: ${valueOf(field)}`);
  return `{ ${members.join(", ")} }`;
}

function valueOf(field: FieldSpec): string {
  switch (field.type) {
    case "boolean":
      return "true";
    case "integer":
      return "1";
    case "list":
      return `[${valueOf(field.items)}]`;
    case "map":
      return `{ a: ${valueOf(field.values)} }`;
    case "object":
      return required(field.fields);
    default:
      return '"text" as never';
  }
}

/** The objects among fields, with a program text that opens one of them. */
function objectsIn(
  fields: Fields,
  around: (inner: string) => string,
): { around: typeof around; fields: Fields }[] {
  return Object.entries(fields).flatMap(([key, field]) => {
    const open = { list: ["[", "]"], map: ["{ a: ", " }"] } as const;
    let [before, after, inner]: [string, string, FieldSpec] = ["", "", field];
    while (inner.type === "list" || inner.type === "map") {
      [before, after] = [`${before}${open[inner.type][0]}`, `${open[inner.type][1]}${after}`];
      inner = inner.type === "list" ? inner.items : inner.values;
    }
    if (inner.type !== "object") return [];
    const within = (text: string) => around(`${key}: ${before}{ ${text} }${after}`);
    return [{ around: within, fields: inner.fields }, ...objectsIn(inner.fields, within)];
  });
}

let project: Project;
let editor: Editor;
const page = new Page();

beforeAll(async () => {
  project = await Project.with("npm");
  editor = new Editor(project.directory, page);
});

afterAll(() => project.dispose());

describe.each(kinds.map(({ spec }) => [spec.kind, spec] as const))("an editor shows of %s", (kind, spec) => {
  const create = (members: string) => `new platform.${kind}("name", { ${members} });`;
  const shapes = [{ around: create, fields: spec.fields }, ...objectsIn(spec.fields, create)];

  const opened = shapes.map(({ around, fields }) => ({ at: page.addCursor(around("|")), fields }));
  const given = shapes.flatMap(({ around, fields }) =>
    Object.entries(fields).map(([key, field]) => {
      const member = `${key}: ${valueOf(field)}`;
      return { key, at: page.addWord(around(member), member) };
    }),
  );
  test("its arguments, also nested ones, and the description of each", () => {
    for (const { at, fields } of opened)
      expect(editor.complete(at).sort()).toEqual(Object.keys(fields).sort());
    for (const { key, at } of given) {
      const { text, documentation } = editor.hover(at);
      expect(text).toMatch(new RegExp(`^\\(property\\) ${key}\\??: `));
      // Names of the types by which this package describes kinds say nothing to a user.
      expect(text).not.toMatch(/\b(ArgsOf|Field|Kind|OpenEnum|Typed)</);
      expect(documentation).toMatch(/^\S.{3,}/s);
    }
  });

  const enums = shapes.flatMap(({ around, fields }) =>
    Object.entries(fields).flatMap(([key, field]) => {
      const [one, open, close] = field.type === "list" ? [field.items, "[", "]"] : [field, "", ""];
      if (one.type !== "enum") return [];
      const member = (value: string) => around(`${key}: ${open}${value}${close}`);
      const newer = page.add(`{ const newer: string = "x"; ${member("newer")} }`);
      return [
        { at: page.addCursor(member('"|"')), names: one.known.map((name) => one.prefix + name), newer },
      ];
    }),
  );
  test("the known values of each enumeration, and no error at one that is newer", () => {
    for (const { at, names, newer } of enums) {
      const offered = editor.complete(at, ts.ScriptElementKind.string);
      expect(offered.length).toBeGreaterThan(1);
      expect(names).toEqual(expect.arrayContaining(offered));
      expect(editor.errors(newer).join("\n")).not.toMatch(/'string(\[\])?' is not assignable/);
    }
  });

  const created = page.addWord(create(""), `${kind}("name"`);
  page.add(`declare const made${kind}: platform.${kind};`);
  const outputs = [...Object.keys(spec.fields), ...Object.keys(spec.outputs ?? {}), "uid"].map((key) => ({
    key,
    at: page.addWord(`made${kind}.${key};`, key),
  }));
  test("the description of each output, and of its class", () => {
    for (const { key, at } of outputs) {
      const { text, documentation } = editor.hover(at);
      expect(text).toMatch(new RegExp(`${key}: ((import\\(".*"\\)|pulumi)\\.)?Output(Instance)?<`));
      expect(documentation).not.toBe("");
    }
    const { text, documentation, example } = editor.hover(created);
    expect(text).toContain(`args: platform.${kind}Args`);
    expect(text.length).toBeLessThan(200);
    expect(documentation).not.toBe("");
    const file = readFileSync(join(ROOT, "examples/reference/resources", `${lowerFirst(kind)}.ts`), "utf8");
    expect(example).toBe(`\`\`\`ts\n${file.trimEnd()}\n\`\`\``);
  });

  const args = required(spec.fields).slice(1, -1).trim();
  const right = page.add(create(args));
  const unknown = page.add(create(`${args === "" ? "" : `${args}, `}whatever: 1`));
  const forgotten = Object.entries(spec.fields)
    .filter(([, field]) => field.required)
    .map(([key]) => {
      const others = Object.fromEntries(Object.entries(spec.fields).filter(([name]) => name !== key));
      return { key, place: page.add(create(required(others).slice(1, -1))) };
    });
  test("one short error for an argument that is forgotten, or unknown", () => {
    expect(editor.errors(right)).toEqual([]);
    expect(editor.errors(unknown)).toEqual([expect.stringContaining("'whatever' does not exist in type")]);
    for (const { key, place } of forgotten)
      expect(editor.errors(place)).toEqual([
        expect.stringMatching(new RegExp(`'${key}'[^]*${kind}Args|${kind}Args[^]*'${key}'`)),
      ]);
  });
});

const calls = Object.keys(platform).filter((name) => /^(get|check|lookup|ping)/.test(name));

test.each(calls.map((call) => [call, page.addWord(`platform.${call};`, call)] as const))(
  "an editor shows what %s does, takes and returns, in one short line",
  (_call, at) => {
    const { text, documentation } = editor.hover(at);
    expect(documentation).not.toBe("");
    expect(text.length).toBeLessThan(250);
    expect(text).toMatch(
      /: \((args\??: [\w.<>", ]+( \| undefined)?)?\) => (Promise|(\S+\.)?Output(Instance)?)</,
    );
  },
);
