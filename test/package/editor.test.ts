import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import type { FieldSpec } from "../../provider/engine/description";
import { kinds } from "../../provider/resources";
import { ROOT } from "../support/engine";
import { Project } from "../support/project";

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

class Editor {
  private readonly file: string;
  private text = "";
  private version = 0;
  private readonly service: ts.LanguageService;

  constructor(directory: string) {
    this.file = join(directory, "index.ts");
    const read = (path: string) => (path === this.file ? this.text : ts.sys.readFile(path));
    this.service = ts.createLanguageService({
      getScriptFileNames: () => [this.file],
      getScriptVersion: (path) => (path === this.file ? String(this.version) : "1"),
      getScriptSnapshot: (path) => {
        const text = read(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
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
  }

  write(program: string): void {
    this.text = `import * as platform from "pulumi-platform";\n${program}\n`;
    this.version++;
  }

  hover(word: string): Shown {
    const info = this.service.getQuickInfoAtPosition(this.file, this.text.lastIndexOf(word));
    return {
      text: ts.displayPartsToString(info?.displayParts),
      documentation: ts.displayPartsToString(info?.documentation),
      example: ts.displayPartsToString(info?.tags?.find(({ name }) => name === "example")?.text),
    };
  }

  /** What is offered where the program has a `|`. */
  complete(program: string): string[] {
    this.write(program.replace("|", ""));
    const at = this.text.length - 1 - (program.length - 1 - program.indexOf("|"));
    return (this.service.getCompletionsAtPosition(this.file, at, undefined)?.entries ?? [])
      .filter(({ kind }) => kind === ts.ScriptElementKind.memberVariableElement)
      .map(({ name }) => name);
  }

  errors(): string[] {
    return this.service
      .getSemanticDiagnostics(this.file)
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

beforeAll(async () => {
  project = await Project.with("npm");
  editor = new Editor(project.directory);
});

afterAll(() => project.dispose());

describe.each(kinds.map(({ spec }) => [spec.kind, spec] as const))("an editor shows of %s", (kind, spec) => {
  const create = (members: string) => `new platform.${kind}("name", { ${members} });`;
  const shapes = [{ around: create, fields: spec.fields }, ...objectsIn(spec.fields, create)];

  test("its arguments, nested ones too, where they are written", () => {
    for (const { around, fields } of shapes) {
      expect(editor.complete(around("|")).sort()).toEqual(Object.keys(fields).sort());
    }
  });

  test("what each of them is, in the words of its description", () => {
    for (const { around, fields } of shapes) {
      for (const [key, field] of Object.entries(fields)) {
        editor.write(around(`${key}: ${valueOf(field)}`));
        const { text, documentation } = editor.hover(`${key}: ${valueOf(field)}`);
        expect(text).toMatch(new RegExp(`^\\(property\\) ${key}\\??: `));
        expect(documentation).toMatch(/^\S.{3,}/s);
      }
    }
  });

  test("what each output is, and no more of the constructor than names", () => {
    for (const key of [...Object.keys(spec.fields), ...Object.keys(spec.outputs ?? {}), "uid"]) {
      editor.write(`declare const made: platform.${kind};\nmade.${key};`);
      const { text, documentation } = editor.hover(key);
      expect(text).toMatch(
        new RegExp(`${key}: (import\\(".*"\\)|pulumi)\\.Output<|${key}: Output(Instance)?<`),
      );
      expect(documentation).not.toBe("");
    }
    editor.write(create(""));
    const { text, documentation } = editor.hover(`${kind}("name"`);
    expect(text).toContain(`args: platform.${kind}Args`);
    expect(text.length).toBeLessThan(200);
    expect(documentation).not.toBe("");
  });

  test("the example of its page, at its class", () => {
    const file = `${kind.charAt(0).toLowerCase()}${kind.slice(1)}.ts`;
    const text = readFileSync(join(ROOT, "examples/reference/resources", file), "utf8");
    editor.write(`platform.${kind};`);
    expect(editor.hover(kind).example).toBe(`\`\`\`ts\n${text.trimEnd()}\n\`\`\``);
  });

  test("one short error for an argument that is forgotten, or unknown", () => {
    const args = required(spec.fields).slice(1, -1);
    editor.write(create(args));
    expect(editor.errors()).toEqual([]);
    editor.write(create(`${args.trim() === "" ? "" : `${args}, `}whatever: 1`));
    expect(editor.errors()).toEqual([expect.stringContaining("'whatever' does not exist in type")]);
    for (const [key] of Object.entries(spec.fields).filter(([, field]) => field.required)) {
      const others = Object.fromEntries(Object.entries(spec.fields).filter(([name]) => name !== key));
      editor.write(create(required(others).slice(1, -1)));
      expect(editor.errors()).toEqual([expect.stringContaining(`'${key}'`)]);
      expect(editor.errors()[0]).toContain(`${kind}Args`);
    }
  });
});
