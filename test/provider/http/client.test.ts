import { inspect } from "node:util";
import { requireUid } from "../../../provider/http/client";
import type { JsonObject, Client } from "../../../provider/http/client";
import { printable } from "../../../provider/text/printable";
import { jwt } from "../../support/oidc";
import { CHILD_UID, GROUP_UID, ROLE_UID } from "../support/samples";
import {
  clientOf,
  errorOf,
  failure,
  htmlPage,
  promised,
  ScriptedServer,
  TOKEN,
  tokensOf,
  missing,
} from "../support/server";
import type { Reply, Recorded } from "../support/server";

const GROUPS = "/iam/v2/groups";

const server = ScriptedServer.ofSuite();

/** Runs with a server of its own: a request that was given up may still arrive, and would take the reply of the next one. */
async function withOwnServer<Result>(run: (own: ScriptedServer) => Promise<Result>): Promise<Result> {
  const own = await ScriptedServer.start();
  try {
    return await run(own);
  } finally {
    await own.close();
  }
}

async function all(list: AsyncIterable<JsonObject>): Promise<unknown[]> {
  const items = [];
  for await (const item of list) items.push(item["uid"]);
  return items;
}

/** The address of a port that nobody listens on. */
async function deadUrl(): Promise<string> {
  const short = await ScriptedServer.start();
  const { url } = short;
  await short.close();
  return url;
}

describe("a request", () => {
  test("carries the bearer token and accepts JSON; only one with a body has a content type", async () => {
    const client = clientOf(server);
    server.script([{ json: { uid: "x" } }, { json: { uid: "x" } }]);
    await client.getResource(GROUPS, GROUP_UID);
    expect(server.last()).toMatchObject({
      method: "GET",
      path: `${GROUPS}/${GROUP_UID}`,
      rawQuery: "",
      text: "",
    });
    expect(server.last().headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      accept: "application/json",
      "user-agent": "pulumi-platform",
    });
    expect(server.last().headers).not.toHaveProperty("content-type");
    await client.create(GROUPS, GROUP_UID, { name: "ünï", list: ["a"], nothing: null });
    expect(server.last()).toMatchObject({
      method: "POST",
      path: `${GROUPS}/${GROUP_UID}`,
      text: '{"name":"ünï","list":["a"],"nothing":null}',
    });
    expect(server.last().headers).toMatchObject({ "content-type": "application/json" });
  });

  test("for a root goes to the collection itself, never to an empty uid", async () => {
    server.script([{ json: { uid: "x" } }]);
    await clientOf(server).create(GROUPS, undefined, {});
    expect(server.calls).toEqual([`POST ${GROUPS}`]);
    await expect(async () => clientOf(server).create(GROUPS, "", {})).rejects.toThrow('"" is not a uid');
  });

  test("below a path of the base address keeps that path", async () => {
    server.script([{ json: {} }]);
    await clientOf({ url: `${server.url}/proxy/api` }).get("/ping/v2/ping");
    expect(server.calls).toEqual(["GET /proxy/api/ping/v2/ping"]);
  });

  test("names the mask in one parameter, and none where none is given", async () => {
    server.script([{ json: {} }, { json: {} }]);
    const client = clientOf(server);
    const path = client.resourcePath(GROUPS, CHILD_UID);
    await client.patchAt(path, { name: "a" }, ["name", "sync_config.source"]);
    const rawQuery = "updateMask=name%2Csync_config.source";
    expect(server.last()).toMatchObject({ method: "PATCH", path, rawQuery, text: '{"name":"a"}' });
    await client.patchAt(path, { name: "a" }, undefined);
    expect(server.last()).toMatchObject({ rawQuery: "", text: '{"name":"a"}' });
  });

  test("encodes a query so that a plus, a comma and a semicolon stay what they are", async () => {
    server.script([{ json: {} }]);
    await clientOf(server).get("/x", {
      name: "a+b c;d&e=f,g/ü%",
      ids: ["1", "2,3"],
      none: [],
      absent: undefined,
      flag: false,
      count: 0,
      "uidp.children_of": GROUP_UID,
    });
    const { rawQuery, query } = server.last();
    expect(rawQuery).toBe(
      `name=a%2Bb%20c%3Bd%26e%3Df%2Cg%2F%C3%BC%25&ids=1&ids=2%2C3&flag=false&count=0&uidp.children_of=${encodeURIComponent(GROUP_UID)}`,
    );
    expect(query.get("name")).toBe("a+b c;d&e=f,g/ü%");
  });
});

type Action = (client: Client) => Promise<unknown>;

const actions: Readonly<Record<string, Action>> = {
  GET: (client) => client.getResource(GROUPS, GROUP_UID),
  PATCH: (client) => client.patchAt(client.resourcePath(GROUPS, GROUP_UID), { name: "a" }, ["name"]),
  DELETE: (client) => client.delete(GROUPS, GROUP_UID),
  LIST: (client) => all(client.list(GROUPS)),
};

/* test/provider/http/retry.test.ts has every error, final ones too; here each method is one that may be repeated, or is not. */
const passing: readonly [string, Reply][] = [
  ["429 with a page", { status: 429, text: htmlPage }],
  ["503 of the API", failure(14, "unavailable")],
  ["a connection cut within the answer", { cut: "within" }],
];

describe("repeating", () => {
  describe.each(Object.entries(actions))("of %s", (_method, action) => {
    test.each(passing)("happens after %s", async (_name, reply) => {
      server.script([reply, reply, { json: { uid: GROUP_UID, groups: [] } }]);
      await action(clientOf(server, { maxRetries: 2 }));
      const asked = server.requests.map(
        ({ method, path, rawQuery, text }) => method + path + rawQuery + text,
      );
      expect(asked).toEqual(Array(3).fill(asked[0]));
    });
  });

  const create: Action = (client) => client.create(GROUPS, GROUP_UID, { name: "a" });

  test("of a read ends soon at a closed port and at a closed proxy, before anything has answered; that of a create goes on", async () => {
    const tries = async (action: (client: Client) => Promise<unknown>, address?: string): Promise<number> => {
      const lines: string[] = [];
      const url = address ?? (await deadUrl());
      await errorOf(action(clientOf({ url }, { maxRetries: 4, log: (line) => lines.push(line) })));
      return lines.length;
    };
    expect(await tries((client) => client.get(GROUPS))).toBe(3);
    expect(await tries(create)).toBe(5);
    const before = process.env["HTTPS_PROXY"];
    process.env["HTTPS_PROXY"] = (await deadUrl()).replace("//", "//user:p%40ss-of-proxy@");
    try {
      expect(await tries((client) => client.get(GROUPS), "https://api.example")).toBe(3);
      const header = Buffer.from("user:p@ss-of-proxy").toString("base64");
      expect(printable(`p@ss-of-proxy ${header}`)).toBe("[credential] [credential]");
    } finally {
      if (before === undefined) delete process.env["HTTPS_PROXY"];
      else process.env["HTTPS_PROXY"] = before;
    }
  });

  test("after no response is said once by a client, with the cause and how often it is tried", async () => {
    const lines: string[] = [];
    const url = await deadUrl();
    const options = { maxRetries: 2, notify: (line: string) => lines.push(line) };
    const waits = { firstDelayMs: 1, maxDelayMs: 600 };
    const client = clientOf({ url }, { ...options, policy: waits });
    await Promise.all([errorOf(client.get(GROUPS)), errorOf(client.get("/iam/v2/roles"))]);
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(
          `^GET ${url}/iam/v2/\\w+: connection refused \\(ECONNREFUSED\\); trying again, up to 2 times$`,
        ),
      ),
    ]);
    server.script(() => failure(14, "unavailable"));
    await errorOf(clientOf(server, options).get(GROUPS));
    expect(lines).toHaveLength(1);
  });
});

describe("a server that asks to wait", () => {
  test("is obeyed by every request of the client, also by those that were already waiting", async () => {
    server.script((_request, count) =>
      count === 0 ? { status: 429, text: "", headers: { "Retry-After": "0.08" } } : { json: {} },
    );
    const client = clientOf(server, { maxRetries: 1, maxConcurrency: 1 });
    await Promise.all(["/a", "/b", "/c", "/d"].map((path) => client.get(path)));
    const [first, ...others] = server.requests;
    expect(others).toHaveLength(4);
    for (const { at } of others) expect(at - first!.at).toBeGreaterThan(75);
  });
});

describe("connections", () => {
  test("never carry more requests at once than are allowed, and as many as are", async () => {
    const gate = promised();
    server.script(() => ({ json: {}, after: gate.promise }));
    const client = clientOf(server, { maxConcurrency: 3 });
    const requests = Promise.all(Array.from({ length: 12 }, (_, i) => client.get(`/x${i}`)));
    await server.arrived(3);
    gate.keep();
    await requests;
    expect(server.requests).toHaveLength(12);
    expect(server.mostAtOnce).toBe(3);
  });

  test.each<[string, Reply]>([
    ["that nothing comes over", { silent: true }],
    ["that a byte now and then comes over", { drips: true }],
  ])("%s are given up in time", async (_name, reply) => {
    await withOwnServer(async (own) => {
      own.script([reply]);
      const error = await errorOf(clientOf(own, { timeoutMs: 80 }).get("/x"));
      expect(error).toMatchObject({
        name: "ConnectionError",
        errorCode: "PP2104",
        outcome: "unknown",
        isTransient: true,
        message: `GET ${own.url}/x: no response in time (ETIMEDOUT)`,
      });
    });
  });

  test("that bring a response which is too large are an error that says so, and are not repeated", async () => {
    server.script(() => ({ status: 200, text: " ".repeat(33 * 1024 * 1024) }));
    const error = await errorOf(clientOf(server, { maxRetries: 3 }).get("/x"));
    expect(error).toMatchObject({ errorCode: "PP2107", isTransient: false });
    expect(error.message).toBe(
      `GET ${server.url}/x: the response is too large for one of the API; check platform:baseUrl (or PLATFORM_BASE_URL)`,
    );
    expect(server.requests).toHaveLength(1);
  });

  test("that fail in TLS are errors that say so, and are not repeated", async () => {
    const url = server.url.replace("http:", "https:");
    const lines: string[] = [];
    const error = await errorOf(
      clientOf({ url }, { maxRetries: 3, log: (line) => lines.push(line) }).get("/x"),
    );
    expect(error).toMatchObject({ outcome: "notSent", isTransient: false });
    expect(error.message).toMatch(
      /: the TLS connection failed \(\w+\): the server does not speak TLS; check platform:baseUrl /,
    );
    expect(lines).toHaveLength(1);
  });
});

describe("responses that are not the API's", () => {
  test.each([301, 302, 303, 307, 308])(
    "a redirect with %i is not followed, with or without the bearer",
    async (status) => {
      const other = await ScriptedServer.start();
      try {
        other.script(() => ({ json: { uid: "x" } }));
        server.script([{ status, text: "", headers: { Location: `${other.url}/login?token=secret` } }]);
        const error = await errorOf(clientOf(server, { maxRetries: 2 }).get("/x"));
        expect(error).toMatchObject({ errorCode: "PP2107" });
        expect(error.message).toBe(
          `GET ${server.url}/x: this is not the Platform API: it redirects to ${other.url.slice(7)}, which is not followed; check platform:baseUrl (or PLATFORM_BASE_URL)`,
        );
        expect(other.requests).toHaveLength(0);
        expect(server.requests).toHaveLength(1);
      } finally {
        await other.close();
      }
    },
  );

  test.each<[string, Reply]>([
    ["null", { text: "null" }],
    ["a list", { text: "[]" }],
    ["a text", { text: '"ok"' }],
  ])("%s with 200 is never a response", async (_name, reply) => {
    server.script([reply, reply]);
    const error = await errorOf(clientOf(server, { maxRetries: 2 }).get("/x"));
    expect(error).toMatchObject({ name: "ConnectionError", outcome: "notSent" });
    expect(error.message).toBe(
      `GET ${server.url}/x: this is not the Platform API: HTTP 200, but the response is not the API's JSON; check platform:baseUrl (or PLATFORM_BASE_URL)`,
    );
    const create = await errorOf(clientOf(server).create("/x", undefined, {}));
    expect(create).toMatchObject({ name: "ConnectionError", outcome: "unknown", isTransient: false });
  });

  test("a truncated object with 200 is requested again, and the outcome of a create is unknown", async () => {
    const half: Reply = { text: '{"uid":' };
    server.script([half, { json: { uid: "x" } }]);
    await expect(clientOf(server, { maxRetries: 1 }).get("/x")).resolves.toEqual({ uid: "x" });
    server.script([half]);
    const error = await errorOf(clientOf(server, { maxRetries: 1 }).create("/x", undefined, {}));
    expect(error).toMatchObject({ name: "ConnectionError", outcome: "unknown", isTransient: true });
    expect(error.message).toBe(`POST ${server.url}/x: truncated or invalid JSON`);
  });

  test("the server's time and the age of what was created follow no calendar clock, where a response has a time", async () => {
    const client = clientOf(server);
    const [now, there] = [Date.now(), "Thu, 01 Jan 2026 00:00:00 GMT"];
    server.script([
      { json: {}, headers: { Date: there } },
      { json: {}, headers: { Date: "today" } },
    ]);
    await client.get("/x");
    const start = performance.now();
    client.noteCreated("uid");
    const clock = jest.spyOn(Date, "now");
    try {
      for (const step of [-3_600_000, 3_600_000]) {
        clock.mockReturnValue(now + step);
        expect(client.timeSinceCreation("uid")).toBeLessThanOrEqual(performance.now() - start);
        expect(Math.abs(client.serverNow() - Date.parse(there))).toBeLessThan(60_000);
      }
      await client.get("/x");
      expect(Math.abs(client.serverNow() - Date.now())).toBeLessThan(60_000);
    } finally {
      clock.mockRestore();
    }
  });

  test.each<[string, Reply]>([
    ["a page with 200", { text: htmlPage }],
    ["a redirect", { status: 302, text: "", headers: { Location: "https://login.example.com" } }],
  ])("%s is retried after a response of the API, and final before one", async (_name, reply) => {
    const client = clientOf(server, { maxRetries: 1 });
    server.script([{ json: {} }, reply, { json: { uid: "x" } }, reply]);
    await client.get("/x");
    await expect(client.get("/x")).resolves.toEqual({ uid: "x" });
    expect(await errorOf(client.create("/x", undefined, {}))).toMatchObject({
      outcome: "unknown",
      isTransient: true,
    });
    server.script([reply]);
    expect(await errorOf(clientOf(server, { maxRetries: 1 }).get("/x"))).toMatchObject({
      isTransient: false,
    });
    expect(server.requests).toHaveLength(1);
  });

  test("a response without a uid is no resource", () => {
    expect(requireUid({ uid: "x" }, "creating", "")).toBe("x");
    for (const uid of [undefined, null, "", 5, {}]) {
      expect(() => requireUid({ uid }, "creating group", "check it")).toThrow(
        "creating group: the response has no uid; check it",
      );
    }
  });
});

describe("401", () => {
  const rotating = (tokens: string[]) =>
    tokensOf(() => Promise.resolve(tokens[0] ?? ""), {
      renew: (refused: string) => {
        if (tokens.length > 1 && tokens[0] === refused) tokens.shift();
        return Promise.resolve(tokens[0] !== refused);
      },
    });

  test("is repeated with a new token once", async () => {
    server.script((request) =>
      request.headers.authorization === "Bearer new" ? { json: { uid: "x" } } : failure(16, "expired"),
    );
    await expect(clientOf(server, { tokens: rotating(["old", "new"]) }).get("/x")).resolves.toEqual({
      uid: "x",
    });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer old", "Bearer new"]);
  });

  test.each([
    [
      "PLATFORM_TOKEN",
      "the token of PLATFORM_TOKEN expired at 2020-01-01T00:00:00.000Z: set a new one with PL",
    ],
    [undefined, "the token expired at 2020-01-01T00:00:00.000Z"],
  ])("says when the token of %s has expired, and nothing of one that has not", async (setting, words) => {
    const message = async (year: number) => {
      server.script([failure(16, "refused")]);
      const token = jwt({ exp: Date.UTC(year, 0) / 1000 });
      const tokens = tokensOf(() => Promise.resolve(token), { setting });
      return (await errorOf(clientOf(server, { tokens }).get("/x"))).message;
    };
    expect(await message(2020)).toContain(words);
    expect(await message(2120)).not.toContain("expired");
  });

  test("again is final", async () => {
    server.script(() => failure(16, "expired"));
    const error = await errorOf(
      clientOf(server, { maxRetries: 3, tokens: rotating(["a", "b", "c"]) }).get("/x"),
    );
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", status: 401 });
    expect(server.requests).toHaveLength(2);
  });
});

describe("lists", () => {
  const page = (uids: readonly string[], nextPageToken: string | null = ""): Reply => ({
    json: { groups: uids.map((uid) => ({ uid })), nextPageToken, skipped: 0 },
  });

  test("are read page by page, two hundred at a time, with the filters on each", async () => {
    server.script([page(["a", "b"], "t1"), page([], "t 2+"), page(["c"], null)]);
    await expect(all(clientOf(server).list(GROUPS, { name: "x" }))).resolves.toEqual(["a", "b", "c"]);
    expect(server.requests.map(({ rawQuery }) => rawQuery)).toEqual([
      "name=x&page_size=200",
      "name=x&page_size=200&page_token=t1",
      "name=x&page_size=200&page_token=t%202%2B",
    ]);
  });

  test("whose pages repeat objects return everything once", async () => {
    server.script([page(["a", "b"], "x1"), page(["a", "b"], "y1"), page(["b", "c"], "y2"), page(["d"])]);
    await expect(all(clientOf(server).list(GROUPS))).resolves.toEqual(["a", "b", "c", "d"]);
  });

  test("whose page tokens repeat are an error, neither an end nor endless", async () => {
    server.script(() => page(["a", "b"], "same"));
    const error = await errorOf(all(clientOf(server).list(GROUPS)));
    expect(error.message).toContain("its list does not end");
    expect(server.requests.length).toBeLessThan(13);
    server.script(({ query }) => page(["a"], query.get("page_token") === "x" ? "y" : "x"));
    expect((await errorOf(all(clientOf(server).list(GROUPS)))).message).toContain("its list does not end");
    expect(server.requests.length).toBeLessThan(13);
  });

  test("whose pages show nothing new are an error in the end", async () => {
    const client = clientOf(server);
    let pages = 0;
    client.get = () => Promise.resolve({ groups: [{ uid: "a" }], nextPageToken: String((pages += 1)) });
    const error = await errorOf(all(client.list(GROUPS)));
    expect(error.message).toContain("its list does not end: 1000 pages show nothing new");
  });

  test.each<[string, Reply]>([
    ["a page token that is a number", { json: { groups: [{ uid: "a" }], nextPageToken: 7 } }],
    ["a page token that is an object", { json: { groups: [{ uid: "a" }], nextPageToken: {} } }],
    ["an empty body", { text: "" }],
    ["an empty body that says so", { status: 204, text: "" }],
  ])("with %s are an error, and not the end", async (_what, reply) => {
    server.script(() => reply);
    const error = await errorOf(all(clientOf(server).list(GROUPS)));
    expect(error).toMatchObject({ errorCode: "PP2107" });
  });

  test("whose pages are too large are read in smaller ones: nothing is lost or duplicated", async () => {
    const held = Array.from({ length: 23 }, (_, i) => String(i));
    server.script(({ query }) => {
      const size = Number(query.get("page_size"));
      const from = Number(query.get("page_token") ?? 0);
      // One object is so large that it comes only nearly alone.
      const most = from <= 7 && 7 < from + size ? 3 : 50;
      if (size > most) return failure(8, "grpc: received message larger than max (5000000 vs. 4194304)");
      return page(held.slice(from, from + size), from + size < held.length ? String(from + size) : "");
    });
    await expect(all(clientOf(server, { maxRetries: 5 }).list(GROUPS))).resolves.toEqual(held);
    const sizes = server.requests.map(({ query }) => Number(query.get("page_size")));
    expect(sizes.slice(0, 9)).toEqual([200, 100, 50, 25, 13, 7, 7, 4, 2]);
  });

  test("of which a single object is too large are an error", async () => {
    server.script(() => failure(8, "grpc: received message larger than max (5000000 vs. 4194304)"));
    const error = await errorOf(all(clientOf(server, { maxRetries: 5 }).list(GROUPS)));
    expect(error).toMatchObject({ code: "RESOURCE_EXHAUSTED", errorCode: "PP3413" });
    expect(server.last().query.get("page_size")).toBe("1");
    expect(server.requests).toHaveLength(9);
  });

  test.each<[string, unknown, string]>([
    ["without the list", {}, 'its response has no list "groups"'],
    ["with an object for the list", { groups: {} }, 'its response has no list "groups"'],
    ["with a text in the list", { groups: ["a"] }, 'its list "groups" contains no objects'],
  ])("%s are refused as not from the API", async (_name, json, why) => {
    server.script([{ json }]);
    const error = await errorOf(all(clientOf(server).list(GROUPS)));
    expect(error.message).toBe(
      `GET ${server.url}${GROUPS}: this is not the Platform API: ${why}; check platform:baseUrl (or PLATFORM_BASE_URL)`,
    );
  });
});

describe("the debug log", () => {
  test("has a line for each request, with neither token, query nor body", async () => {
    const lines: string[] = [];
    server.script([
      failure(14, TOKEN),
      { json: { uid: "x", name: TOKEN } },
      { json: { uid: "x" } },
      { cut: "before" },
    ]);
    const client = clientOf(server, { maxRetries: 1, log: (line) => lines.push(line) });
    await client.get("/a", { name: TOKEN });
    await client.patchAt(client.resourcePath(GROUPS, GROUP_UID), { name: TOKEN }, ["name", "description"]);
    await errorOf(client.create(GROUPS, GROUP_UID, { name: TOKEN }));
    const withoutTime = lines.map((line) => line.replace(/ in \d+ ms /, " in … ms "));
    expect(withoutTime).toEqual([
      "GET /a -> 503 in … ms (attempt 1)",
      "GET /a -> 200 in … ms (attempt 2)",
      `PATCH ${GROUPS}/${GROUP_UID} mask=name,description -> 200 in … ms (attempt 1)`,
      expect.stringMatching(
        /^POST .*the connection was reset \(ECONNRESET\) in … ms \(attempt 1\)$/,
      ) as string,
    ]);
    expect(lines.join("\n")).not.toContain(TOKEN);
  });
});

test("no error holds the token, the body or a header, however deep one looks", async () => {
  const replies: Reply[] = [
    failure(3, "bad"),
    { status: 502, text: htmlPage },
    { text: htmlPage },
    { status: 302, text: "", headers: { Location: "/login" } },
    { cut: "before" },
    { cut: "within" },
    { silent: true },
  ];
  for (const reply of replies) {
    const error = await withOwnServer((own) => {
      own.script([reply]);
      return errorOf(clientOf(own, { timeoutMs: 50 }).create(GROUPS, GROUP_UID, { name: "body-canary" }));
    });
    const everything = `${inspect(error, { depth: 20, showHidden: true })}${JSON.stringify(error)}`;
    expect(everything).not.toContain(TOKEN);
    expect(everything).not.toContain("body-canary");
    expect(everything).not.toContain("Bearer");
    expect(everything).not.toContain("Gateway");
  }
});

test.each([
  [jwt({ iss: "https://issuer.example.com", sub: "ada", aud: "x" }), "ada"],
  ...["opaque", "a.b.c", jwt({ sub: "ada" }), jwt({ iss: "i", sub: 5 }), "e30.bnVsbA.c"].map((one) => [one]),
])("the caller is the identity that the token names, or nobody: %s", async (token = "", subject) => {
  const client = clientOf(server, { tokens: tokensOf(() => Promise.resolve(token)) });
  await expect(client.getCallerClaims()).resolves.toEqual(
    subject && { issuer: "https://issuer.example.com", subject },
  );
});

const ROLES = "/iam/v2/roles";
const REPOS = "/registry/v2/repos";

async function repos(client: Client): Promise<JsonObject[]> {
  const items = [];
  for await (const item of client.list(REPOS)) items.push(item);
  return items;
}

/** Answers some paths, and `{}` to everything else. */
const answering =
  (replies: Readonly<Record<string, Reply>>) =>
  ({ path }: Recorded): Reply =>
    replies[path] ?? { json: {} };

describe("a list that a response leaves out", () => {
  test.each<[string, Reply]>([
    ["a resource", { json: { uid: GROUP_UID } }],
    ["a list of resources", { json: { things: [{ uid: GROUP_UID }] } }],
  ])("is empty if %s was returned before, without another request", async (_what, reply) => {
    server.script(answering({ "/before": reply }));
    const client = clientOf(server);
    await client.get("/before").catch(() => undefined);
    await expect(repos(client)).resolves.toEqual([]);
    expect(server.calls).toEqual(["GET /before", `GET ${REPOS}`]);
  });

  test.each<[string, Reply]>([
    ["the built-in roles are listed", { json: { roles: [{ uid: ROLE_UID }] } }],
    ["roles are refused in the API's form", failure(7, "no")],
    ["a resource is missing", missing(GROUP_UID)],
  ])("is empty if a request shows that %s", async (_what, reply) => {
    server.script(answering({ [ROLES]: reply }));
    const client = clientOf(server);
    await expect(repos(client)).resolves.toEqual([]);
    expect(server.calls).toEqual([`GET ${REPOS}`, `GET ${ROLES}`]);
    await expect(repos(client)).resolves.toEqual([]);
    expect(server.calls).toHaveLength(3);
  });

  test("is an error where the response holds something else, also at the API", async () => {
    server.script([{ json: { uid: GROUP_UID } }, { json: { images: [] } }]);
    const client = clientOf(server);
    await client.get("/before");
    expect((await errorOf(repos(client))).message).toContain('its response has no list "repos"');
  });
});
