import type { Emulator } from "../../emulator";
import { startEmulator } from "../../emulator";
import { Api, detail } from "./api";

let emulator: Emulator;
let api: Api;
const groups = "/iam/v2/groups";

beforeEach(async () => {
  emulator = await startEmulator({ now: () => Date.parse("2026-01-01T00:00:00Z") });
  api = new Api(emulator);
});
afterEach(() => emulator.close());

const statuses = async (count: number, path = groups): Promise<number[]> => {
  const found: number[] = [];
  for (let index = 0; index < count; index += 1) found.push((await api.get(path)).status);
  return found;
};

describe("a fault", () => {
  test("hits `count` requests after the first `after`", async () => {
    const fault = emulator.addFault({ status: 503, after: 1, count: 2 });
    expect(await statuses(5)).toEqual([200, 503, 503, 200, 200]);
    expect(fault.hits).toBe(2);
  });

  test("hits by method and by path, as prefix, source or expression", async () => {
    emulator.addFault({ method: "post", path: "/iam/v2/gro", status: 500 });
    expect((await api.get(groups)).status).toBe(200);
    expect((await api.post(groups, { name: "a" })).status).toBe(500);
    emulator.clearFaults();
    for (const path of [/roles$/, "roles$", "/iam/v2/roles"]) {
      const fault = emulator.addFault({ path, status: 500 });
      expect([...(await statuses(1)), ...(await statuses(1, "/iam/v2/roles"))]).toEqual([200, 500]);
      fault.remove();
    }
  });

  test("with a probability hits the same requests for the same seed", async () => {
    const hits = async (probability: number, seed = 1): Promise<number[]> => {
      emulator.clearFaults();
      emulator.addFault({ path: /^\/iam/, status: 503, probability, seed });
      return statuses(20);
    };
    expect(new Set(await hits(0))).toEqual(new Set([200]));
    expect(new Set(await hits(1))).toEqual(new Set([503]));
    const half = await hits(0.5);
    expect(new Set(half)).toEqual(new Set([200, 503]));
    expect(await hits(0.5)).toEqual(half);
    expect(await hits(0.5, 2)).not.toEqual(half);
  });

  test.each([
    { stats: 500 },
    { status: 5 },
    { count: -1 },
    { probability: 2 },
    { close: "now" },
    { method: 5 },
    { method: null },
    { seed: 0.5 },
    { latencyMs: -1 },
    { latencyMs: "1s" },
    { ignoreMask: 1 },
  ])("%j is refused", (fault) => {
    expect(() => emulator.addFault(fault as never)).toThrow(/fault/);
  });
});

test("a request above the limit per second gets 429 with the time to wait", async () => {
  emulator.settings({ requestsPerSecond: 2 });
  expect(await statuses(2)).toEqual([200, 200]);
  const refused = await api.get(groups);
  expect([refused.status, refused.body.code]).toEqual([429, 8]);
  expect(detail(refused, "RetryInfo").retryDelay).toBe("0.500s");
  expect(refused.headers.get("grpc-metadata-retry-after")).toBe("1");
  emulator.advanceClock(500);
  expect(await statuses(2)).toEqual([200, 429]);
});

describe("over HTTP", () => {
  const control = (method: string, name: string, body?: unknown) =>
    api.send(method, `/_emulator/${name}`, body);

  test("control requests work while faults are active, and do not appear in the log", async () => {
    await api.make(groups, "", { name: "a" });
    const { id } = (await control("POST", "faults", { path: "/", status: 500, body: "no" })).body;
    expect(await statuses(1)).toEqual([500]);
    expect((await control("GET", "faults")).body.faults).toMatchObject([{ id, hits: 1 }]);
    expect((await control("GET", "requests")).body).toMatchObject({
      maxInFlight: 1,
      requests: [{ method: "POST" }, { method: "GET", status: 500 }],
    });
    expect((await control("GET", "state")).body.groups).toMatchObject([{ name: "a" }]);
    expect((await control("GET", "state")).body.roles).toEqual([]);
    expect((await control("DELETE", `faults/${id}`)).status).toBe(200);
    expect((await control("DELETE", `faults/${id}`)).status).toBe(404);
    await control("POST", "faults", { status: 500 });
    await control("DELETE", "faults");
    expect(await statuses(1)).toEqual([200]);
    await control("POST", "settings", { newGroupRefusalMs: 1000 });
    const group = emulator.state().groups![0]!.uid as string;
    expect((await api.post(`${groups}/${group}`, { name: "b" })).status).toBe(403);
    await control("POST", "clock", { advanceMs: 1000 });
    expect((await api.post(`${groups}/${group}`, { name: "b" })).status).toBe(200);
    expect((await control("GET", "events")).body.events).toEqual([]);
    expect((await control("DELETE", "events")).status).toBe(200);
    emulator.addFault({ path: /x$/, status: 500 });
    expect((await control("GET", "faults")).body.faults).toMatchObject([{ fault: { path: "x$" } }]);
    await control("DELETE", "requests");
    expect((await control("GET", "requests")).body.requests).toEqual([]);
    await control("POST", "reset");
    expect(emulator.state().groups).toEqual([]);
    expect((await api.get("/iam/v2/roles")).body.totalCount).toBe("19");
  });

  test.each([
    ["POST", "faults", { stats: 1 }],
    ["POST", "faults", undefined],
    ["POST", "settings", { nope: 1 }],
    ["POST", "settings", { maskSpelling: "camel" }],
    ["POST", "settings", { newGroupRefusalMs: "1s" }],
    ["POST", "settings", { newGroupRefusalMs: -1 }],
    ["POST", "clock", {}],
    ["POST", "clock", undefined],
    ["POST", "settings", []],
    ["POST", "settings", "{"],
  ])("%s %s with %j is 400 with a reason", async (method, name, body) => {
    const response = await control(method, name, body);
    expect(response.status).toBe(400);
    expect(response.body.error).toMatch(/./);
  });

  test("control requests need the token, and unknown names get 404", async () => {
    expect((await fetch(`${emulator.url}/_emulator/state`)).status).toBe(401);
    expect((await control("GET", "nope")).status).toBe(404);
    expect((await control("PUT", "state")).status).toBe(404);
  });
});
