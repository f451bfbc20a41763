import type { Emulator, Seed } from "../../emulator";
import { startEmulator } from "../../emulator";
import { Api, extraEmulator } from "./api";

let emulator: Emulator;
let api: Api;

beforeAll(async () => {
  emulator = await startEmulator();
  api = new Api(emulator);
});
afterAll(() => emulator.close());

test.each([
  ["artifactNames=nginx&artifactNames=redis", 15],
  ["origin=nginx&artifactNames=redis", 15],
  ["artifactTypes=apk&componentNames=zlib", 12],
  ["componentTypes=go-module&componentLocations=/usr/lib/zlib", 6],
  ["artifactArchitectures=aarch64", 30],
  ["aliases=CVE-2025-1014", 1],
  ["legacyAdvisoryIds=LEGACY-10", 1],
  ["query=cve-2025-10", 15],
  ["query=LIBCURL", 12],
  ["eventTypes=EVENT_TYPE_FILTER_FIXED", 8],
  ["latestEventType=EVENT_TYPE_FILTER_DETECTION", 7],
  ["eventAuthors=bob@example.com", 17],
  ["excludeEventAuthors=ann@example.com", 42],
  ["eventReviewers=ann@example.com", 18],
  ["eventReviewStates=REVIEW_STATE_REJECTED", 8],
])("the filter %s returns %i advisories", async (query, count) => {
  expect((await api.get(`/vulnerabilities/v2/advisories?${query}`)).body.totalCount).toBe(String(count));
});

test.each([
  ["cudaVersion=12.6", "numpy torch"],
  ["remediated=true", "boto3 django idna pandas pyyaml sqlalchemy werkzeug"],
  ["query=TORCH", "torch"],
])("the filter %s returns the libraries %s", async (query, names) => {
  const { artifacts } = (await api.get(`/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&${query}`)).body;
  expect(artifacts.map(({ name }) => name).join(" ")).toBe(names);
});

test("what is made up is the same in every run, and some sizes are no safe integers", async () => {
  const [advisory] = (await api.get("/vulnerabilities/v2/advisories?aliases=CVE-2025-1140")).body.advisories;
  expect(advisory).toMatchObject({
    advisoryId: "CGA-59c33ccebaeb",
    createTime: "2025-06-21T00:00:00.000Z",
    updateTime: "2025-06-24T00:00:00.000Z",
    aliases: ["CVE-2025-1140", "GHSA-d4ad-12c9"],
    severities: [{ type: "TYPE_CVSS_V3", score: "0.5" }],
    events: [
      { author: "scanner", detection: {} },
      { author: "scanner", reviewer: "ann@example.com", issue: "https://example.com/issues/20", patched: {} },
    ],
  });
  const { artifactVersions } = (await api.get("/libraries/v2/artifacts/pypi-torch/versions")).body;
  expect(artifactVersions[0]).toMatchObject({
    uid: "pypi-torch/3.0.0+cu128",
    sizeBytes: "9007199254740997",
    createTime: "2025-02-07T00:00:00.000Z",
  });
});

test("documents are found by id and by vulnerability", async () => {
  const ids = async (query: string): Promise<string[]> =>
    (await api.get(`/advisory/v2/documents?${query}`)).body.documents.map(({ id }) => id);
  expect((await ids("")).length).toBeGreaterThan(5);
  expect(await ids("id=nginx")).toEqual(["nginx"]);
  expect(await ids("cves=CVE-2025-1000&cves=CVE-2025-1007")).toEqual(["curl", "git"]);
  expect(await ids("id=nginx&cves=CVE-2025-1000")).toEqual([]);
});

describe("a seed", () => {
  const uid = "0123456789abcdef0123456789abcdef01234567";
  const seed = {
    groups: [{ uid, name: "org" }],
    artifacts: [{ uid: "pypi-mine", name: "mine", ecosystem: "ECOSYSTEM_PYTHON" }],
    artifactVersions: [{ uid: "pypi-mine/1", version: "1", sizeBytes: "9223372036854775807" }],
    vulnerabilityMetadata: [{ id: "CVE-1", summary: "mine" }],
  };

  test("exists from the start, and after a reset", async () => {
    const seeded = await extraEmulator({ seed });
    const other = new Api(seeded);
    for (let time = 0; time < 2; time += 1) {
      expect((await other.get(`/iam/v2/groups/${uid}`)).body.name).toBe("org");
      const python = await other.get("/libraries/v2/artifacts?ecosystems=ECOSYSTEM_PYTHON&query=mine");
      expect(python.body.artifacts).toMatchObject([{ uid: "pypi-mine" }]);
      const versions = await other.get("/libraries/v2/artifacts/pypi-mine/versions");
      expect(versions.body.artifactVersions).toMatchObject([{ sizeBytes: "9223372036854775807" }]);
      expect((await other.get("/advisory/v2/metadata?id=CVE-1")).body.totalCount).toBe("1");
      await other.delete(`/iam/v2/groups/${uid}`);
      seeded.reset();
    }
  });

  test.each<Seed>([{ nope: [] }, { groups: [{ name: "a" }] }])("of %j stops the start", async (wrong) => {
    await expect(startEmulator({ seed: wrong })).rejects.toThrow(/^seed: /);
  });
});
