import { api, emulator, org, startForEach, violatedFields } from "./api";

let repo: string;

startForEach();
beforeEach(async () => {
  const created = await api.make("/registry/v2/repos", org, {
    name: "app",
    description: "d",
    catalogTier: "CATALOG_TIER_AI",
    bundles: ["ai"],
    customOverlay: { contents: { packages: ["curl"] }, environment: { A: "1", B: "2" } },
  });
  repo = `/registry/v2/repos/${created.uid}`;
});

describe("an explicit mask", () => {
  test("clears what it names and the body lacks", async () => {
    const mask = "description,catalogTier,bundles,customOverlay.environment,customOverlay.contents.packages";
    const { body } = await api.patch(`${repo}?updateMask=${mask}`, {});
    expect(body).toMatchObject({ description: "", catalogTier: "CATALOG_TIER_UNSPECIFIED", bundles: [] });
    expect(body.customOverlay).toMatchObject({ environment: {}, contents: { packages: [] } });
    expect((await api.patch(`${repo}?updateMask=customOverlay`)).body.customOverlay).toBeNull();
  });

  test.each([
    "nope",
    "",
    "name,%20description",
    "customOverlay.environment.A",
    "bundles.x",
    "name.x",
    "syncConfig",
  ])("%s is code 3", async (mask) => {
    const response = await api.patch(`${repo}?updateMask=${mask}`, { name: "other" });
    expect([response.status, response.body.code, violatedFields(response)]).toEqual([400, 3, ["updateMask"]]);
    expect((await api.get(repo)).body.name).toBe("app");
  });

  test("of * replaces everything", async () => {
    const response = await api.patch(`${repo}?updateMask=*`, { name: "app" });
    expect(response.body).toMatchObject({ name: "app", description: "", bundles: [], customOverlay: null });
  });
});

describe("switches", () => {
  test('patchResponse "sparse" returns values for the uid and the changed fields, and with omitEmpty nothing else', async () => {
    emulator.settings({ patchResponse: "sparse" });
    const path = `${repo}?updateMask=customOverlay.environment,description`;
    const change = { customOverlay: { environment: { A: "1" } }, description: "" };
    const response = await api.patch(path, change);
    expect(response.body).toMatchObject({
      uid: expect.stringMatching(/\//),
      name: "",
      createTime: null,
      customOverlay: { environment: { A: "1" }, contents: null },
    });
    emulator.settings({ omitEmpty: true });
    expect((await api.patch(path, change)).body).toEqual({
      uid: response.body.uid,
      customOverlay: { environment: { A: "1" } },
    });
  });

  test("omitEmpty leaves out what is empty, in errors too, and keeps what has presence", async () => {
    emulator.settings({ omitEmpty: true });
    const { uid } = await api.make("/registry/v2/repos", org, { name: "bare" });
    expect((await api.get(`/registry/v2/repos/${uid}`)).body).toEqual({
      uid,
      name: "bare",
      createTime: expect.any(String),
      updateTime: expect.any(String),
    });
    expect((await api.get("/iam/v2/groupInvites")).body).toEqual({ totalCount: "0" });
    expect((await api.get("/nowhere")).body).toEqual({ code: 5, message: "Not Found" });
  });
});
