import { getArtifactCount, getArtifacts, getArtifactVersions } from "../../../provider/index";
import { ProgramContext } from "../support/program";
import { errorOf, missing } from "../support/server";

const context = new ProgramContext().install();
const T1 = "2026-01-28T12:54:21.189Z";
const one = (json: object): void => void context.server.script(() => ({ json }));

test("libraries are read; their uids look different and have no parent", async () => {
  const artifact = {
    uid: "pypi-requests",
    name: "requests",
    description: "HTTP",
    ecosystem: "ECOSYSTEM_PYTHON",
    latestVersion: "2.32.0",
    versionCount: 120,
    createTime: T1,
    updateTime: T1,
  };
  one({ artifacts: [artifact, { uid: "b", ecosystem: 9, versionCount: "3" }], totalCount: "2" });
  await expect(getArtifacts({ ecosystems: ["ECOSYSTEM_PYTHON"] })).resolves.toStrictEqual([
    artifact,
    { uid: "b", name: "", description: "", ecosystem: "9", latestVersion: "", versionCount: 3 },
  ]);
});

test("versions are read, with exact sizes", async () => {
  const version = {
    uid: "v",
    name: "requests",
    version: "1",
    description: "",
    sizeBytes: "9007199254740993",
    createTime: T1,
  };
  one({ artifactVersions: [version, { uid: "w", sizeBytes: "0" }] });
  await expect(getArtifactVersions({ artifactUid: "pypi-requests" })).resolves.toStrictEqual([
    version,
    { uid: "w", name: "", version: "", description: "", sizeBytes: "0" },
  ]);
});

test("counts are exact, one for each ecosystem", async () => {
  one({
    counts: [
      { ecosystem: "ECOSYSTEM_JAVA", totalCount: "9007199254740993" },
      { ecosystem: "ECOSYSTEM_UNSPECIFIED" },
    ],
  });
  await expect(getArtifactCount({ ecosystems: ["ECOSYSTEM_JAVA"] })).resolves.toStrictEqual({
    counts: [{ ecosystem: "ECOSYSTEM_JAVA", totalCount: "9007199254740993" }, { totalCount: "0" }],
  });
  // The second request shows that it is the API.
  const responses = [{}, { roles: [{ uid: "f".repeat(40) }] }];
  context.server.script(() => ({ json: responses.shift() }));
  await expect(getArtifactCount({ ecosystems: ["ECOSYSTEM_JAVA"] })).resolves.toStrictEqual({ counts: [] });
});

test("versions of a library that is missing are an error that names it", async () => {
  context.server.script([missing("pypi-nope")]);
  expect((await errorOf(getArtifactVersions({ artifactUid: "pypi-nope" }))).message.split("\n")).toEqual([
    "getArtifactVersions: GET /libraries/v2/artifacts/pypi-nope/versions: NOT_FOUND (HTTP 404): Not found: pypi-nope",
    "  not found: Thing pypi-nope",
    "  see pulumi-platform explain PP3405",
  ]);
});
