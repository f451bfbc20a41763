import { mergeState } from "../../../../provider/access/adopt/state";
import type { StateParts } from "../../../../provider/access/adopt/state";
import { SECRET_TYPE, SIGNATURE, UNKNOWN } from "../../../../provider/fields/values";

/* The state that `adopt` imports, made of documents. test/engine/adopt.test.ts has the engine read it. */

const DYNAMIC = "pulumi-nodejs:dynamic/platform:";
const ORG = "a".repeat(40);
const PROVIDER = `${ORG}/${"b".repeat(16)}`;
const ROLE = `${ORG}/${"c".repeat(16)}`;

const urnOf = (type: string, name: string) => `urn:pulumi:prod::acme::${type}::${name}`;
const stackUrn = urnOf("pulumi:pulumi:Stack", "acme-prod");
const dynamic = (kind: string, name: string) => urnOf(`${DYNAMIC}${kind}`, name);
const engineType = "pulumi:providers:pulumi-nodejs";
const engineProvider = urnOf(engineType, "default");

type Row = Record<string, unknown>;

/** A step of a preview that creates what the program declares. */
const creates = (urn: string, more: Row): Row => ({
  op: "create",
  urn,
  newState: { urn, custom: true, type: urn.split("::")[2], parent: stackUrn, ...more },
});

/** What the state is to hold of it. */
const rowOf = (kind: string, name: string, id: string, inputs: Row): Row => ({
  ...{ urn: dynamic(kind, name), custom: true, type: `${DYNAMIC}${kind}`, parent: stackUrn },
  ...{ id, inputs, outputs: inputs },
});

const unnamed = { custom: false, parent: undefined, id: "not of a component", protect: true };
const stack = creates(stackUrn, unnamed);
const roleInputs = { parentUid: ORG, name: "reader", capabilities: ["CAP_IAM_ROLES_LIST"] };
const role = creates(dynamic("Role", "reader"), {
  inputs: { ...roleInputs, __provider: "text" },
  id: "not known",
});
const loginWith = (defaultRole: string, oidc: object) => ({
  ...{ parentUid: ORG, name: "login", defaultRole },
  oidc: { issuer: "https://a.example.com", clientId: "app", ...oidc },
});
const login = creates(dynamic("IdentityProvider", "login"), {
  inputs: loginWith(UNKNOWN, { clientSecret: UNKNOWN, additionalScopes: [UNKNOWN] }),
  dependencies: [dynamic("Role", "reader")],
});

const adoptedRole = { kind: "Role", name: "reader", uid: ROLE, inputs: roleInputs, secrets: [] };
const adoptedLogin = {
  ...{ kind: "IdentityProvider", name: "login", uid: PROVIDER },
  inputs: loginWith(ROLE, { additionalScopes: ["email"] }),
  secrets: [{ path: "oidc.clientSecret", key: "acme:login" }],
};

const parts = (more: Partial<StateParts> = {}): StateParts => ({
  exported: { version: 3, deployment: { manifest: {}, resources: [] } },
  // The engine says what depends on a resource before it.
  preview: { steps: [login, role, stack] },
  resources: [adoptedRole, adoptedLogin],
  secrets: new Map([["acme:login", "hidden"]]),
  config: {
    "acme:login": { value: "hidden", secret: true },
    "platform:timeout": { value: "5s", secret: false },
  },
  newId: () => "new-id",
  ...more,
});

const wrapped = (value: unknown) => ({ [SIGNATURE]: SECRET_TYPE, plaintext: JSON.stringify(value) });

const rowsOf = ({ document }: { document: unknown }) =>
  (document as { deployment: { resources: Row[] } }).deployment.resources;

test("what is adopted follows its stack, its provider and its dependencies, with live values and wrapped secrets", () => {
  const merged = mergeState(parts());
  expect(merged.urns).toEqual([dynamic("IdentityProvider", "login"), dynamic("Role", "reader")]);
  expect(merged.document).toMatchObject({ version: 3, deployment: { manifest: {} } });
  const config = { "acme:login": wrapped("hidden"), "platform:timeout": "5s" };
  const provider = `${engineProvider}::new-id`;
  const loginInputs = loginWith(ROLE, { clientSecret: wrapped("hidden"), additionalScopes: ["email"] });
  expect(rowsOf(merged)).toEqual([
    { urn: stackUrn, custom: false, type: "pulumi:pulumi:Stack", parent: undefined, protect: true },
    {
      ...{ urn: engineProvider, custom: true, id: "new-id", type: engineType },
      ...{ inputs: config, outputs: config },
    },
    { ...rowOf("Role", "reader", ROLE, { ...roleInputs, __provider: "text" }), provider },
    {
      ...rowOf("IdentityProvider", "login", PROVIDER, loginInputs),
      dependencies: [dynamic("Role", "reader")],
      provider,
    },
  ]);
});

test("what the stack has stays as it is, and its provider is used; one that is being deleted is not", () => {
  const existing = [
    { urn: stackUrn, type: "pulumi:pulumi:Stack" },
    { urn: urnOf(engineType, "old"), type: engineType, id: "1", delete: true },
    { urn: urnOf(engineType, "own"), type: engineType, id: "2" },
  ];
  const steps = [{ op: "same", urn: stackUrn }, { op: "read", urn: "x" }, { op: "refresh", urn: "y" }, role];
  const exported = { deployment: { resources: existing } };
  const rows = rowsOf(mergeState(parts({ exported, preview: { steps }, resources: [adoptedRole] })));
  expect(rows.slice(0, 3)).toEqual(existing);
  expect(rows.slice(3)).toMatchObject([{ id: ROLE, provider: `${existing[2]?.urn}::2` }]);
});

test("the plugin's own default provider gets the settings of the package, under its own URN only", () => {
  const native = (name: string) => urnOf("platform:index:Role", name);
  const type = "pulumi:providers:platform";
  const steps = [
    creates(urnOf(type, "default_1_0_0"), {}),
    creates(native("reader"), { inputs: adoptedRole.inputs }),
  ];
  const other = { urn: urnOf(type, "second"), type, id: "other" };
  const exported = { deployment: { resources: [other] } };
  const rows = rowsOf(mergeState(parts({ exported, preview: { steps }, resources: [adoptedRole] })));
  const settings = { timeout: "5s" };
  expect(rows).toMatchObject([
    other,
    { urn: urnOf(type, "default"), id: "new-id", inputs: settings, outputs: settings },
    { urn: native("reader"), provider: `${urnOf(type, "default")}::new-id` },
  ]);
  expect(rows[1]?.["inputs"]).toEqual(settings);
});

const problem = (message: string, errorCode = "PP6007") =>
  expect.objectContaining({ errorCode, message: expect.stringContaining(message) as string }) as Error;
const pending = (count: number) => ({
  exported: { deployment: { pending_operations: Array.from({ length: count }, () => ({})) } },
});
const many = (count: number) =>
  Array.from({ length: count }, (_, i) => creates(dynamic("Group", `more-${i}`), { inputs: {} }));
const stepping = (...steps: Row[]) => ({ preview: { steps: [role, ...steps] } });
const diagnostics = [
  { severity: "info", message: "i" },
  { severity: "error", message: " no \n" },
];
const edited = { ...adoptedRole, inputs: { ...adoptedRole.inputs, name: "writer" } };

test.each<[string, Partial<StateParts>, Error]>([
  ["an export without a deployment", { exported: {} }, problem("the stack's export has no deployment")],
  ["one operation that was interrupted", pending(1), problem("how 1 operation ended")],
  ["several of them", pending(2), problem("how 2 operations ended")],
  ["a preview without steps", { preview: {} }, problem("this is no preview: it has no steps")],
  ["a preview that failed", { preview: { diagnostics } }, problem("program fails:\n  no", "PP5009")],
  [
    "another change of the program",
    stepping(login, { op: "update", urn: "urn" }),
    problem("the program would also update urn: run pulumi up first"),
  ],
  [
    "another resource of the program",
    stepping(login, ...many(1)),
    problem(`the program would also create ${dynamic("Group", "more-0")}`),
  ],
  ["what is not declared", { preview: { steps: [login] } }, problem(`creates no Role "reader" (${ROLE})`)],
  ["a secret that is not set", { secrets: new Map() }, problem("the secret acme:login is not set")],
  [
    "a file that was edited",
    { resources: [edited, adoptedLogin] },
    problem(`${dynamic("Role", "reader")} differs from what the organisation has (${ROLE})`),
  ],
  ["too many problems", stepping(login, ...many(22)), problem("\n  … and 2 more")],
])("refused: %s", (_name, more, error) => {
  expect(() => mergeState(parts(more))).toThrow(error);
});

test("twenty problems are all shown", () => {
  expect(() => mergeState(parts(stepping(login, ...many(20))))).toThrow(/^[^…]*$/);
});
