import * as platform from "../../../provider/index";
import { ProgramContext } from "../support/program";
import { GROUP_UID, ROOT_UID } from "../support/samples";
import type { Reply } from "../support/server";

const context = new ProgramContext().install();
const uidAt = (i: number) => `${GROUP_UID}/${i.toString(16).padStart(16, "0")}`;
const groups = (from: number, to: number, nextPageToken?: string): Reply => ({
  json: {
    groups: Array.from({ length: to - from }, (_, i) => ({ uid: uidAt(from + i), name: `g${from + i}` })),
    nextPageToken,
    skipped: 0,
  },
});
const queries = () => context.server.requests.map(({ rawQuery }) => rawQuery);
const uids = (answers: readonly { uid: string }[]) => answers.map(({ uid }) => uid);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => uidAt(from + i));

describe("a limit", () => {
  test.each([
    [1, [1], ["page_size=1"]],
    [2, [1, 1], ["page_size=2", "page_size=2&page_token=1"]],
    [201, [200, 200], ["page_size=200", "page_size=200&page_token=1"]],
    [1000, [200, 3], ["page_size=200", "page_size=200&page_token=1"]],
  ])("of %d returns as many objects, in pages of at most 200", async (limit, sizes, sent) => {
    const starts = sizes.map((_, i) => sizes.slice(0, i).reduce((sum, size) => sum + size, 0));
    context.server.script(
      sizes.map((size, i) => {
        const from = starts[i] ?? 0;
        const isEnd = limit === 1000 && i === sizes.length - 1;
        return groups(from, from + size, isEnd ? "" : String(i + 1));
      }),
    );
    const wanted = Math.min(
      limit,
      sizes.reduce((sum, size) => sum + size, 0),
    );
    expect(uids(await platform.getGroups({ limit }))).toEqual(range(0, wanted));
    expect(queries()).toEqual(sent);
  });

  test("counts the objects that the package itself selects, from full pages", async () => {
    const tag = (i: number) => ({ uid: uidAt(i), name: `t${i}`, deprecated: i % 2 === 1 });
    const page = (nextPageToken: string, ...is: number[]): Reply => ({
      json: { tags: is.map(tag), nextPageToken },
    });
    context.server.script([page("1", 0, 1, 2), page("2", 3, 4, 5)]);
    const tags = await platform.getTags({ childrenOf: GROUP_UID, deprecated: true, limit: 2 });
    expect(tags.map(({ name }) => name)).toEqual(["t1", "t3"]);
    expect(queries()[1]).toMatch(/&page_size=200&page_token=1$/);
    context.server.script([page("", 0, 1, 2)]);
    const living = await platform.getTags({ childrenOf: GROUP_UID, deprecated: false });
    expect(living.map(({ name }) => name)).toEqual(["t0", "t2"]);
  });
});

test("built-in roles are picked out of the list that mixes them with custom ones", async () => {
  context.server.script(() => ({ json: { roles: [{ uid: ROOT_UID }, { uid: GROUP_UID }] } }));
  expect(uids(await platform.getRoles({ builtIn: true }))).toEqual([ROOT_UID]);
  expect(uids(await platform.getRoles({ builtIn: false }))).toEqual([GROUP_UID]);
  expect(uids(await platform.getRoles())).toEqual([ROOT_UID, GROUP_UID]);
});

describe("many uids", () => {
  const many = range(0, 500);
  const echo = (): void => {
    context.server.script(({ query }) => ({
      json: { groups: query.getAll("uidp.ids").map((uid) => ({ uid })) },
    }));
  };

  test("are asked for in addresses that proxies take, each once, in the order of the uids", async () => {
    echo();
    const shuffled = [...many.slice(250), ...many.slice(0, 300)];
    expect(uids(await platform.getGroups({ uids: shuffled, inRoot: false }))).toEqual(many);
    expect(context.server.requests.length).toBeGreaterThan(1);
    for (const query of queries()) {
      expect(query.length).toBeLessThan(8000);
      expect(query).toMatch(/^uidp\.in_root=false&uidp\.ids=.*&page_size=200$/);
    }
  });

  test("are asked for at once where an order is wanted: only the server knows it", async () => {
    echo();
    const few = range(0, 75);
    expect(uids(await platform.getGroups({ uids: few, orderBy: "name" }))).toEqual(few);
    expect(context.server.requests).toHaveLength(1);
  });

  test("are refused where an order is wanted that only one request has", async () => {
    echo();
    for (const orderBy of ["created_at desc", "uid"]) {
      await expect(platform.getGroups({ uids: many, orderBy })).rejects.toThrow(
        /^getGroups: uids is too long for one request: .*; remove orderBy, which orders the objects of one request only, and sort the result, or give fewer \(PP1201\)$/,
      );
    }
    expect(context.server.requests).toHaveLength(0);
  });
});

test.each<[string, () => Promise<unknown[]>]>([
  ["uids", () => platform.getRoles({ uids: [] })],
  ["advisoryIds", () => platform.getAdvisories({ advisoryIds: [] })],
  ["cves", () => platform.getAdvisoryDocuments({ cves: [] })],
  ["ids", () => platform.getVulnerabilityMetadata({ ids: [] })],
  ["ecosystems", () => platform.getArtifacts({ ecosystems: [] })],
  ["ecosystems to count", async () => (await platform.getArtifactCount({ ecosystems: [] })).counts],
])(
  "an empty list of %s finds nothing and is not sent, since the server would ignore it",
  async (_name, call) => {
    context.server.script([]);
    await expect(call()).resolves.toEqual([]);
    expect(context.server.requests).toHaveLength(0);
  },
);
