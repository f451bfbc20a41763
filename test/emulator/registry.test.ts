import type { ApiResponse } from "./api";
import { api, detail, emulator, org, startForEach, violatedFields } from "./api";

const digestOf = (digit: string): string => `sha256:${digit.repeat(64)}`;
let repo: string;

startForEach();
beforeEach(async () => {
  repo = (await api.make("/registry/v2/repos", org, { name: "app" })).uid;
});

describe("tags", () => {
  const tags = "/registry/v2/tags";
  const push = (name: string, digit: string, more: object = {}): Promise<ApiResponse> =>
    api.post(`${tags}/${repo}`, { name, digest: digestOf(digit), ...more });

  test("move when they are pushed again, under the same uid", async () => {
    const first = await push("1.2", "a", { deprecated: true, bundles: ["ai"] });
    expect(first.body).toEqual({
      uid: expect.stringMatching(`^${repo}/`),
      name: "1.2",
      digest: digestOf("a"),
      deprecated: true,
      bundles: ["ai"],
      updateTime: "2026-01-28T12:54:21.189Z",
    });
    emulator.advanceClock(1000);
    const second = await push("1.2", "b");
    expect(second.body).toMatchObject({
      uid: first.body.uid,
      digest: digestOf("b"),
      deprecated: false,
      updateTime: "2026-01-28T12:54:22.189Z",
    });
    expect(emulator.state().tags).toHaveLength(1);
  });

  test.each<[object, string]>([
    [{ digest: digestOf("a") }, "name"],
    [{ name: "-x", digest: digestOf("a") }, "name"],
    [{ name: "x" }, "digest"],
    [{ name: "x", digest: digestOf("a"), bundles: ["nope"] }, "bundles"],
  ])("%j is refused for %s", async (body, field) => {
    expect(violatedFields(await api.post(`${tags}/${repo}`, body))).toEqual([field]);
  });

  test("belong to a repo, have no update, and go with their repo", async () => {
    const { uid } = (await push("1", "a")).body;
    const stray = await api.post(`${tags}/${org}`, { name: "1", digest: digestOf("a") });
    expect(detail(stray, "ResourceInfo").resourceType).toBe("Repo");
    expect((await api.patch(`${tags}/${uid}`, { deprecated: true })).status).toBe(501);
    await push("2", "a");
    expect((await api.delete(`${tags}/${uid}`)).status).toBe(200);
    expect((await api.get(`${tags}/${uid}`)).status).toBe(404);
    expect((await api.delete(`/registry/v2/repos/${repo}`)).status).toBe(200);
    expect(emulator.state().tags).toEqual([]);
  });

  test("are listed by name, digest and time, and some only with a parameter", async () => {
    for (const name of ["1", "1-r3", "1-20260128", "sha256-abc.sig"]) await push(name, "a");
    emulator.advanceClock(5000);
    await push("2", "b");
    const names = async (query: string): Promise<string[]> => {
      const response = await api.get(`${tags}?uidp.children_of=${repo}&order_by=name&${query}`);
      return response.body.tags.map(({ name }) => name);
    };
    expect(await names("")).toEqual(["1", "2"]);
    expect(await names("includeEpochs=true")).toEqual(["1", "1-r3", "2"]);
    expect(await names("includeDates=true")).toEqual(["1", "1-20260128", "2"]);
    expect(await names("includeReferrers=true")).toEqual(["1", "2", "sha256-abc.sig"]);
    expect(await names("name=1")).toEqual(["1"]);
    expect(await names(`digest=${digestOf("b")}`)).toEqual(["2"]);
    expect(await names("updatedSince=2026-01-28T12:54:24Z")).toEqual(["2"]);
  });
});

test("images that no tag refers to, or of another architecture, are not found", async () => {
  await api.make("/registry/v2/tags", repo, { name: "1", digest: digestOf("a") });
  for (const [digit, what] of [
    ["b", "architectures"],
    ["b", "size"],
    ["a", "size?architecture=vax"],
  ] as const) {
    const response = await api.get(`/registry/v2/repos/${repo}/digests/${digestOf(digit)}/${what}`);
    expect([response.status, detail(response, "ResourceInfo").resourceType]).toEqual([404, "Image"]);
  }
});

describe("readmes", () => {
  const path = (of = repo): string => `/registry/v2/repos/${of}/readme`;

  test("are empty at first, and change without the repo", async () => {
    const before = (await api.get(`/registry/v2/repos/${repo}`)).body;
    expect((await api.get(path())).body).toEqual({ uid: repo, content: "" });
    const content = "# App\n\n<b>bold</b> [link](https://example.com)";
    expect((await api.patch(`${path()}?updateMask=content`, { content })).body).toEqual({
      uid: repo,
      content,
    });
    expect((await api.get(path())).body.content).toBe(content);
    expect((await api.get(`/registry/v2/repos/${repo}`)).body).toEqual(before);
    expect((await api.patch(`${path()}?updateMask=content`, {})).body.content).toBe("");
    const missing = await api.get(path(`${org}/0000000000000000`));
    expect(detail(missing, "ResourceInfo").resourceType).toBe("Repo");
  });

  test.each([
    "<script>x</script>",
    '<img src="x" onerror="y()">',
    '<a href="javascript:x()">y</a>',
    "[y](javascript:x)",
  ])("%s is refused", async (content) => {
    expect(violatedFields(await api.patch(path(), { content }))).toEqual(["content"]);
  });
});
