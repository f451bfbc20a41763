import * as pulumi from "@pulumi/pulumi";
import { kinds } from "../../provider/kinds";
import { GROUP_UID, ROOT_UID } from "./support/samples";
import { errorOf, missing, ScriptedServer, TOKEN } from "./support/server";

/** What the engine's process calls, as it sees it. */
interface Provider {
  readonly configure: (request: { config: { get: (key: string) => string | undefined } }) => Promise<void>;
  readonly check: (
    olds: object,
    news: object,
  ) => Promise<{ inputs: object; failures: { property: string; reason: string }[] }>;
  readonly diff: (id: string, olds: object, news: object) => Promise<object>;
  readonly create: (inputs: object) => Promise<{ id: string; outs: object }>;
  readonly read: (id: string, olds: object) => Promise<object>;
  readonly update: (id: string, olds: object, news: object) => Promise<{ outs: object }>;
  readonly delete: (id: string, olds: object) => Promise<void>;
}

type Providers = Record<string, Provider>;

const SOURCE = "../../provider/dynamic";

/** The module as a new process loads it: without a client and without settings. */
function fresh(): Providers {
  let providers: Providers = {};
  jest.isolateModules(() => {
    // Loading the engine's library anew as well would only take time.
    jest.doMock("@pulumi/pulumi", () => pulumi);
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded anew each time
    providers = require(SOURCE) as Providers;
  });
  return providers;
}

const provider = (providers: Providers, kind: string): Provider => {
  const found = providers[kind];
  if (!found) throw new Error(`no export ${kind}`);
  return found;
};

/**
 * The texts in the states that version 0.1.0 wrote. They are there as long as those states live: add
 * new ones, never change or take away one that is here.
 */
const TEXTS_OF_0_1_0 = [
  ..."Group Identity Role RoleBinding Repo Subscription RepoReadme Tag".split(" "),
  ..."AccountAssociation GroupInvite ExternalGroupRoleMapping IdentityProvider ScimToken TermsAcceptance GroupAccess".split(
    " ",
  ),
].map((kind) => `exports.handler=()=>require("pulumi-platform/dynamic").${kind}`);

let server: ScriptedServer;
const environment = { ...process.env };
beforeAll(async () => {
  server = await ScriptedServer.start();
});
afterAll(() => server.close());
beforeEach(() => {
  for (const key of Object.keys(process.env))
    if (key.startsWith("PLATFORM_")) Reflect.deleteProperty(process.env, key);
});
afterEach(() => {
  process.env = { ...environment };
  jest.restoreAllMocks();
});

function configured(settings: Record<string, string> = {}): Providers {
  const providers = fresh();
  const config: Record<string, string> = {
    "platform:baseUrl": server.url,
    "platform:token": TOKEN,
    "platform:maxRetries": "0",
    ...settings,
  };
  void provider(providers, "Group").configure({ config: { get: (key) => config[key] } });
  return providers;
}

const [text] = TEXTS_OF_0_1_0;
const group = { parentUid: ROOT_UID, name: "team", __provider: text };
const stored = { uid: GROUP_UID, name: "team", description: "", createTime: null };

describe("the entry of the engine's process", () => {
  test("exports every name that a state may hold", () => {
    const names = Object.keys(fresh());
    for (const one of TEXTS_OF_0_1_0) expect(names).toContain(one.slice(one.lastIndexOf(".") + 1));
    expect(names.sort()).toEqual(kinds.map(({ spec }) => spec.kind).sort());
  });

  test("refuses in a preview a setting that is wrong, and none that is missing", async () => {
    const failures = async (settings: Record<string, string>) =>
      (await provider(configured(settings), "Group").check({}, group)).failures;
    expect(await failures({ "platform:token": "canary token" })).toEqual([
      {
        property: "",
        reason: "platform:token holds spaces, line breaks or other characters that no token has (PP2007)",
      },
    ]);
    expect(await failures({ "platform:timeout": "soon" })).toMatchObject([
      { reason: expect.stringMatching(/^platform:timeout must be .* \(PP2002\)$/) },
    ]);
    expect(await failures({ "platform:token": "", "platform:baseUrl": "" })).toEqual([]);
  });

  test.each(TEXTS_OF_0_1_0)("loads from %s", (stateText) => {
    const module: { handler?: () => unknown } = {};
    const asked: string[] = [];
    const load = (name: string): unknown => {
      asked.push(name);
      return fresh();
    };
    // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- as the engine does it
    new Function("exports", "require", stateText)(module, load);
    const loaded = module.handler?.();
    expect(asked).toEqual(["pulumi-platform/dynamic"]);
    for (const method of ["configure", "check", "diff", "create", "read", "update", "delete"]) {
      expect(loaded).toHaveProperty(method, expect.any(Function));
    }
  });
});

describe("check and diff", () => {
  test("name the property in the reason: beside a property the engine prints its value, a secret too", async () => {
    const { check } = provider(fresh(), "Role");
    const { failures } = await check(
      {},
      { name: "pusher", capabilities: ["repo.list"], strange: 1, __normalized: "a" },
    );
    expect(failures).toEqual([
      { property: "", reason: "strange is not an argument (PP1002)" },
      { property: "", reason: "__normalized is not an argument (PP1002)" },
      { property: "", reason: expect.stringMatching(/^parentUid is missing: .+ \(PP1001\)$/) as string },
      { property: "", reason: expect.stringMatching(/^capabilities\[0\] must be .+ \(PP1009\)$/) as string },
    ]);
  });

  test("need no settings, and return the inputs unchanged", async () => {
    const { check, diff } = provider(fresh(), "Group");
    const news = { parentUid: ROOT_UID, name: "", description: null, __provider: text };
    await expect(check({}, news)).resolves.toEqual({
      inputs: { parentUid: ROOT_UID, name: "", description: null, __provider: text },
      failures: [{ property: "", reason: "name is missing: give a string that is not empty (PP1001)" }],
    });
    await expect(diff(GROUP_UID, group, { ...group, __provider: "another" })).resolves.toStrictEqual({
      changes: false,
      replaces: [],
    });
    // What the native plugin recorded has no text yet, and gets it.
    const recorded = { parentUid: ROOT_UID, name: "team" };
    await expect(diff(GROUP_UID, recorded, group)).resolves.toStrictEqual({ changes: true, replaces: [] });
    // `changes` is absent where something changed: the engine then finds out what.
    await expect(diff(GROUP_UID, group, { ...group, name: "b" })).resolves.toStrictEqual({ replaces: [] });
    await expect(diff(GROUP_UID, group, { ...group, parentUid: GROUP_UID })).resolves.toStrictEqual({
      replaces: ["parentUid"],
    });
  });
});

describe("settings", () => {
  test("are read before anything is awaited, since only the first call is awaited", async () => {
    server.script([{ json: stored }]);
    const providers = fresh();
    const asked: string[] = [];
    const config = {
      get: (key: string) => {
        asked.push(key);
        return ({ "platform:baseUrl": server.url, "platform:token": TOKEN } as Record<string, string>)[key];
      },
    };
    void provider(providers, "Role").configure({ config });
    expect(asked).toEqual([]);
    await provider(providers, "Group").read(GROUP_UID, group);
    expect(asked).toContain("platform:baseUrl");
    expect(server.last().headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  test("make one client, whose connections all kinds share", async () => {
    const own = await ScriptedServer.start();
    try {
      own.script(({ path }) => ({ json: { ...stored, uid: path.replace(/^\/[a-z]+\/v2\/\w+\//, "") } }));
      const providers = configured({ "platform:baseUrl": own.url });
      await provider(providers, "Group").read(GROUP_UID, group);
      await provider(providers, "Role").read(GROUP_UID, {});
      await provider(providers, "Repo").read(GROUP_UID, {});
      expect(own.requests).toHaveLength(3);
      expect(own.connections).toBe(1);
    } finally {
      await own.close();
    }
  });
});

describe("what is returned to the engine", () => {
  test("is plain JSON of the inputs alone; the engine adds its own text", async () => {
    const extra = { ...stored, strange: undefined, status: "READY" };
    // Each of the two processes asks once whether the token sees the organisation, before a delete or where nothing is found.
    const organisation = { groups: [{ uid: ROOT_UID }] };
    const answers = [extra, extra, { ...extra, name: "crew" }, organisation, {}].map((json) => ({ json }));
    server.script([...answers, missing(GROUP_UID)]);
    const { create, read, update } = provider(configured(), "Group");
    const { delete: remove } = provider(configured(), "Group");
    const plain = { parentUid: ROOT_UID, name: "team" };
    await expect(create(group)).resolves.toStrictEqual({ id: GROUP_UID, outs: plain });
    const whole = { id: GROUP_UID, props: plain, inputs: plain };
    await expect(read(GROUP_UID, group)).resolves.toStrictEqual(whole);
    const renamed = { outs: { ...plain, name: "crew" } };
    await expect(update(GROUP_UID, group, { ...group, name: "crew" })).resolves.toStrictEqual(renamed);
    await expect(remove(GROUP_UID, group)).resolves.toBeUndefined();
    await expect(read(GROUP_UID, group)).resolves.toStrictEqual({});
    expect(server.requests).toHaveLength(7);
  });
});

describe("what is thrown to the engine", () => {
  test("of a partially created resource has its id, its properties with the provider text, and reasons", async () => {
    const role = { parentUid: GROUP_UID, name: "r", capabilities: ["CAP_NEW"], __provider: "the text" };
    const uid = `${GROUP_UID}/0000000000000001`;
    server.script(() => ({ json: { uid, name: "r", capabilities: [] } }));
    const error = await errorOf(provider(configured(), "Role").create(role));
    expect(error).toMatchObject({
      id: uid,
      properties: { parentUid: GROUP_UID, name: "r", __provider: "the text" },
      reasons: [expect.stringContaining("the server ignored capabilities")],
    });
    const { properties } = error as unknown as { properties: object };
    expect(JSON.parse(JSON.stringify(properties))).toStrictEqual(properties);
  });

  test("of an unexpected exception has the same form", async () => {
    const providers = configured();
    const get = (_target: object, key: string | symbol) => {
      if (key === "__provider") return text;
      throw Object.assign(new Error("never foreseen"), { id: "not a resource" });
    };
    const strange = new Proxy({}, { get });
    const { diff, update } = provider(providers, "Group");
    for (const attempt of [diff, update]) {
      const error = await errorOf(attempt(GROUP_UID, strange, strange));
      expect(error.message).toBe("group: never foreseen (PP9001)");
      expect(error.stack).toBe("see the error of the resource");
      expect("id" in error).toBe(false);
    }
  });
});
