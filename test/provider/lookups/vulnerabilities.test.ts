import {
  getAdvisories,
  getAdvisory,
  getAdvisoryDocuments,
  getVulnerabilityMetadata,
} from "../../../provider/index";
import { ProgramContext } from "../support/program";
import { GROUP_UID, ROOT_UID } from "../support/samples";
import { errorOf, failure, missing } from "../support/server";

const context = new ProgramContext().install();
const T1 = "2026-01-28T12:54:21.189Z";
const one = (json: object): void => void context.server.script(() => ({ json }));

const bare = {
  advisoryId: "",
  author: "",
  artifactName: "",
  artifactType: "",
  artifactArchitecture: "",
  componentName: "",
  componentType: "",
  componentLocation: "",
  aliases: [],
  severities: [],
  events: [],
};
const bareEvent = { uid: "", findings: "", author: "", reviewer: "", content: {} };

describe("an advisory", () => {
  test("is read whole", async () => {
    const advisory = {
      uid: GROUP_UID,
      advisoryId: "CGA-x",
      legacyAdvisoryId: "CGA-old",
      author: "a",
      artifactName: "nginx",
      artifactType: "apk",
      artifactArchitecture: "amd64",
      componentName: "openssl",
      componentType: "t",
      componentLocation: "/lib",
      aliases: ["CVE-2026-1"],
      severities: [{ type: "TYPE_CVSS_V3", score: "9.8" }],
      createTime: T1,
      updateTime: T1,
      deleteTime: T1,
    };
    const event = { uid: "e", createTime: T1, findings: "//4A", author: "a", reviewer: "r", issue: "i" };
    one({
      ...advisory,
      events: [{ ...event, reviewState: "REVIEW_STATE_APPROVED", fixed: { fixedVersion: "1", note: "" } }],
    });
    await expect(getAdvisory({ uid: GROUP_UID })).resolves.toStrictEqual({
      ...advisory,
      parentUid: ROOT_UID,
      events: [
        {
          ...event,
          reviewState: "REVIEW_STATE_APPROVED",
          kind: "fixed",
          content: { fixedVersion: "1", note: "" },
        },
      ],
    });
  });

  test.each<[object, object]>([
    [{ detection: {} }, { kind: "detection" }],
    [{ patched: { a: 1 } }, { kind: "patched", content: { a: 1 } }],
    [{ sunset: { a: 1 } }, { kind: "sunset", content: { a: 1 } }],
    [{ extra: {}, fixNotPlanned: {} }, { kind: "fixNotPlanned" }],
    [{ fixed: null, detection: "x", reviewState: "REVIEW_STATE_UNSPECIFIED", createTime: null }, {}],
  ])("says of the event %j what it is", async (event, read) => {
    one({ advisories: [{ uid: "a", events: [event, 5, null] }] });
    await expect(getAdvisories()).resolves.toStrictEqual([
      { ...bare, uid: "a", events: [{ ...bareEvent, ...read }] },
    ]);
  });

  test("by uid is one, or none", async () => {
    context.server.script([missing("CGA-1")]);
    expect((await errorOf(getAdvisory({ uid: "CGA-1" }))).message).toBe(
      "getAdvisory: there is no object with the uid CGA-1 (PP1203)",
    );
  });
});

test("documents are read with their advisories and events", async () => {
  const advisory = { id: "CGA-1", aliases: ["CVE-1"], packageNamespace: "wolfi" };
  one({
    documents: [
      {
        id: "nginx",
        advisories: [{ ...advisory, events: [{ timestamp: T1, fixed: { fixedVersion: "1-r0" } }] }],
      },
      { id: "empty", advisories: null },
    ],
  });
  await expect(getAdvisoryDocuments({ id: "nginx" })).resolves.toStrictEqual([
    {
      id: "nginx",
      advisories: [
        { ...advisory, events: [{ timestamp: T1, kind: "fixed", content: { fixedVersion: "1-r0" } }] },
      ],
    },
    { id: "empty", advisories: [] },
  ]);
});

describe("metadata of vulnerabilities", () => {
  const echo = (): void => {
    context.server.script(({ query }) => {
      const ids = query.getAll("ids").sort();
      const at = Number(query.get("page_token") ?? "0");
      const metadata = ids.slice(at, at + 100).map((id) => ({ id, summary: `about ${id}` }));
      return {
        json: {
          vulnerabilityMetadata: metadata,
          nextPageToken: at + 100 < ids.length ? String(at + 100) : "",
        },
      };
    });
  };

  test("is read whole", async () => {
    const known = {
      id: "CVE-1",
      summary: "s",
      details: "d",
      references: [{ type: "ADVISORY", url: "https://e.com" }],
      severities: [{ type: "TYPE_CVSS_V4", score: "CVSS:4.0/…" }],
    };
    one({ vulnerabilityMetadata: [known] });
    await expect(getVulnerabilityMetadata({ ids: ["CVE-1", "CVE-2"] })).resolves.toStrictEqual([known]);
  });

  test("comes in the order of the ids, each once, however many", async () => {
    echo();
    const ids = Array.from(
      { length: 2500 },
      (_, i) => `CVE-2026-${String((i * 7919) % 2500).padStart(4, "0")}`,
    );
    const answers = await getVulnerabilityMetadata({ ids: [...ids, ...ids.slice(0, 50)] });
    expect(answers.map(({ id }) => id)).toEqual(ids);
    const firstPages = context.server.requests.filter(({ query }) => !query.has("page_token"));
    expect(firstPages.length).toBeGreaterThan(2);
    expect(firstPages.flatMap(({ query }) => query.getAll("ids"))).toHaveLength(2500);
    for (const { query, rawQuery } of context.server.requests) {
      expect(query.getAll("ids").length).toBeLessThanOrEqual(1000);
      expect(rawQuery.length).toBeLessThan(8000);
    }
  });

  test("is asked for a thousand at a time at most, however short the ids", async () => {
    echo();
    const ids = Array.from({ length: 1001 }, (_, i) => i.toString(36));
    await expect(getVulnerabilityMetadata({ ids })).resolves.toHaveLength(1001);
    const sizes = context.server.requests.map(({ query }) => query.getAll("ids").length);
    expect(Math.max(...sizes)).toBe(1000);
  });

  test("keeps responses under other ids, after the others", async () => {
    one({ vulnerabilityMetadata: [{ id: "GHSA-x" }, { id: "CVE-2" }, { id: "CVE-1" }] });
    const answers = await getVulnerabilityMetadata({ ids: ["CVE-1", "CVE-2"] });
    expect(answers.map(({ id }) => id)).toEqual(["CVE-1", "CVE-2", "GHSA-x"]);
  });

  test("fails whole where one part fails", async () => {
    const ids = Array.from({ length: 1000 }, (_, i) => `CVE-2026-${i}`);
    context.server.script(({ query }) =>
      query.getAll("ids").includes("CVE-2026-999")
        ? failure(7, "no")
        : { json: { vulnerabilityMetadata: [] } },
    );
    expect((await errorOf(getVulnerabilityMetadata({ ids }))).message).toBe(
      "getVulnerabilityMetadata: GET /advisory/v2/metadata: PERMISSION_DENIED (HTTP 403): no (PP3403)",
    );
  });
});
