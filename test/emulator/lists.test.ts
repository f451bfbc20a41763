import type { Emulator } from "../../emulator";
import { startEmulator } from "../../emulator";
import { Api, violatedFields } from "./api";

let emulator: Emulator;
let api: Api;
let time = Date.parse("2026-01-01T00:00:00Z");
let org: string;
let team: string;

interface Named {
  name: string;
  uid: string;
}

async function allPages(query: string): Promise<Named[]> {
  const found: Named[] = [];
  let token = "";
  do {
    const page = await api.get(`/iam/v2/groups?${query}&page_token=${encodeURIComponent(token)}`);
    expect(page.status).toBe(200);
    found.push(...page.body.groups);
    token = page.body.nextPageToken;
  } while (token !== "");
  return found;
}

beforeAll(async () => {
  emulator = await startEmulator({ now: () => time });
  api = new Api(emulator);
  org = (await api.make("/iam/v2/groups", "", { name: "org" })).uid;
  team = (await api.make("/iam/v2/groups", org, { name: "team" })).uid;
  for (let index = 0; index < 7; index += 1) {
    time += 1000;
    await api.make("/iam/v2/groups", team, { name: `g${(index * 3) % 7}` });
  }
});
afterAll(() => emulator.close());

test("pages together contain every object once, in every order", async () => {
  for (const order of ["", "uid%20desc", "name", "name%20desc", "created_at", "updated_at%20desc"]) {
    const found = await allPages(`page_size=3&order_by=${order}`);
    expect(new Set(found.map(({ uid }) => uid)).size).toBe(9);
    expect(found).toHaveLength(9);
  }
});

test("page tokens are accepted only for the query and order that returned them", async () => {
  const { body } = await api.get("/iam/v2/groups?page_size=2&order_by=name");
  const token = encodeURIComponent(body.nextPageToken);
  for (const query of ["order_by=uid", "order_by=name&name=g1", `order_by=name&uidp.children_of=${org}`]) {
    const response = await api.get(`/iam/v2/groups?${query}&page_token=${token}`);
    expect([response.body.code, violatedFields(response)]).toEqual([3, ["pageToken"]]);
  }
  const next = async (given: string) =>
    api.get(`/iam/v2/groups?order_by=name&page_size=5&page_token=${given}`);
  expect((await next(token)).body.groups.map(({ name }) => name)).toEqual(["g2", "g3", "g4", "g5", "g6"]);
  for (const given of ["AAAA", "%21"]) expect(violatedFields(await next(given))).toEqual(["pageToken"]);
  // After three days a list begins anew.
  time += 3 * 86_400_000 + 1;
  expect((await next(token)).body.groups[0]?.name).toBe("g0");
});

test.each([
  "page_size=-1",
  "skip=-1",
  ...["createTime", "name%20up", "kind", "name,uid"].map((by) => `order_by=${by}`),
])("%s is refused with code 3", async (query) => {
  const response = await api.get(`/iam/v2/groups?${query}`);
  expect([response.status, response.body.code]).toEqual([400, 3]);
});

describe("filters", () => {
  const names = async (path: string, collection: "groups" | "identities"): Promise<string[]> =>
    (await api.get(path)).body[collection].map(({ name }) => name).sort();

  test("by scope", async () => {
    const groups = "/iam/v2/groups?";
    expect(await names(`${groups}uidp.children_of=${org}`, "groups")).toEqual(["team"]);
    expect(await names(`${groups}uidp.descendants_of=${org}`, "groups")).toHaveLength(8);
    expect(await names(`${groups}uidp.ancestors_of=${team}`, "groups")).toEqual(["org"]);
    expect(await names(`${groups}uidp.in_root=true`, "groups")).toEqual(["org"]);
    expect(await names(`${groups}uidp.ids=${org}&uidp.ids=${team}&uidp.ids=gone`, "groups")).toEqual([
      "org",
      "team",
    ]);
    expect(await names(`${groups}uidp.ids=${org},${team}`, "groups")).toEqual([]);
  });

  test("identities by relationship, bindings by identity, role and group", async () => {
    const viewer = await api.builtInRole("viewer");
    const editor = await api.builtInRole("editor");
    const ci = await api.make("/iam/v2/identities", team, {
      name: "ci",
      claimMatch: { issuer: "i", subject: "s" },
    });
    const bot = await api.make("/iam/v2/identities", team, {
      name: "bot",
      servicePrincipal: "SERVICE_PRINCIPAL_SKILLS",
    });
    const bind = (group: string, identityUid: string, roleUid: string) =>
      api.make("/iam/v2/roleBindings", group, { identityUid, roleUid });
    await bind(org, ci.uid, viewer);
    await bind(team, ci.uid, editor);
    await bind(team, bot.uid, viewer);
    expect(
      await names("/iam/v2/identities?relationshipType=RELATIONSHIP_TYPE_SERVICE_PRINCIPAL", "identities"),
    ).toEqual(["bot"]);
    const count = async (query: string): Promise<string> =>
      (await api.get(`/iam/v2/roleBindings?${query}`)).body.totalCount;
    expect(await count(`identity=${ci.uid}`)).toBe("2");
    expect(await count(`role=${viewer}`)).toBe("2");
    expect(await count(`group=${team}`)).toBe("2");
    expect(await count(`group=${team}&role=${viewer}&identity=${bot.uid}`)).toBe("1");
    expect(await count("name=nothing")).toBe("3");
  });
});
