import {
  getImageArchitectures,
  getImageSize,
  getRepo,
  getRepoReadme,
  getRepos,
  getTag,
  getTags,
} from "../../../provider/index";
import { ProgramContext } from "../support/program";
import { CHILD_UID, GROUP_UID } from "../support/samples";
import { errorOf, missing } from "../support/server";

const context = new ProgramContext().install();
const DIGEST = `sha256:${"6b3f".repeat(16)}`;
const T1 = "2026-01-28T12:54:21.189Z";
const one = (json: object): void => void context.server.script(() => ({ json }));

test("a repository is read whole, with the API's sync_config as syncConfig", async () => {
  const syncConfig = {
    source: GROUP_UID,
    google: "",
    amazon: "a",
    azure: "",
    uniqueTags: true,
    expirationTime: T1,
    apkoOverlay: "",
    gracePeriod: false,
  };
  const customOverlay = {
    contents: {
      packages: ["curl"],
      runtimeRepositories: [],
      runtimeKeyring: [{ name: "k", content: "pem" }],
    },
    environment: { A: "b" },
    annotations: {},
    accounts: {
      runAs: "app",
      users: [{ username: "app", uid: 1000, gid: 0, groupName: "", shell: "/bin/sh", homeDir: "" }],
      groups: [{ groupname: "app", gid: 1000, members: ["app"] }],
    },
    certificates: { additional: [{ name: "c", content: "pem" }], providers: ["p"] },
  };
  const repo = {
    uid: CHILD_UID,
    name: "nginx",
    description: "d",
    catalogTier: "CATALOG_TIER_BASE",
    bundles: ["base"],
    aliases: ["nginx:latest"],
    activeTags: ["latest"],
    customOverlay,
    createTime: T1,
    updateTime: T1,
  };
  one({ ...repo, sync_config: syncConfig });
  await expect(getRepo({ uid: CHILD_UID })).resolves.toStrictEqual({
    ...repo,
    parentUid: GROUP_UID,
    syncConfig,
  });
});

test("a repository without anything has neither a configuration nor an overlay; a newer tier is its number", async () => {
  const bare = {
    uid: CHILD_UID,
    parentUid: GROUP_UID,
    name: "",
    description: "",
    bundles: [],
    aliases: [],
    activeTags: [],
  };
  one({
    repos: [
      { uid: CHILD_UID, sync_config: null, customOverlay: { environment: {}, contents: { packages: [] } } },
      { uid: `${CHILD_UID}/0000000000000001`, catalogTier: 99, syncConfig: { source: "not the API's name" } },
    ],
  });
  await expect(getRepos()).resolves.toStrictEqual([
    bare,
    { ...bare, uid: `${CHILD_UID}/0000000000000001`, parentUid: CHILD_UID, catalogTier: "99" },
  ]);
});

test("a readme is its text; that of no repository is an error", async () => {
  one({ uid: CHILD_UID, content: "# Hi" });
  await expect(getRepoReadme({ repoUid: CHILD_UID })).resolves.toStrictEqual({
    uid: CHILD_UID,
    content: "# Hi",
  });
  one({});
  await expect(getRepoReadme({ repoUid: CHILD_UID })).resolves.toStrictEqual({ uid: CHILD_UID, content: "" });
  context.server.script([missing(CHILD_UID)]);
  expect((await errorOf(getRepoReadme({ repoUid: CHILD_UID }))).message).toBe(
    `getRepoReadme: there is no object with the uid ${CHILD_UID} (PP1203)`,
  );
});

test("tags are read, also if the response contains only a part of each", async () => {
  const tag = {
    uid: CHILD_UID,
    name: "1.2",
    digest: DIGEST,
    deprecated: true,
    bundles: ["base"],
    updateTime: T1,
  };
  one({ tags: [tag, { name: "a" }, { name: "b" }] });
  const bare = { uid: "", parentUid: "", digest: "", deprecated: false, bundles: [] };
  await expect(getTags({ childrenOf: GROUP_UID })).resolves.toStrictEqual([
    { ...tag, parentUid: GROUP_UID },
    { ...bare, name: "a" },
    { ...bare, name: "b" },
  ]);
  one(tag);
  await expect(getTag({ uid: CHILD_UID })).resolves.toStrictEqual({ ...tag, parentUid: GROUP_UID });
});

test("an image contains its architectures", async () => {
  one({ architectures: ["amd64", "arm64", 5] });
  await expect(getImageArchitectures({ repoUid: CHILD_UID, digest: DIGEST })).resolves.toStrictEqual({
    architectures: ["amd64", "arm64"],
  });
});

test.each([
  [{ size: "9007199254740993", architecture: "arm64" }, "9007199254740993", "arm64"],
  [{ size: "9223372036854775807" }, "9223372036854775807", "s390x"],
  [{ size: 12, architecture: "" }, "12", "s390x"],
  [{ size: "007" }, "7", "s390x"],
  [{ size: 1e300 }, "0", "s390x"],
  [{ size: "1.5" }, "0", "s390x"],
  [{}, "0", "s390x"],
])("the size of %j is exact: %s bytes", async (json, bytes, architecture) => {
  one(json);
  const args = { repoUid: CHILD_UID, digest: DIGEST, architecture: "s390x" };
  await expect(getImageSize(args)).resolves.toStrictEqual({ bytes, architecture });
});

test("the size is that for amd64 where nothing else is asked for", async () => {
  one({ size: "1" });
  await expect(getImageSize({ repoUid: CHILD_UID, digest: DIGEST })).resolves.toStrictEqual({
    bytes: "1",
    architecture: "amd64",
  });
});

test("an image that is missing, or not there for an architecture, is named", async () => {
  context.server.script(() => missing(CHILD_UID));
  const image = { repoUid: CHILD_UID, digest: DIGEST };
  expect((await errorOf(getImageArchitectures(image))).message).toBe(
    `getImageArchitectures: the repository ${CHILD_UID} has no image ${DIGEST} (PP1203)`,
  );
  expect((await errorOf(getImageSize({ ...image, architecture: "s390x" }))).message).toBe(
    `getImageSize: the repository ${CHILD_UID} has no image ${DIGEST} for s390x (PP1203)`,
  );
});
