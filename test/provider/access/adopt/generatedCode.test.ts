import { spawnSync } from "node:child_process";
import ts from "typescript";
import { parse } from "yaml";
import {
  CallExpression,
  printDeclaration,
  printLiteral,
  VariableReference,
} from "../../../../provider/access/adopt/code";
import { generateProgram } from "../../../../provider/access/adopt/program";
import type { Adoption } from "../../../../provider/access/adopt/program";
import { Directory } from "../../../../provider/access/graph/directory";
import {
  adoptionCode,
  changedArgumentsCode,
  stackCommand,
  quoteShellWord,
} from "../../../../provider/access/drift/differenceDescriber";
import type { Inventory, InventoryObject } from "../../../../provider/access/documents/inventory";
import { entryText } from "../../../../provider/access/suppressions/writeEntries";
import { specs } from "../../../../provider/access/documents/specs";
import { kinds } from "../../../../provider/kinds";
import { inventoryOf as inventoryWith } from "../../../support/documents";
import fc, { casesOf } from "../../../support/properties";
import { jwks } from "../../../support/samples";

const ROOT_UID = "a".repeat(40);
const BUILT_IN = "c".repeat(40);

const words = `" ' \` \\ */ // \${process.exit(1)} $(id) 😀 東京 ##[error]x <!-- </script> __proto__`;
const bit = fc.constantFrom(
  ...words.split(" "),
  ...["\n", "\r", "\t", "\u0000", "\u2028", "\u2029", "\u202e", "\ud800", "\udfff"],
  ...[", builtIn: ", " })", "\u001b[2J", "x".repeat(30)],
);
const hostile = fc.oneof(
  fc.array(bit, { minLength: 1, maxLength: 6 }).map((bits) => bits.join("")),
  fc.string({ unit: "binary" }),
  fc.array(fc.nat(0xffff), { maxLength: 8 }).map((units) => String.fromCharCode(...units)),
);

/** The code as JavaScript; it must be syntactically right TypeScript. */
function compiled(code: string): string {
  const { outputText, diagnostics } = ts.transpileModule(code, {
    reportDiagnostics: true,
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.CommonJS, strict: true },
  });
  expect(diagnostics).toEqual([]);
  return outputText;
}

function evaluate(code: string, names: Readonly<Record<string, unknown>> = {}): unknown {
  // The code under test is run: its literals must be the very values, whatever they hold.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  return (new Function(...Object.keys(names), code) as (...values: unknown[]) => unknown)(
    ...Object.values(names),
  );
}

/** As JSON, where a member named `__proto__` and half a surrogate pair show. */
const shown = (value: unknown): string => JSON.stringify(value);

test("a generated expression evaluates to the values that it was generated from", () => {
  const tree = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      hostile,
      fc.constantFrom(null, true, 0, -1, 1.5e300),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.array(fc.tuple(hostile, tie("value")), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
    ),
  })).value;
  fc.assert(
    fc.property(tree, (value) => {
      const code = printDeclaration("value", value as never);
      expect(shown(evaluate(`${compiled(code)}; return value;`))).toBe(shown(value));
      expect(evaluate(`return ${printLiteral(shown(value))};`)).toBe(shown(value));
    }),
    { numRuns: casesOf(300) },
  );
});

test("a member called __proto__ is one, and a member without a value is none", () => {
  const value = { ["__proto__"]: 1, none: undefined };
  expect(printDeclaration("value", { ...value, all: [new VariableReference("a")] })).toBe(
    'const value = {\n  ["__proto__"]: 1,\n  all: [a],\n};',
  );
});

test.each(["a b", "1a", "a-b", "", 'x"', "a.b", "a\n", "ä"])("%j is not used as a variable name", (name) => {
  expect(() => new VariableReference(name)).toThrow(/is not an identifier/);
  expect(() => new CallExpression(new VariableReference("f", name), [])).toThrow(/is not an identifier/);
});

const uid = (index: number, part?: number): string =>
  [ROOT_UID, ...[index, part].flatMap((each) => each?.toString(16).padStart(16, "0") ?? [])].join("/");

/** Teams of these names, each with a role, an identity, and a binding of the identity of the next team. */
function inventoryOf(texts: readonly string[]): Inventory {
  const [organisation = "", builtIn = ""] = texts;
  const login = { issuer: "https://i.test", clientId: "app" };
  const objects: InventoryObject[] = [
    { kind: "Group", uid: ROOT_UID, inputs: { name: organisation } },
    { kind: "Role", uid: BUILT_IN, inputs: { name: builtIn, capabilities: [] }, builtIn: true },
    ...texts.flatMap((text, index): InventoryObject[] => {
      const next = (index + 1) % texts.length;
      const given = { parentUid: uid(index), name: text };
      const claims = Object.fromEntries([[text, text]]);
      const claimMatch = { issuer: "https://i.test", subject: text, claims };
      const roleUid = index === 0 ? BUILT_IN : uid(index, 1);
      return [
        { kind: "Group", uid: uid(index), inputs: { parentUid: ROOT_UID, name: text, description: text } },
        { kind: "Role", uid: uid(index, 1), inputs: { ...given, capabilities: ["CAP_REPO_LIST"] } },
        { kind: "Identity", uid: uid(index, 2), inputs: { ...given, claimMatch } },
        {
          kind: "RoleBinding",
          uid: uid(index, 3),
          inputs: { parentUid: uid(index), identityUid: uid(next, 2), roleUid },
        },
      ];
    }),
    {
      kind: "IdentityProvider",
      uid: uid(texts.length),
      inputs: { parentUid: ROOT_UID, name: "login", defaultRole: BUILT_IN, oidc: login },
    },
  ];
  const kinds = ["Group", "Role", "Identity", "RoleBinding", "IdentityProvider"];
  return { ...inventoryWith(ROOT_UID, ...objects), kinds };
}

/** What a program is to declare: the key of each secret as its value, and references to what it declares itself. */
const declarationsIn = ({ resources }: Adoption): string[] =>
  resources
    .map(({ kind, name, inputs, secrets }) => {
      const [{ key } = { key: undefined }] = secrets;
      const oidc = key === undefined ? {} : { oidc: { ...(inputs["oidc"] as object), clientSecret: key } };
      const text = shown([kind, name, { ...inputs, ...oidc }]);
      return resources.reduce((all, { uid }) => all.replaceAll(`"${uid}"`, `"id of ${uid}"`), text);
    })
    .sort();

/** Runs a program, and says what it declares: kind, name, and its arguments with uids for references. */
function declaredBy({ code, files, resources, settings }: Adoption, builtIn: string): string[] {
  const declared: string[] = [];
  const classOf = (kind: string) =>
    function (this: { id?: string }, name: string, args: unknown, options: unknown) {
      expect(options).toMatchObject({ protect: true });
      const resource = resources.find((one) => one.kind === kind && one.name === name);
      if (resource !== undefined) this.id = `id of ${resource.uid}`;
      declared.push(shown([kind, name, args]));
    };
  const platform = {
    ...Object.fromEntries(kinds.map(({ spec }) => [spec.kind, classOf(spec.kind)])),
    getRoleOutput: (args: unknown) => {
      expect(shown(args)).toBe(shown({ name: builtIn, builtIn: true }));
      return { uid: BUILT_IN };
    },
  };
  const pulumi = {
    ComponentResource: function (type: string, name: string) {
      expect([type, typeof name]).toEqual(["platform:adopted:Team", "string"]);
    },
    Config: function () {
      expect(declared).toEqual([]);
      return { require: (key: string) => settings[key], requireSecret: (key: string) => key };
    },
  };
  const modules: Record<string, unknown> = { "pulumi-platform": platform, "@pulumi/pulumi": pulumi };
  const load = (name: string): unknown => {
    if (!name.startsWith("./")) return modules[name];
    const file = `teams/${name.split("/").at(-1) ?? ""}.ts`;
    if (modules[file] === undefined) {
      modules[file] = {};
      evaluate(compiled(files[file] ?? ""), { require: load, exports: modules[file] });
    }
    return modules[file];
  };
  evaluate(compiled(code), { require: load, exports: {} });
  return declared.sort();
}

test("a program that adopts objects of any names parses, and declares the very values", () => {
  const programs = casesOf(150);
  let adopted = 0;
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 2, maxLength: 5 }), fc.boolean(), (texts, byTeam) => {
      const adoption = generateProgram({
        inventory: inventoryOf(texts),
        ...(byTeam && { teamFolder: "teams" }),
      });
      adopted += adoption.resources.length;
      const names = adoption.resources.map(({ kind, name }) => `${kind} ${name}`);
      expect(new Set(names).size).toBe(names.length);
      // So no two files import each other.
      expect(adoption.files["teams/shared.ts"] ?? "").not.toMatch(/from "\.\//);
      expect(declaredBy(adoption, texts[1] ?? "")).toEqual(declarationsIn(adoption));
    }),
    { numRuns: programs },
  );
  expect(adopted).toBeGreaterThan(3 * programs);
});

describe("what of an organisation is declared", () => {
  const organisation = inventoryOf(["one", "two"]);
  const [group, other] = [uid(0), uid(1)];
  const adopt = (more: object) => generateProgram({ inventory: organisation, ...more });

  test("is a single object with uids, under a name that the stack does not have", () => {
    const { code, resources, settings } = adopt({ only: [other] });
    expect(resources).toMatchObject([{ uid: other, name: "two" }]);
    expect(code).toContain("parentUid: organisation,");
    expect(settings).toEqual({ rootUid: ROOT_UID });
    expect(adopt({ only: [other], usedNames: new Set(["Group two"]) }).resources[0]?.name).toBe("two-one");
    // Only the uid of an organisation is a setting, not that of a group below it.
    const ofGroup = adopt({ inventory: { ...organisation, root: group }, only: [uid(0, 1)] });
    expect(ofGroup.code.replace(/\s+/g, " ")).toContain(`const oneGroup = "${group}";`);
    expect(ofGroup.settings).toEqual({});
  });

  test("is in the file of its team, but for what another team uses", () => {
    const { files } = adopt({ teamFolder: "teams" });
    const kindsIn = (name: string): string[] =>
      Array.from(files[`teams/${name}.ts`]?.matchAll(/new (\w+)\("/g) ?? [], ([, kind = ""]) => kind);
    expect(kindsIn("one")).toEqual(["Role", "RoleBinding"]);
    expect(kindsIn("two")).toEqual(["Role", "RoleBinding"]);
    expect(kindsIn("shared")).toEqual(["Group", "Group", "Identity", "Identity", "IdentityProvider"]);
  });

  test("is nothing that is managed already, by itself or with all bindings of its group", () => {
    const managed = adopt({ only: [other], managers: new Map([[`Group ${other}`, "the stack"]]) });
    expect(managed.resources).toEqual([]);
    expect(managed.skipped).toMatchObject([{ uid: other, reason: "the stack manages it already" }]);
    const managers = new Map([[`GroupAccess ${group}`, "stack acme/prod"]]);
    const { resources, skipped } = adopt({ only: ["RoleBinding"], managers });
    const reason =
      "the GroupAccess of stack acme/prod has all of its group, this one as well: add it there only if drift says that it is missing";
    expect(resources).toMatchObject([{ uid: uid(1, 3) }]);
    expect(skipped).toMatchObject([{ uid: uid(0, 3), reason }]);
  });

  test("names an identity whose static keys have ended, whose end it cannot declare", () => {
    const uid = `${ROOT_UID}/${"1".repeat(16)}`;
    const programAt = (takenAt: string) => {
      const expirationTime = "2026-06-01T00:00:00Z";
      const keys = {
        issuer: "https://ci.acme.example",
        subject: "b",
        issuerKeys: jwks("one"),
        expirationTime,
      };
      const inputs = { parentUid: ROOT_UID, name: "ci", staticKeys: keys };
      return generateProgram({
        inventory: { ...inventoryWith(ROOT_UID, { kind: "Identity", uid, inputs }), takenAt },
      });
    };
    expect(programAt("2026-05-31T00:00:00Z")).toMatchObject({ resources: [{ uid }], skipped: [] });
    const { resources, skipped } = programAt("2026-06-02T00:00:00Z");
    expect(resources).toEqual([]);
    expect(skipped).toMatchObject([
      { uid, reason: expect.stringMatching(/^staticKeys.expirationTime must be in the future/) as string },
    ]);
  });
});

test("a built-in role is looked up by its exact name, with quotes and member names in it", () => {
  const name = `a role, builtIn: false, "it's", ${"x".repeat(60)}, builtIn: `;
  const adoption = generateProgram({ inventory: inventoryOf(["org", name]) });
  expect(declaredBy(adoption, name)).toHaveLength(adoption.resources.length);
  expect(adoption.code).toContain("getRoleOutput({ name: ");
});

test("the code that adopts a drift parses, and contains the exact values", () => {
  const [identity, group] = [specs["Identity"]!, specs["Group"]!];
  fc.assert(
    fc.property(hostile, (text) => {
      const inventory = inventoryOf([text]);
      const object = inventory.objects.find(({ kind }) => kind === "Identity")!;
      const code = adoptionCode(identity, object, new Directory([inventory]), 0);
      if (code !== undefined) {
        const made: unknown[] = [];
        const adopt = (adoptedUid: string, args: unknown): unknown => [adoptedUid, args];
        const Identity = function (_name: string, args: unknown) {
          made.push(args);
        };
        evaluate(compiled(code), { Identity, adopt });
        expect(shown(made)).toContain(shown(object.uid));
        expect(shown(made)).toContain(shown(text));
      }
      const live = { name: text, description: text };
      const changed = changedArgumentsCode(group, ["name", "description", `${text}.x`], live);
      expect(shown(evaluate(`${compiled(`const value = {\n${changed}\n};`)}; return value;`))).toBe(
        shown(live),
      );
    }),
    { numRuns: casesOf(200) },
  );
});

test("a binding made by hand gets a label that the program does not have", () => {
  const labels = ["ci as writer", "unmanaged: ci as writer", "unmanaged:ci as writer", "unmanaged: "];
  const bindings = Object.fromEntries(labels.map((label) => [label, { identityUid: label }]));
  const code = changedArgumentsCode(specs["GroupAccess"]!, ["bindings"], { bindings });
  const value = evaluate(`${compiled(`const value = {\n${code}\n};`)}; return value.bindings;`);
  expect(Object.keys(value as object)).toEqual([
    "ci as writer",
    "ci as writer (2)",
    "ci as writer (3)",
    "binding",
  ]);
});

test("a shell command parses to the exact words, or is left out", () => {
  const texts = fc.sample(hostile, 300);
  const commands = texts.flatMap((text) => {
    const command = stackCommand("revert", `urn:pulumi:${text}`, text);
    const word = quoteShellWord(text);
    expect(word === undefined).toBe(/[\p{Cc}\p{Cs}]/u.test(text));
    return command === undefined || word === undefined ? [] : [{ text, command, word }];
  });
  expect(commands.length).toBeGreaterThan(50);
  const script = commands
    .map(({ command, word }) => `printf '%s\\0' ${word}; printf '%s\\0' ${command}\n`)
    .join("");
  const { stdout, status } = spawnSync("bash", ["--norc", "-s"], { input: script, env: {} });
  expect(status).toBe(0);
  // The CLI reads an asterisk as any names.
  expect(stackCommand("revert", "urn:pulumi:prod::app::platform:Role::**", "prod")).toBeUndefined();
  const expected = commands.flatMap(({ text }) => [
    text,
    ..."pulumi up --refresh --target".split(" "),
    `urn:pulumi:${text}`,
    "--stack",
    text,
  ]);
  expect(stdout.toString("utf8").split("\0").slice(0, -1)).toEqual(expected);
});

test("a suppression in YAML contains the exact values", () => {
  fc.assert(
    fc.property(hostile, hostile, (reason, subject) => {
      const entry = { rule: "R1", match: { subject }, reason, expires: "2026-01-01" };
      expect(shown(parse(`allow:\n${entryText(entry as never)}\n`))).toBe(shown({ allow: [entry] }));
    }),
  );
});
