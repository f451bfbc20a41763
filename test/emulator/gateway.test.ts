import { startEmulator } from "../../emulator";
import type { Emulator } from "../../emulator";
import { Api } from "./api";
import { allMethods } from "../../emulator/tables";

let emulator: Emulator;
let api: Api;
let org: string;

beforeAll(async () => {
  emulator = await startEmulator();
  api = new Api(emulator);
  org = (await api.make("/iam/v2/groups", "", { name: "org" })).uid;
});
afterAll(() => emulator.close());

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
    ["half a pair of surrogates", `{"name":"\\ud800"}`],
    ["a key of a map twice", `{"name":"a","customOverlay":{"environment":{"A":"1","A":"1"}}}`],
    ["nesting that ends too deep", `{"x":`.repeat(1100) + "1" + "}".repeat(1100)],
  ])("%s is refused with code 3", async (_, body) => {
    const response = await create(body);
    expect([response.status, response.body.code]).toEqual([400, 3]);
  });
});

test("no operation that has an address responds with 501", async () => {
  const emulator = await startEmulator({ seed: "acme" });
  try {
    const statuses = await Promise.all(
      allMethods.map(async ({ verb, pattern }) => {
        const path = pattern.replace(/\{[^}]*\}/g, emulator.rootUid);
        const headers = { authorization: `Bearer ${emulator.token}` };
        const response = await fetch(`${emulator.url}${path}`, { method: verb, headers });
        await response.text();
        return response.status;
      }),
    );
    expect(allMethods.filter((_, index) => statuses[index] === 501)).toEqual([]);
  } finally {
    await emulator.close();
  }
});
