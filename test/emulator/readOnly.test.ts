import type { Emulator, Seed } from "../../emulator";
import { startEmulator } from "../../emulator";
import type { Advisory } from "./api";
import { Api, extraEmulator } from "./api";

let emulator: Emulator;
let api: Api;

beforeAll(async () => {
  emulator = await startEmulator();
  api = new Api(emulator);
});
afterAll(() => emulator.close());

test.each<[string, (advisory: Advisory) => boolean]>([
  ["artifactNames=nginx&artifactNames=redis", (each) => ["nginx", "redis"].includes(each.artifactName)],
  ["origin=nginx&artifactNames=redis", (each) => each.artifactName.startsWith("nginx")],
  ["artifactTypes=apk&componentNames=zlib", (each) => each.componentName === "zlib"],
  ["componentTypes=go-module&componentLocations=/usr/lib/zlib", (each) => each.componentName === "zlib"],
  ["aliases=CVE-2025-1014", (each) => each.aliases.includes("CVE-2025-1014")],
  ["query=cve-2025-10", (each) => each.aliases[0]!.startsWith("CVE-2025-10")],
  ["eventTypes=EVENT_TYPE_FILTER_FIXED", (each) => each.events.some((event) => "fixed" in event)],
  ["latestEventType=EVENT_TYPE_FILTER_DETECTION", (each) => "detection" in each.events.at(-1)!],
  [
    "excludeEventAuthors=ann@example.com",
    (each) => each.events.every(({ author }) => author !== "ann@example.com"),
  ],
  [
    "eventReviewStates=REVIEW_STATE_REJECTED",
    (each) => each.events.some(({ reviewState }) => reviewState === "REVIEW_STATE_REJECTED"),
  ],
])("the filter %s returns the matching advisories", async (query, fits) => {
  const { advisories } = (await api.get(`/vulnerabilities/v2/advisories?${query}&page_size=200`)).body;
  expect(advisories.length).toBeGreaterThan(0);
  expect(advisories.length).toBeLessThan(60);
  expect(advisories.every(fits)).toBe(true);
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
