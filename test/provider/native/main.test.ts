import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogSeverity } from "@pulumi/pulumi/proto/engine_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import type { JavaScriptValue } from "google-protobuf/google/protobuf/struct_pb";
import { EventEmitter, once } from "node:events";
import { startEmulator } from "../../../emulator";
import type { Emulator } from "../../../emulator";
import { IMPORTED, isObject, SECRET_TYPE, SIGNATURE, UNKNOWN } from "../../../provider/fields/values";
import type { Props } from "../../../provider/fields/values";
import { PlatformProvider } from "../../../provider/native/platformProvider";
import { upperFirst } from "../../../scripts/lib/letterCase.cjs";
import { call as send } from "../../support/wire";

/* The plugin as the engine calls it, by gRPC, in this process. test/engine/native.test.ts runs the process that is built. */

type Values = Readonly<Record<string, unknown>>;

const struct = (values: Values) => Struct.fromJavaScript(values as Record<string, JavaScriptValue>);
const marked = (value: unknown) => ({ [SIGNATURE]: SECRET_TYPE, value });
const urnOf = (kind: string) => `urn:pulumi:test::test::parent:index:Box$platform:index:${kind}::one`;

const { DIFF_NONE, DIFF_SOME } = messages.DiffResponse.DiffChanges;
const Kind = messages.PropertyDiff.Kind;

const lines = new EventEmitter();
const logged: { severity: number; message: string; urn: string }[] = [];
let emulator: Emulator;
let engine: grpc.Server;
let plugin: grpc.Server;
let client: ResourceProviderClient;
const ownConsole = globalThis.console;

/** Waits for a line: the answer to a call does not. */
async function hasLogged(line: { severity: number; message: RegExp; urn: string }): Promise<void> {
  const isIt = ({ severity, message, urn }: (typeof logged)[number]) =>
    severity === line.severity && line.message.test(message) && urn === line.urn;
  while (!logged.some(isIt)) await once(lines, "line");
}

const listen = (server: grpc.Server): Promise<number> =>
  new Promise((done, failed) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? failed(error) : done(port),
    );
  });

type Method = { [Key in keyof ResourceProviderClient]: Key }[keyof ResourceProviderClient];

/** What the plugin responds to a call. */
function call<Response>(name: Method, request: unknown): Promise<Response> {
  const methods = client as unknown as Record<
    Method,
    (request: unknown, callback: (error: grpc.ServiceError | null, response: Response) => void) => void
  >;
  return new Promise((done, failed) => {
    methods[name](request, (error, response) => (error ? failed(error) : done(response)));
  });
}

/** A request with these members; objects are sent as structs. */
function build<Request extends object>(request: Request, members: Values): Request {
  for (const [name, value] of Object.entries(members)) {
    const set = Reflect.get(request, `set${upperFirst(name)}`) as (value: unknown) => void;
    set.call(request, isObject(value) ? struct(value) : value);
  }
  return request;
}

const plain = (values: Struct | undefined): Values => values?.toJavaScript() ?? {};

const configure = (args: Values, name = "default"): Promise<messages.ConfigureResponse> =>
  call("configure", build(new messages.ConfigureRequest(), { args, name }));

async function check(kind: string, news: Values, olds: Values = {}) {
  const request = build(new messages.CheckRequest(), { urn: urnOf(kind), olds, news });
  const response = await call<messages.CheckResponse>("check", request);
  const failures = response.getFailuresList().map((each) => `${each.getProperty()} ${each.getReason()}`);
  return { inputs: plain(response.getInputs()), failures };
}

async function create(kind: string, properties: Values, preview = false) {
  const request = build(new messages.CreateRequest(), { urn: urnOf(kind), properties, preview });
  const response = await call<messages.CreateResponse>("create", request);
  return { id: response.getId(), outs: plain(response.getProperties()) };
}

async function diff(kind: string, id: string, olds: Values, news: Values): Promise<object> {
  const request = build(new messages.DiffRequest(), { urn: urnOf(kind), id, olds, news });
  const response = await call<messages.DiffResponse>("diff", request);
  const details: Record<string, unknown> = {};
  response.getDetaileddiffMap().forEach((change, path) => {
    details[path] = [change.getKind(), change.getInputdiff()];
  });
  return {
    changes: response.getChanges(),
    replaces: response.getReplacesList(),
    first: response.getDeletebeforereplace(),
    properties: response.getDiffsList(),
    isDetailed: response.getHasdetaileddiff(),
    details,
  };
}

async function update(kind: string, id: string, olds: Values, news: Values, preview = false) {
  const request = build(new messages.UpdateRequest(), { urn: urnOf(kind), id, olds, news, preview });
  return plain((await call<messages.UpdateResponse>("update", request)).getProperties());
}

async function read(kind: string, id: string, properties: Values, inputs?: Values) {
  const recorded = inputs && { inputs };
  const request = build(new messages.ReadRequest(), { urn: urnOf(kind), id, properties, ...recorded });
  const response = await call<messages.ReadResponse>("read", request);
  return {
    id: response.getId(),
    outs: plain(response.getProperties()),
    inputs: plain(response.getInputs()),
  };
}

async function invoke(name: string, args: Values): Promise<Values> {
  const request = build(new messages.InvokeRequest(), { tok: `platform:index:${name}`, args });
  return plain((await call<messages.InvokeResponse>("invoke", request)).getReturn());
}

beforeAll(async () => {
  emulator = await startEmulator();
  engine = new grpc.Server();
  engine.addService(EngineService, {
    log: ({ request }: { request: LogRequest }, callback: grpc.sendUnaryData<Empty>) => {
      logged.push({ severity: request.getSeverity(), message: request.getMessage(), urn: request.getUrn() });
      lines.emit("line");
      callback(null, new Empty());
    },
  });
  const address = `127.0.0.1:${await listen(engine)}`;
  const bind = jest.spyOn(grpc.Server.prototype, "bindAsync");
  const port = new Promise<string>((done) => {
    jest.spyOn(process.stdout, "write").mockImplementationOnce((text) => {
      done(String(text));
      return true;
    });
  });
  process.argv.push(address);
  jest.requireActual("../../../provider/native/main");
  process.argv.pop();
  client = new ResourceProviderClient(
    `127.0.0.1:${(await port).trimEnd()}`,
    grpc.credentials.createInsecure(),
  );
  plugin = bind.mock.contexts.at(-1) as grpc.Server;
  jest.restoreAllMocks();
});

afterAll(async () => {
  globalThis.console = ownConsole;
  client.close();
  plugin.forceShutdown();
  await emulator.close();
});

const settings = () => ({ baseUrl: emulator.url, token: marked(emulator.token), maxRetries: 0 });

beforeEach(async () => {
  await configure(settings());
});

test("settings: secrets are marked, a difference is seen, a misspelt name is told", async () => {
  const baseUrl = "https://a.example.com";
  const given = build(new messages.CheckRequest(), { news: { baseUrl, token: "t" } });
  const checked = await call<messages.CheckResponse>("checkConfig", given);
  expect(plain(checked.getInputs())).toEqual({ baseUrl, token: marked("t") });
  const changes = async (oldInputs: Values, news: Values) => {
    const request = build(new messages.DiffRequest(), { oldInputs, news });
    return (await call<messages.DiffResponse>("diffConfig", request)).getChanges();
  };
  expect(await changes({ timeout: "1s", token: marked("t") }, { timeout: "1s", token: "t" })).toBe(DIFF_NONE);
  expect(await changes({ timeout: "1s" }, { timeout: "2s" })).toBe(DIFF_SOME);
  const configured = await configure({ ...settings(), timeou: "1s" });
  expect([configured.getAcceptsecrets(), configured.getSupportspreview()]).toEqual([true, true]);
  await call("cancel", new Empty());
  await hasLogged({ severity: LogSeverity.WARNING, message: /platform:timeou/, urn: "" });
});

test("the life of a group, as a preview foresees it and as it is", async () => {
  const args = { name: "acme", description: "one" };
  const groups = () => emulator.state()["groups"] ?? [];
  expect(await check("Group", args)).toEqual({ inputs: args, failures: [] });
  expect(await create("Group", args, true)).toEqual({ id: "", outs: args });
  expect(groups()).toEqual([]);
  const { id, outs } = await create("Group", args);
  expect(groups()).toMatchObject([{ uid: id, ...args }]);
  expect(outs).toEqual(args);

  // A run compares and deletes nothing that it has created.
  const make = async (name: string): Promise<string> => {
    const made = await send(emulator, "POST", "/iam/v2/groups", { name, description: "one" });
    return String(made["uid"]);
  };
  const uid = await make("other");
  const [olds, news] = [
    { ...args, name: "other" },
    { name: "other", description: "two" },
  ];
  // An import says so until an update, also where a refresh follows.
  const imported = { ...olds, [IMPORTED]: true };
  expect(await read("Group", uid, {})).toEqual({ id: uid, inputs: olds, outs: imported });
  expect(await read("Group", uid, imported, olds)).toEqual({ id: uid, inputs: olds, outs: imported });
  expect(await update("Group", uid, imported, olds)).toEqual(olds);
  expect(await diff("Group", uid, olds, olds)).toEqual({
    changes: DIFF_NONE,
    replaces: [],
    first: false,
    properties: [],
    isDetailed: false,
    details: {},
  });
  expect(await diff("Group", uid, olds, news)).toMatchObject({
    changes: DIFF_SOME,
    replaces: [],
    properties: ["description"],
    isDetailed: true,
    details: { description: [Kind.UPDATE, true] },
  });
  expect(await update("Group", uid, olds, news, true)).toEqual(news);
  expect(groups()).toMatchObject([args, olds]);
  expect(await update("Group", uid, olds, news)).toEqual(news);
  expect(groups()).toMatchObject([args, news]);
  expect(await read("Group", uid, news, news)).toEqual({ id: uid, outs: news, inputs: news });
  expect(await invoke("getGroup", { uid })).toMatchObject(news);
  expect(await invoke("getGroups", { name: marked("other") })).toEqual({
    items: marked([expect.objectContaining(news)]),
  });

  const gone = await make("gone");
  const properties = { name: "gone" };
  await call("delete", build(new messages.DeleteRequest(), { urn: urnOf("Group"), id: gone, properties }));
  expect(groups()).toMatchObject([args, news]);
  expect(await read("Group", gone, { name: "gone" }, {})).toMatchObject({ id: "" });
});

test("what replaces, and a part of a list or an object, are told by the engine's paths", async () => {
  const olds = {
    parentUid: "a",
    name: "ci",
    claimMatch: { issuer: "https://a.example.com", claims: { "a.b": "1" } },
  };
  const claimMatch = { issuer: "https://a.example.com", subject: "x", claims: { "a.b": "2" } };
  const news = { parentUid: "b", name: "ci", claimMatch };
  expect(await diff("Identity", "id", olds, news)).toMatchObject({
    changes: DIFF_SOME,
    replaces: ["parentUid"],
    properties: ["parentUid", "claimMatch"],
    details: {
      parentUid: [Kind.UPDATE_REPLACE, true],
      'claimMatch.claims["a.b"]': [Kind.UPDATE, true],
      "claimMatch.subject": [Kind.ADD, true],
    },
  });
  const staticKeys = { issuer: "https://a.example.com", subject: "x", issuerKeys: "{}" };
  expect(await diff("Identity", "id", olds, { parentUid: "a", name: "ci", staticKeys })).toMatchObject({
    replaces: ["claimMatch", "staticKeys"],
    details: { claimMatch: [Kind.DELETE_REPLACE, true], staticKeys: [Kind.ADD_REPLACE, true] },
  });
});

test("secrets stay marked: those of the description, and those that the engine sent", async () => {
  const { id: parentUid } = await create("Group", { name: "acme" });
  const role = await create("Role", {
    parentUid,
    name: marked("reader"),
    capabilities: ["CAP_IAM_GROUPS_LIST"],
  });
  expect(role.outs).toMatchObject({ name: marked("reader"), capabilities: ["CAP_IAM_GROUPS_LIST"] });
  const oidc = { issuer: "https://login.example.com", clientId: "platform", clientSecret: "hidden" };
  const args = { parentUid, name: "login", defaultRole: role.id, oidc };
  const shown = { ...oidc, clientSecret: marked("hidden") };
  const checked = await check("IdentityProvider", args);
  expect(checked).toMatchObject({ failures: [], inputs: { oidc: shown } });
  const invite = { parentUid, roleUid: role.id, ttl: "1h" };
  const foreseen = { code: UNKNOWN, keyId: UNKNOWN, expirationTime: UNKNOWN };
  expect(await create("GroupInvite", invite, true)).toEqual({ id: "", outs: { ...invite, ...foreseen } });
  const invited = await create("GroupInvite", invite);
  expect(invited.outs).toMatchObject({ ...invite, code: marked(expect.stringMatching(/./)) });
  const found = await read("GroupInvite", invited.id, {});
  expect(found).toMatchObject({ id: invited.id, inputs: { parentUid, roleUid: role.id } });
  expect(found.outs).toMatchObject({ keyId: invited.outs["keyId"] });
  expect((await create("IdentityProvider", args, true)).outs).toMatchObject({ oidc: shown });
  const { id, outs } = await create("IdentityProvider", { ...args, oidc: shown });
  expect(outs).toMatchObject({ name: "login", oidc: shown });
  expect(await read("IdentityProvider", id, outs, { ...args, oidc: shown })).toMatchObject({
    outs: { oidc: shown },
    inputs: { oidc: shown },
  });
  const capabilities = [marked("CAP_IAM_GROUPS_LIST")];
  expect((await check("Role", { parentUid, name: "reader", capabilities })).inputs).toMatchObject({
    capabilities: marked(["CAP_IAM_GROUPS_LIST"]),
  });
  const later = await check("Role", { parentUid, name: UNKNOWN, capabilities: ["CAP_IAM_GROUPS_LIST"] });
  expect(later.inputs).toMatchObject({ name: UNKNOWN });
});

test("a likely mistake is a warning about its resource, a secret one is not quoted, a mistake is refused", async () => {
  logged.splice(0);
  const args = { name: "Reader?", capabilities: ["CAP_NO_SUCH"] };
  expect(await check("Role", args)).toMatchObject({
    failures: [expect.stringMatching(/parentUid is missing.*PP1001/)],
  });
  await hasLogged({
    severity: LogSeverity.WARNING,
    message: /^name: "Reader\?" may be refused/,
    urn: urnOf("Role"),
  });
  logged.splice(0);
  await check("Role", { ...args, name: marked("Reader?"), capabilities: ["CAP_IAM_GROUPS_LIST"] });
  expect(logged).toEqual([]);
});

test("a refresh keeps what a program says needlessly, and an import does not make it say so", async () => {
  const { id } = await create("Group", { name: "bare", description: "" });
  const said = { name: "bare", description: "" };
  expect((await read("Group", id, said, said)).inputs).toEqual(said);
  expect((await read("Group", id, {})).inputs).toEqual({ name: "bare" });
});

test("a preview says which uids nobody has: it asks for all of a kind together, for each once, and for no secret one", async () => {
  const { id: parentUid } = await create("Group", { name: "acme" });
  const absent = (digit: string): string => `${parentUid}/${digit.repeat(16)}`;
  const [identityUid, roleUid] = [absent("1"), absent("2")];
  const bind = (more: Values = {}) =>
    create("RoleBinding", { parentUid, identityUid, roleUid: UNKNOWN, ...more }, true);
  const told = (): string[] => logged.map(({ message }) => message).sort();
  const asked = (path: string): number => emulator.requests.filter((each) => each.path === path).length;
  const before = asked("/iam/v2/identities");
  logged.splice(0);
  await Promise.all([bind(), bind({ identityUid: absent("3") }), bind({ roleUid: marked(roleUid) })]);
  await bind();
  const problem = (path: string, uid: string, kind: string): unknown =>
    expect.stringMatching(
      `^${path}: "${uid}" is the uid of no ${kind} that the token may see: .* \\(PP3405\\)$`,
    );
  const [one, other] = ["1", "3"].map((digit) => problem("identityUid", absent(digit), "Identity"));
  expect(told()).toEqual([one, one, one, other]);
  expect(asked("/iam/v2/identities") - before).toBe(1);

  logged.splice(0);
  const grant = { parentUid, identityUid: UNKNOWN, roleUid };
  await update("RoleBinding", `${parentUid}/${"4".repeat(16)}`, grant, grant, true);
  expect(told()).toEqual([problem("roleUid", roleUid, "Role")]);

  // What a lookup has found is there.
  const lists = asked("/iam/v2/groups");
  const { id } = await create("Group", { name: "found" });
  await invoke("getGroup", { uid: id });
  await create("Repo", { parentUid: id, name: "x" }, true);
  expect(asked("/iam/v2/groups")).toBe(lists + 1);

  // What the token may not list is not known. What fails the update too is told once.
  logged.splice(0);
  const refused = emulator.addFault({ method: "GET", status: 403, body: { code: 7, message: "no" } });
  await create("Repo", { parentUid: absent("5"), name: "x" }, true);
  expect(told()).toEqual([]);
  refused.remove();
  const failing = emulator.addFault({ method: "GET", close: "before" });
  await create("Repo", { parentUid: absent("6"), name: "x" }, true);
  await create("Repo", { parentUid: absent("7"), name: "x" }, true);
  failing.remove();
  expect(told()).toEqual([
    expect.stringMatching(/^the API cannot be asked: .*; an update would fail, and no uid is looked up/),
  ]);
});

test.each<[string, Values, RegExp]>([
  [
    "Group",
    { name: "team" },
    /^has no parentUid: it makes a new organisation \(a root group\); give parentUid where that is not meant \(PP1110\)$/,
  ],
  ["GroupInvite", { parentUid: "0".repeat(40) }, /^has no email: it makes an invite that anyone/],
])("a new %s of %j is told with what it is without an argument", async (kind, news, message) => {
  logged.splice(0);
  await check(kind, news, news);
  await check(kind, { ...news, parentUid: "0".repeat(40), email: "ada@example.com" });
  expect(logged).toEqual([]);
  await check(kind, news);
  await hasLogged({ severity: LogSeverity.WARNING, message, urn: urnOf(kind) });
});

test("an error has its code and no stack, also of a kind and of a function that the plugin does not have", async () => {
  const refusal = (promise: Promise<unknown>) =>
    promise.then(
      () => "nothing",
      (error: unknown) => `${(error as grpc.ServiceError).code} ${(error as grpc.ServiceError).details}`,
    );
  expect(await refusal(create("Nothing", {}))).toMatch(
    /^2 this version of the plugin has no resource type .*\(PP1106\)$/,
  );
  expect(await refusal(invoke("getNothing", {}))).toMatch(
    /^2 this version of the plugin has no function .*\(PP1106\)$/,
  );
  const absent = await refusal(invoke("getGroup", { uid: "0".repeat(40) }));
  expect(absent.match(/PP\d{4}/g)).toHaveLength(1);
  expect(absent).not.toContain("PP9001");
  expect(await refusal(create("Group", { name: "x", parentUid: "0".repeat(40) }))).toMatch(
    /^2 creating group "x" below .*\n[^]*explain PP3405$/,
  );
});

test("what exists of a resource whose making failed is sent with the error", async () => {
  const { id, outs } = await create("Group", { name: "acme", description: "one" });
  const fault = emulator.addFault({ method: "PATCH", status: 200, applied: false, body: outs });
  const error = await update("Group", id, outs, { name: "acme", description: "two" }).catch(
    (thrown: unknown) => thrown as grpc.ServiceError,
  );
  fault.remove();
  const [details] = (error as grpc.ServiceError).metadata.get("grpc-status-details-bin");
  const [packed] = Status.deserializeBinary(details as Buffer).getDetailsList();
  const detail = packed?.unpack(
    (bytes) => messages.ErrorResourceInitFailed.deserializeBinary(bytes),
    "pulumirpc.ErrorResourceInitFailed",
  );
  expect(detail?.getId()).toBe(id);
  expect(detail?.getReasonsList()).toEqual([expect.stringMatching(/\(PP4004\)$/)]);
  expect(detail?.getProperties()?.toJavaScript()).toMatchObject({ name: "acme", description: "one" });
});

describe("the settings of a provider", () => {
  const subject = { urn: urnOf("Group"), type: "platform:index:Group" };
  const failuresOf = async (args: Values, name?: string) => {
    const provider = new PlatformProvider(() => undefined);
    provider.configure(args as Props, name);
    return (await provider.check(subject, {}, { name: "acme" })).failures;
  };
  const address = "https://a.example.com";

  test("fail the check of a resource where one is wrong, and nothing where one is not known yet", async () => {
    expect(await failuresOf({ baseUrl: "nonsense", token: "t" })).toHaveLength(1);
    expect(await failuresOf({ baseUrl: "nonsense", token: UNKNOWN })).toEqual([]);
    expect(await failuresOf({ baseUrl: address, token: "t", maxRetries: 3, batching: true })).toEqual([]);
    expect(await failuresOf({ baseUrl: address, token: "t", maxRetries: { not: "a number" } })).toHaveLength(
      1,
    );
  });

  test("leave out the credentials of the environment where a provider of the program has its own", async () => {
    process.env["PLATFORM_TOKEN_FILE"] = "/no/such/token";
    try {
      const none = await failuresOf({ baseUrl: address, token: "t" }, "second");
      expect(none).toEqual([]);
      expect(await failuresOf({ baseUrl: address, token: "t" }, "default_1_2_3")).toHaveLength(1);
      expect(await failuresOf({ baseUrl: address }, "second")).toHaveLength(1);
    } finally {
      delete process.env["PLATFORM_TOKEN_FILE"];
    }
  });
});

test("the process ends with the engine", async () => {
  const exit = new Promise((done) => {
    jest.spyOn(process, "exit").mockImplementation(((code: number) => done(code)) as typeof process.exit);
  });
  engine.forceShutdown();
  expect(await exit).toBe(0);
  jest.restoreAllMocks();
});
