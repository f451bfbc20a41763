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
 * descriptions of the kinds; and what the compiler takes and refuses. `programs.test.ts` compiles with each module resolution.
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
  text = 'import * as pulumi from "@pulumi/pulumi";\nimport * as platform from "pulumi-platform";\n';

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

  private diagnosticsAt({ start, end }: Place): readonly ts.Diagnostic[] {
    return this.diagnostics.filter(({ start: at = 0 }) => at >= start && at < end);
  }

  errors(place: Place): string[] {
    return this.diagnosticsAt(place).map(({ messageText }) =>
      ts.flattenDiagnosticMessageText(messageText, "\n"),
    );
  }

  codes(place: Place): string[] {
    return this.diagnosticsAt(place).map(({ code }) => `TS${code}`);
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
      expect(text).toMatch(new RegExp(`^\\(property\\) (?:\\w+Args\\.)?${key}\\??: `));
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

/** A statement, and the code of the error that the compiler shows at it. */
const misuses: readonly (readonly [title: string, program: string, code: string])[] = [
  ["a group without arguments", 'new platform.Group("group");', "TS2554"],
  ["a number for a parent's uid", 'new platform.Group("group", { name: "group", parentUid: 5 });', "TS2322"],
  [
    "a resource for a parent's uid",
    'new platform.Group("group", { name: "group", parentUid: org });',
    "TS2322",
  ],
  ["an output of another type", 'new platform.Group("group", { name: pulumi.output(true) });', "TS2322"],
  ["an assignment to an output", 'org.name = pulumi.output("other");', "TS2540"],
  [
    "a member of claimMatch that may be absent, taken for granted",
    'platform.Identity.get("ci", "uid").claimMatch.apply((claims) => claims.issuer);',
    "TS18048",
  ],
  [
    "an unknown member of a lookup's answer",
    'platform.getRole({ name: "viewer" }).then((role) => role.title);',
    "TS2339",
  ],
  ["an output as the argument of a lookup", "platform.getRole({ name: org.name });", "TS2322"],
];

page.add('const org = new platform.Group("org", { name: "org" });');

test.each(misuses.map(([title, program, code]) => [title, code, page.add(`{ ${program} }`)] as const))(
  "the types refuse %s",
  (_title, code, place) => {
    expect(editor.codes(place)).toEqual([code]);
  },
);

const correct = page.add(`{
/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => undefined;

const text: pulumi.Output<string> = pulumi.secret("text");
const later: Promise<string> = Promise.resolve("text");
const flag: pulumi.Output<boolean> = pulumi.output(true);

const groupArgs: platform.GroupArgs = { name: later, description: text, kind: text, verified: flag };
const org = new platform.Group("org", groupArgs, { protect: true });
const team = new platform.Group("team", { parentUid: org.uid, name: pulumi.interpolate\`\${org.name}-team\` });

const claims: platform.ClaimMatchArgs = { issuer: text, subjectPattern: later, claims: { owner: text }, claimPatterns: pulumi.output({ ref: "^main$" }) };
const whole = new platform.Identity("whole", { parentUid: team.id, name: text, claimMatch: pulumi.output({ issuer: "issuer", subject: "subject" }) });
const parts = new platform.Identity("parts", { parentUid: later, name: later, description: undefined, claimMatch: claims });
const keys = new platform.Identity("keys", {
  parentUid: team.id,
  name: "keys",
  staticKeys: { issuer: text, subject: text, issuerKeys: later, audiences: [text, "audience"] },
});
const aws = new platform.Identity("aws", {
  parentUid: team.id,
  name: "aws",
  awsIdentity: Promise.resolve({ awsAccount: "123456789012", arn: text, userIdPattern: later }),
});
const role = new platform.Role("role", { parentUid: org.id, name: text, capabilities: [text, later, "CAP_REPO_LIST"] });
new platform.Role("all", { parentUid: org.id, name: text, capabilities: pulumi.output(["CAP_REPO_LIST"]) });
const found = platform.getRoleOutput({ name: text, builtIn: flag });
new platform.RoleBinding("binding", { parentUid: team.id, identityUid: parts.id, roleUid: found.uid });
new platform.RoleBinding("own", { parentUid: team.id, identityUid: whole.uid, roleUid: role.uid }, { dependsOn: [keys, aws] });
const other = platform.Group.get("other", text);
const all: pulumi.CustomResource[] = [org, team, whole, other];

same<typeof org.uid, pulumi.Output<pulumi.ID>>(true);
same<typeof org.name, pulumi.Output<string>>(true);
same<typeof org.description, pulumi.Output<string | undefined>>(true);
same<typeof org.verified, pulumi.Output<boolean | undefined>>(true);
same<typeof role.capabilities, pulumi.Output<string[]>>(true);
const issuer = whole.claimMatch.apply((match) => match?.issuer);
same<typeof issuer, pulumi.Output<string | undefined>>(true);
const owner = whole.claimMatch.apply((match) => match?.claims);
same<typeof owner, pulumi.Output<Record<string, string> | undefined>>(true);
const audiences = keys.staticKeys.apply((match) => match?.audiences);
same<typeof audiences, pulumi.Output<string[] | undefined>>(true);
const account = aws.awsIdentity.apply((match) => match?.awsAccount);
same<typeof account, pulumi.Output<string | undefined>>(true);
same<typeof found.capabilities, pulumi.Output<string[]>>(true);
same<ReturnType<typeof platform.getGroup>, Promise<platform.GetGroupResult>>(true);
}`);

test("the types take inputs of every form everywhere, and outputs have the types of the descriptions", () => {
  expect(editor.errors(correct)).toEqual([]);
});
