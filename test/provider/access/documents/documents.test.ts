import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isDefaultProvider } from "../../../../provider/access/documents/engineState";
import { parsePreview } from "../../../../provider/access/documents/preview";
import { parseStateExport } from "../../../../provider/access/documents/stateExport";
import { providerText } from "../../../../provider/program/resource";
import { PROVIDER_TEXT, SIGNATURE, UNKNOWN } from "../../../../provider/fields/values";
import { fixture } from "../fixtures";

const cut = "ends in the middle: it was cut off; write it again";

const isDynamic = (step: object): boolean => JSON.stringify(step).includes("dynamic/platform");

describe("a preview", () => {
  const digest = fixture("update-shown.json");

  test("reads the same with a byte order mark, in UTF-16, and with Windows newlines", () => {
    const text = digest.toString();
    const plain = parsePreview(digest);
    expect(parsePreview(Buffer.from(`\ufeff${text}`))).toEqual(plain);
    expect(parsePreview(`\ufeff${text}`)).toEqual(plain);
    expect(parsePreview(Buffer.from(`\ufeff${text}`, "utf16le"))).toEqual(plain);
    expect(parsePreview(text.replaceAll("\n", "\r\n"))).toEqual(plain);
  });

  const again =
    "write it with pulumi preview --json --show-sames > preview.json, with PULUMI_ENABLE_STREAMING_JSON_PREVIEW unset";
  test.each([
    ["nothing", "", "PP6001", "is empty: did the command that should have written it fail?"],
    ["half of it", digest.subarray(0, 5000), "PP6001", cut],
    ["words, which it does not quote", "\u001b[31mred\n", "PP6001", `is not one object of JSON: ${again}`],
    ["a wrong bracket", '{\n"steps": [}', "PP6001", `is not one object of JSON: ${again}`],
    [
      "the streaming form",
      '{"sequence":1}\n{"sequence":2}\n',
      "PP6001",
      `is not one object of JSON: ${again}`,
    ],
    ["another document", '{"sequence":1}', "PP6002", `is no preview: ${again}`],
    [
      "an export",
      fixture("export-v3.json"),
      "PP6002",
      "is a stack export: give it with --before, and a preview in its place",
    ],
  ])("that is %s is refused in one line", (_what, input, errorCode, message) => {
    const refused = expect.objectContaining({ errorCode, message: `x.json ${message}` }) as Error;
    expect(() => parsePreview(input, "x.json")).toThrow(refused);
  });

  test("locates the line of the program also where the package is linked, outside of node_modules", () => {
    const packaged = /project:\/\/\/[^"#]*node_modules\/pulumi-platform\/dist\//g;
    const linked = digest.toString().replaceAll(packaged, "project:///../linked/dist/");
    expect(linked).not.toBe(digest.toString());
    // The document is of an earlier version, whose folders had other names.
    const current = linked
      .replaceAll("linked/dist/provider/resources/", "linked/dist/provider/kinds/")
      .replaceAll("linked/dist/provider/engine/program/", "linked/dist/provider/program/");
    const locations = (text: string) =>
      parsePreview(text).steps.map(({ after }) => after?.location?.file ?? "none");
    expect(locations(current)).toEqual(locations(digest.toString()));
    expect(locations(current)).toContain("index.js");
  });

  test("does not take a library file that creates resources for the program", () => {
    const files = ["kinds", "program"].flatMap((folder) =>
      readdirSync(join(__dirname, "../../../../provider", folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .map((file) => `dist/provider/${folder}/${file.replace(/\.ts$/, ".js")}`),
    );
    expect(files).toContain("dist/provider/program/resource.js");
    // Of the hosts of other languages, and of what is generated for them.
    files.push(
      "venv/lib/python3.11/site-packages/pulumi_platform/role.py",
      "github.com/pulumi/pulumi-yaml@v1.25.0/pkg/pulumiyaml/run.go",
      "pulumi-yaml/pkg/pulumiyaml/run.go",
      "runtime/asm_amd64.s",
      "go/pkg/mod/github.com/acme/sdk@v0.1.0-alpha.1/platform/role.go",
    );
    const taken = files.filter((file) => {
      const text = digest.toString().replaceAll(/project:\/\/\/[^"#]+#/g, `project:///../linked/${file}#`);
      return parsePreview(text).steps.some(({ after }) => after?.location !== undefined);
    });
    expect(taken).toEqual([]);
  });

  test.each<[string, (step: { newState?: unknown; oldState?: { id?: string } }) => void]>([
    ["shows no state", (step) => delete step.newState],
    ["does not say which object it changes", (step) => delete step.oldState?.id],
  ])("with a step that %s is incomplete", (_what, edit) => {
    for (const op of ["update", "same"]) {
      const document = JSON.parse(digest.toString()) as { steps: { op: string; newState?: unknown }[] };
      const step = document.steps.find((each) => each.op === op && isDynamic(each));
      if (step !== undefined) edit(step);
      expect(parsePreview(JSON.stringify(document)).problems).toContainEqual(
        expect.stringMatching(new RegExp(`^the preview does not show what ${op} does to \\S+$`)),
      );
    }
  });

  const named = (name: string) => `urn:pulumi:dev::acme::pulumi-nodejs:dynamic/platform:Role::${name}`;
  const ours = { [PROVIDER_TEXT]: providerText("Role") };
  const roleOf = (name: string) => ({
    urn: named(name),
    id: name,
    type: "pulumi-nodejs:dynamic/platform:Role",
    inputs: {},
    outputs: {},
  });

  const stepOf = (op: string, name = "x", state = name) => ({
    op,
    urn: named(name),
    ...((op !== "create" || state !== name) && { oldState: roleOf(state) }),
    newState: roleOf(name),
  });
  const problemsOf = (steps: { op: string }[]): readonly string[] => {
    const changeSummary: Record<string, number> = {};
    for (const { op } of steps) changeSummary[op] = (changeSummary[op] ?? 0) + 1;
    return parsePreview(JSON.stringify({ steps, changeSummary })).problems;
  };

  // As a process can append them that outlives the preview.
  test.each([
    ["create", "refresh"],
    ["create", "read"],
    ["update", "same"],
    ["same", "same"],
    ["refresh", "refresh"],
    ["replace", "update"],
    ["read", "delete"],
  ])("with %s and then %s of one resource was edited", (first, second) => {
    // Marked for its delete, it may look like the rest of an earlier replacement.
    for (const mark of second === "delete" ? [{}] : [{}, { delete: true }]) {
      const later = { ...stepOf(second), oldState: { ...roleOf("x"), ...mark } };
      expect(problemsOf([stepOf(first), later])).toEqual([
        `the preview shows ${second} of x after ${first}, which the engine does not write: it was edited`,
      ]);
    }
  });

  test.each(["delete-replaced", "remove-pending-replace"])(
    "with %s and no replacement is incomplete",
    (op) => {
      const rest = { op, urn: named("x"), oldState: roleOf("x") };
      expect(problemsOf([stepOf("refresh"), rest])).toContain(
        `the preview shows ${op} of x and no replacement: remove it from the program in an update before this one`,
      );
      expect(problemsOf([stepOf("replace"), rest])).toEqual([]);
    },
  );

  type Move = [op: string, name: string, state: string];

  test.each<[string, Move, Move?]>([
    ["two resources have", ["update", "a", "a"], ["same", "b", "a"]],
    ["two resources exchange", ["update", "a", "b"], ["same", "b", "a"]],
    ["a create has", ["create", "a", "b"]],
    ["a delete has under another name", ["delete", "a", "b"]],
    ["a refresh has under another name", ["refresh", "decoy", "a"], ["update", "a", "a"]],
    ["a read has beside its own resource", ["read", "decoy", "a"], ["update", "a", "a"]],
  ])("with a state that %s was edited", (_what, ...moves) => {
    expect(problemsOf(moves.flatMap((move) => (move === undefined ? [] : [stepOf(...move)])))).toContainEqual(
      expect.stringMatching(/^the preview shows the state of \w+ before \w+ of \w+, /),
    );
  });

  test("with an alias of what is there no more shows the state of the old name", () => {
    const rest = { ...stepOf("delete", "b"), oldState: { ...roleOf("b"), delete: true } };
    for (const before of [[], [rest]])
      expect(problemsOf([...before, stepOf("update", "b", "a")])).toEqual([]);
  });

  test("has unknown values in place of the engine's special ones", () => {
    const asset = { ...ours, name: { [SIGNATURE]: "c44067f5952c0a294b673a41bacd8c17", text: "x" } };
    const step = { ...stepOf("create"), newState: { ...roleOf("x"), inputs: asset } };
    const { steps } = parsePreview(JSON.stringify({ steps: [step], changeSummary: { create: 1 } }));
    expect(steps[0]?.after?.inputs).toEqual({ name: UNKNOWN });
  });

  test.each([
    [{ diagnostics: [{ severity: "warning", message: "x" }, "odd"] }, []],
    [{ maybeCorrupt: true }, ["the engine reports that its state is corrupt"]],
    [{ changeSummary: undefined }, ["the preview has no summary: it was interrupted"]],
    [{ changeSummary: {} }, ["the preview announces 0 of operation create and shows 1"]],
    [{ changeSummary: { create: 2 } }, ["the preview announces 2 of operation create and shows 1"]],
    [
      { changeSummary: { create: 1, update: 1 } },
      ["the preview announces 1 of operation update and shows 0"],
    ],
    [{ changeSummary: { create: 1, same: 5 } }, []],
    // The summary of a failed preview covers the steps before the failure.
    [{ diagnostics: [{ severity: "error", message: "x" }], changeSummary: {} }, ["the preview failed: x"]],
  ])("with %j has the problems %j", (more, problems) => {
    const document = { steps: [stepOf("create")], changeSummary: { create: 1 }, ...more };
    expect(parsePreview(JSON.stringify(document)).problems).toEqual(problems);
  });

  test.each([
    ["acme:index:Team", "pulumi-nodejs:dynamic/platform:Role", 1],
    ["pulumi-nodejs:dynamic/platform:Role", "acme:index:Team", 1],
    ["pulumi-nodejs:dynamic/platform:Role", "pulumi-nodejs:dynamic/platform:Group", 1],
    ["pulumi-nodejs:dynamic/platform:Role", "platform:index:Role", 0],
    ["acme:index:Team", "acme:index:Crew", 0],
  ])("with an alias from %s to %s has %d problems", (was, is, count) => {
    const at = (type: string, name: string) => ({
      ...{ urn: `urn:pulumi:dev::acme::${type}::${name}`, type },
      ...{ id: "uid", inputs: {}, outputs: {} },
    });
    const [oldState, newState] = [at(was, "a"), at(is, "b")];
    const problems = problemsOf([{ op: "update", urn: newState.urn, oldState, newState } as { op: string }]);
    expect(problems).toEqual(
      count === 0
        ? []
        : [
            `b takes the place of a resource of another type by an alias, ${is} of ${was}: remove the one and declare the other without an alias`,
          ],
    );
  });

  test("with an import that the program changes at once is incomplete", () => {
    expect(problemsOf([stepOf("import"), stepOf("update")])).toContainEqual(
      expect.stringMatching(/^the preview imports x and changes it at once: /),
    );
  });

  test("names how many resources it does not show", () => {
    const hidden = ["same.json", "same-shown.json", "update.json", "refresh.json"].map(
      (name) => parsePreview(fixture(name)).omittedUnchanged,
    );
    expect(hidden).toEqual([12, 0, 8, 0]);
  });
});

test("a provider of the engine's own is one by its type and its name", () => {
  const urnOf = (type: string, name: string) => `urn:pulumi:dev::acme::${type}::${name}`;
  const provider = "pulumi:providers:aws";
  const urns = [urnOf(provider, "default_6_0_0"), urnOf(provider, "mine"), urnOf("acme:index:X", "default")];
  expect(urns.map(isDefaultProvider)).toEqual([true, false, false]);
});

describe("a stack export", () => {
  test("manages nothing by a default provider that runs another plugin than its name says", () => {
    const [type, urn] = ["pulumi:providers:platform", "urn:pulumi:dev::acme::"];
    const own = `${urn}${type}::default_0_1_0`;
    const role = { urn: `${urn}platform:index:Role::r`, type: "platform:index:Role", custom: true, id: "x" };
    const rolesBy = (inputs: object) => {
      const resources = [
        { urn: own, type, custom: true, inputs },
        { ...role, provider: `${own}::1`, inputs: { name: "r" } },
      ];
      return parseStateExport(JSON.stringify({ version: 3, deployment: { resources } })).resources.slice(1);
    };
    expect(rolesBy({ version: "0.1.0", __internal: {} })).toMatchObject([{ kind: "Role" }]);
    const [foreign] = rolesBy({ version: "0.1.0", __internal: { name: "evil" } });
    expect(foreign).toMatchObject({
      kind: undefined,
      notReviewed: expect.stringContaining("plugin") as string,
    });
  });

  test.each([
    ["export-v3.json", 3],
    ["export-v4.json", 4],
  ])("is read in both versions, secrets hidden (%s)", (name, version) => {
    const state = parseStateExport(fixture(name), name);
    expect(state).toMatchObject({ stack: "acme/production", version, pendingOperations: 0, cli: "v3.230.0" });
    expect(Date.parse(state.time ?? "")).toBeGreaterThan(Date.parse("2025-01-01T00:00:00Z"));
    const kinds = state.resources.flatMap(({ kind }) => kind ?? []).sort();
    expect(kinds.filter((kind) => kind === "RoleBinding")).toHaveLength(2);
    expect(JSON.stringify(state)).not.toMatch(/canary|pulumi-platform\/dynamic|ciphertext|plaintext/);
    const invite = state.resources.find(({ kind }) => kind === "GroupInvite");
    expect(invite?.outputs["code"]).toBe("[secret]");
    expect(state.resources.find(({ kind, external }) => kind === "Role" && external)?.outputs).toMatchObject({
      name: "registry.push",
    });
  });

  const exported = "write it with pulumi stack export --file export.json";
  test.each([
    ["a preview", fixture("same.json"), `is no stack export: ${exported}`],
    [
      "of another version",
      '{"version": 9, "deployment": {}}',
      "is a stack export of version 9, and only 3 and 4 are known",
    ],
    ...["{}", '{"urn":"urn:pulumi:a::b::c::d"}', "5"].map((row): [string, string, string] => [
      `with ${row} in place of a resource`,
      `{"version":3,"deployment":{"resources":[${row}]}}`,
      `has a resource without urn or type: ${exported}`,
    ]),
    ["cut off", fixture("export-v3.json").subarray(0, 9000), cut],
  ])("that is %s is refused in one line", (_what, input, message) => {
    expect(() => parseStateExport(input, "e.json")).toThrow(`e.json ${message}`);
  });

  test("of an empty stack names none, and has no time that cannot be read", () => {
    for (const deployment of [{ resources: [] }, {}])
      expect(parseStateExport(JSON.stringify({ version: 3, deployment }))).toMatchObject({ resources: [] });
    // Verification compares it with other times.
    const deployment = { manifest: { time: "yesterday" } };
    expect(parseStateExport(JSON.stringify({ version: 3, deployment })).time).toBeUndefined();
  });

  test("names what an interrupted update was creating, and counts the rest", () => {
    const open = (type: string) => ({ type, resource: { urn: `urn:${type}` } });
    const pending_operations = ["creating", "updating", "deleting"].map(open);
    const state = parseStateExport(JSON.stringify({ version: 3, deployment: { pending_operations } }));
    expect(state).toMatchObject({ pendingOperations: 3, pendingCreates: ["urn:creating"] });
  });
});
