import type { Emulator } from "../../emulator";
import { startEmulator } from "../../emulator";
import { allMethods } from "../../emulator/tables";
import { Api, detail, extraEmulator, rawRequest } from "./api";

let emulator: Emulator;
let api: Api;
let org: string;

beforeAll(async () => {
  emulator = await startEmulator();
  api = new Api(emulator);
  org = (await api.make("/iam/v2/groups", "", { name: "org" })).uid;
});
afterAll(() => emulator.close());

describe("addresses over a real socket", () => {
  test("a path is not normalized", async () => {
    const response = await rawRequest(emulator, "GET", `/iam/v2/groups/${org}/../roles`);
    expect(response.status).toBe(404);
    expect(JSON.parse(response.body)).toMatchObject({ details: [{}, { resourceName: `${org}/../roles` }] });
  });

  test("an encoded slash is a slash", async () => {
    const child = await api.make("/iam/v2/groups", org, { name: "child" });
    const response = await api.get(`/iam/v2/groups/${child.uid.replace("/", "%2F")}`);
    expect(response.body.uid).toBe(child.uid);
    await api.delete(`/iam/v2/groups/${child.uid}`);
  });

  test("a wrong address is 404 without details, a missing resource has a ResourceInfo", async () => {
    expect((await api.get("/iam/v2/nope")).body).toEqual({ code: 5, message: "Not Found", details: [] });
    const missing = await api.get(`/iam/v2/groups/${org}/0000000000000000`);
    expect(missing.status).toBe(404);
    expect(detail(missing, "ErrorInfo").reason).toBe("NOT_FOUND");
    expect(detail(missing, "ResourceInfo")).toMatchObject({
      resourceType: "Group",
      resourceName: `${org}/0000000000000000`,
    });
  });

  test("a method that the path lacks is 501 code 12, HEAD without a body", async () => {
    expect((await api.send("PUT", `/iam/v2/groups/${org}`, {})).body.code).toBe(12);
    const head = await rawRequest(emulator, "HEAD", `/iam/v2/groups/${org}`);
    expect([head.status, head.body]).toEqual([501, ""]);
  });

  test("an invalid escape gets 400 in plain text, a byte that is not UTF-8 gets 500", async () => {
    const bad = await rawRequest(emulator, "GET", "/iam/v2/groups/%zz");
    expect([bad.status, bad.body]).toEqual([400, "400 Bad Request"]);
    expect((await rawRequest(emulator, "GET", "/iam/v2/groups/%FF")).status).toBe(500);
  });

  test("a parameter that is not UTF-8 gets 500 where it is text, and 400 where it is a number", async () => {
    const statusOf = async (query: string) =>
      (await rawRequest(emulator, "GET", `/iam/v2/groups?${query}`)).status;
    expect([await statusOf("name=%FF"), await statusOf("page_size=%FF"), await statusOf("nope=%FF")]).toEqual(
      [500, 400, 200],
    );
  });

  test("every method that the gateway knows is emulated", async () => {
    for (const { verb, pattern } of allMethods) {
      const path = pattern.replace(/\{[A-Za-z.]+(=\*\*)?\}/g, "x");
      const response = await api.send(verb, path, verb === "GET" || verb === "DELETE" ? undefined : {});
      expect([path, response.text]).not.toEqual([path, expect.stringContaining("not emulated")]);
    }
  });
});

describe("the bearer token", () => {
  test("is required, and the refusal names the scheme's header", async () => {
    for (const authorization of ["", "Bearer wrong", emulator.token]) {
      const response = await api.send("GET", "/iam/v2/groups", undefined, { authorization });
      expect(response.status).toBe(401);
      expect(response.body.code).toBe(16);
      expect(response.headers.get("www-authenticate")).toBe(response.body.message);
    }
  });

  test("is not needed for ping", async () => {
    const response = await fetch(`${emulator.url}/ping/v2/ping`);
    expect(await response.json()).toEqual({ response: "pong" });
  });

  test("is random unless given", async () => {
    const other = await extraEmulator();
    expect(other.token).not.toBe(emulator.token);
    expect(other.token.length).toBeGreaterThan(20);
  });
});

describe("bodies", () => {
  const create = (body: string) => api.post(`/registry/v2/repos/${org}`, body);

  test("keys such as __proto__ are keys like any other", async () => {
    const overlay = `{"environment":{"__proto__":"a","constructor":"b"}}`;
    const response = await create(
      `{"name":"proto","__proto__":{"polluted":true},"customOverlay":${overlay}}`,
    );
    expect(response.text).toContain(`"environment":{"__proto__":"a","constructor":"b"}`);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    const read = await api.get(`/registry/v2/repos/${response.body.uid}`);
    expect(read.text).toContain(`"__proto__":"a"`);
    await api.delete(`/registry/v2/repos/${response.body.uid}`);
  });

  test.each([
    ["a key in both spellings", `{"name":"a","catalogTier":1,"catalog_tier":1}`],
    ["a byte order mark", `\ufeff{"name":"a"}`],
    ["a comment", `{"name":"a" /* b */}`],
    ["a list", `[]`],
    ["a text", `"x"`],
    ["half a pair of surrogates", `{"name":"\\ud800"}`],
    ["nesting without end", `{"x":`.repeat(5000)],
    ["a number with a leading zero", `{"name":"a","catalogTier":01}`],
    ["a key of a map twice", `{"name":"a","customOverlay":{"environment":{"A":"1","A":"1"}}}`],
    ["nesting that ends too deep", `{"x":`.repeat(1100) + "1" + "}".repeat(1100)],
  ])("%s is refused with code 3", async (_, body) => {
    const response = await create(body);
    expect([response.status, response.body.code]).toEqual([400, 3]);
  });

  test("a key that comes twice is ignored where no field has its name", async () => {
    const response = await create(`{"name":"twice","x":1,"x":2}`);
    expect(response.status).toBe(200);
    await api.delete(`/registry/v2/repos/${response.body.uid}`);
  });

  test("a request over 4 MiB is 429 code 8", async () => {
    const response = await create(JSON.stringify({ name: "a", description: "x".repeat(5 * 1024 * 1024) }));
    expect(response.status).toBe(429);
    expect(response.body.message).toMatch(/^grpc: received message larger than max \(\d+ vs. 4194304\)$/);
  });

  test("a response over 4 MiB is 429 code 8, and a smaller page helps", async () => {
    const overlay = { environment: { A: "x".repeat(1024 * 1024) } };
    for (let index = 0; index < 5; index += 1) {
      await api.make("/registry/v2/repos", org, { name: `big-${index}`, customOverlay: overlay });
    }
    expect((await api.get("/registry/v2/repos")).status).toBe(429);
    const page = await api.get("/registry/v2/repos?page_size=2");
    expect(page.body.repos).toHaveLength(2);
    const { repos } = emulator.state();
    for (const { uid } of repos!) await api.delete(`/registry/v2/repos/${uid as string}`);
  });
});
