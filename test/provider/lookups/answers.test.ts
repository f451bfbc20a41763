import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import { isObject } from "../../../provider/fields/values";
import type { Json, Props } from "../../../provider/fields/values";
import { toWire } from "../../../provider/fields/wire";
import * as platform from "../../../provider/index";
import { valueOf } from "../../support/fieldValues";
import { ProgramContext } from "../support/program";
import { CHILD_UID, GROUP_UID, IDENTITY_UID, ROLE_UID, ROOT_UID, specs } from "../support/samples";
import { errorOf, failure, missing } from "../support/server";
import type { Reply } from "../support/server";

/* What lookups make of answers: full ones, and ones that leave out what is not set. */

const context = new ProgramContext().install();
const T1 = "2026-01-28T12:54:21.189Z";
const DIGEST = `sha256:${"6b3f".repeat(16)}`;
const one = (json: object): void => void context.server.script(() => ({ json }));

type Fields = Readonly<Record<string, FieldSpec>>;

/** What a response tells in members of its own. */
function toldOf({ fields, outputs, reads }: Pick<ResourceSpec, "fields" | "outputs" | "reads">): Fields {
  return Object.fromEntries(
    Object.entries({ ...fields, ...outputs, ...reads }).flatMap(([key, field]): [string, FieldSpec][] => {
      if (typeof field === "function" || field.path) return [];
      return [[key, field.type === "object" ? { ...field, fields: toldOf(field) } : field]];
    }),
  );
}

/** Values of all fields; those that no lookup returns have others. */
const valuesOf = (fields: Fields): Props =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [key, field.secret ? "canary" : valueOf(field, 0)]),
  );

/** Without what no response holds. */
const returned = (fields: Fields, values: Props): Props =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => !field.inputOnly && !field.createOnly && !field.subresource)
      .map(([key, field]): [string, Json | undefined] => {
        const value = values[key];
        return [key, field.type === "object" && isObject(value) ? returned(field.fields, value) : value];
      }),
  );

type Call = (args: object) => Promise<object>;
const lookupOf = ({ kind }: ResourceSpec) => (platform as unknown as Record<string, Call>)[`get${kind}`];

describe.each(specs.filter((spec) => lookupOf(spec) && !spec.operations?.get))(
  "of the kind $kind",
  (spec) => {
    const uid = spec.sharesParentUid ? GROUP_UID : CHILD_UID;
    const told = toldOf(spec);

    test("all that a response tells is returned, but no secret, and the parent by the uid", async () => {
      const values = valuesOf(told);
      const body = toWire({ type: "object", fields: told }, values) as Props;
      one({ ...body, uid });
      const answer = await lookupOf(spec)!({ uid });
      expect(answer).toMatchObject({ ...returned(told, values), uid, parentUid: GROUP_UID });
      expect(JSON.stringify(answer)).not.toContain("canary");
    });
  },
);

const image = { repoUid: CHILD_UID, digest: DIGEST };
const check = { uid: GROUP_UID, provider: "ACCOUNT_PROVIDER_TYPE_GOOGLE" };
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
const version = { uid: "v", name: "r", version: "1", description: "", sizeBytes: "9007199254740993" };
const bareAdvisory = {
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
};
const advisory = {
  ...Object.fromEntries(Object.keys(bareAdvisory).map((key) => [key, key])),
  uid: GROUP_UID,
  legacyAdvisoryId: "CGA-old",
  aliases: ["CVE-2026-1"],
  severities: [{ type: "TYPE_CVSS_V3", score: "9.8" }],
  createTime: T1,
  updateTime: T1,
  deleteTime: T1,
};
const event = { uid: "e", createTime: T1, findings: "//4A", author: "a", reviewer: "r", issue: "i" };
const bareEvent = { uid: "", findings: "", author: "", reviewer: "", content: {} };
const document = { id: "CGA-1", aliases: ["CVE-1"], packageNamespace: "wolfi" };
const metadata = {
  id: "CVE-1",
  summary: "s",
  details: "d",
  references: [{ type: "ADVISORY", url: "https://e.com" }],
  severities: [{ type: "TYPE_CVSS_V4", score: "CVSS:4.0/…" }],
};
const terms = { docId: "d", acceptedBy: "a", orgUid: ROOT_UID, createTime: T1 };

type AnswerRow = readonly [what: string, call: () => Promise<unknown>, json: object, answer: unknown];
type ErrorRow = readonly [what: string, call: () => Promise<unknown>, reply: Reply, message: string];

test.each<AnswerRow>([
  [
    "libraries, whose uids look different and have no parent",
    () => platform.getArtifacts({ ecosystems: ["ECOSYSTEM_PYTHON"] }),
    { artifacts: [artifact, { uid: "b", ecosystem: 9, versionCount: "3" }] },
    [artifact, { uid: "b", name: "", description: "", ecosystem: "9", latestVersion: "", versionCount: 3 }],
  ],
  [
    "versions, with exact sizes",
    () => platform.getArtifactVersions({ artifactUid: "pypi-requests" }),
    { artifactVersions: [{ ...version, createTime: T1 }, { uid: "w" }] },
    [
      { ...version, createTime: T1 },
      { uid: "w", name: "", version: "", description: "", sizeBytes: "0" },
    ],
  ],
  [
    "exact counts, one for each ecosystem",
    () => platform.getArtifactCount({ ecosystems: ["ECOSYSTEM_JAVA"] }),
    { counts: [{ ecosystem: "ECOSYSTEM_JAVA", totalCount: "9007199254740993" }, {}] },
    { counts: [{ ecosystem: "ECOSYSTEM_JAVA", totalCount: "9007199254740993" }, { totalCount: "0" }] },
  ],
  [
    "a readme",
    () => platform.getRepoReadme({ repoUid: CHILD_UID }),
    { uid: CHILD_UID, content: "# Hi" },
    { uid: CHILD_UID, content: "# Hi" },
  ],
  [
    "architectures",
    () => platform.getImageArchitectures(image),
    { architectures: ["amd64", "arm64", 5] },
    { architectures: ["amd64", "arm64"] },
  ],
  ...(
    [
      [{ size: "9223372036854775807", architecture: "arm64" }, "9223372036854775807", "arm64"],
      [{ size: 12, architecture: "" }, "12", "amd64"],
      [{ size: 1e300 }, "0", "amd64"],
    ] as const
  ).map(([json, bytes, architecture]): AnswerRow => [
    `the size ${JSON.stringify(json)}`,
    () => platform.getImageSize(image),
    json,
    { bytes, architecture },
  ]),
  [
    "an advisory",
    () => platform.getAdvisory({ uid: GROUP_UID }),
    { ...advisory, events: [{ ...event, reviewState: "REVIEW_STATE_APPROVED", fixed: { note: "" } }] },
    {
      ...advisory,
      parentUid: ROOT_UID,
      events: [{ ...event, reviewState: "REVIEW_STATE_APPROVED", kind: "fixed", content: { note: "" } }],
    },
  ],
  ...(
    [
      [{ detection: {} }, { kind: "detection" }],
      [{ extra: {}, fixNotPlanned: {} }, { kind: "fixNotPlanned" }],
      [{ fixed: null, detection: "x", reviewState: "REVIEW_STATE_UNSPECIFIED", createTime: null }, {}],
    ] as const
  ).map(([json, read]): AnswerRow => [
    `the event ${JSON.stringify(json)}`,
    () => platform.getAdvisories(),
    { advisories: [{ uid: "a", events: [json, 5, null] }] },
    [{ ...bareAdvisory, uid: "a", events: [{ ...bareEvent, ...read }] }],
  ]),
  [
    "documents",
    () => platform.getAdvisoryDocuments({ id: "nginx" }),
    {
      documents: [
        { id: "nginx", advisories: [{ ...document, events: [{ timestamp: T1, fixed: { version: "1" } }] }] },
        { id: "empty", advisories: null },
      ],
    },
    [
      {
        id: "nginx",
        advisories: [{ ...document, events: [{ timestamp: T1, kind: "fixed", content: { version: "1" } }] }],
      },
      { id: "empty", advisories: [] },
    ],
  ],
  [
    "metadata in the order of the ids, after it what has other ids",
    () => platform.getVulnerabilityMetadata({ ids: ["CVE-1", "CVE-2"] }),
    { vulnerabilityMetadata: [{ id: "GHSA-x" }, { id: "CVE-2" }, metadata] },
    [metadata, ...["CVE-2", "GHSA-x"].map((id) => expect.objectContaining({ id }) as unknown)],
  ],
  [
    "accepted terms",
    () => platform.getTermsAcceptances({ groupUid: GROUP_UID }),
    { termsAcceptances: [terms] },
    [terms],
  ],
  [
    "an account that is ready",
    () => platform.checkAccountAssociation(check),
    { status: "CHECK_STATUS_READY" },
    { ready: true, status: "CHECK_STATUS_READY", reason: "", message: "" },
  ],
  [
    "an account of which nothing is known",
    () => platform.checkAccountAssociation(check),
    { status: "CHECK_STATUS_UNSPECIFIED" },
    { ready: false, reason: "", message: "" },
  ],
  ...[true, false].map((eligible): AnswerRow => [
    `eligible: ${eligible}`,
    () => platform.checkEligibility(),
    eligible ? { eligible } : {},
    { eligible },
  ]),
  [
    "a binding that holds only whole objects",
    () => platform.getRoleBindings(),
    {
      roleBindings: [
        { uid: CHILD_UID, identityUid: "", identity: { uid: IDENTITY_UID }, role: { uid: ROLE_UID } },
      ],
    },
    [expect.objectContaining({ identityUid: IDENTITY_UID, roleUid: ROLE_UID, parentUid: GROUP_UID })],
  ],
  [
    "the group of the token's domain",
    () => platform.lookupGroup(),
    { group: { uid: ROOT_UID, name: "acme" } },
    { uid: ROOT_UID, name: "acme", description: "", verified: false },
  ],
])("%s", async (_what, call, json, answer) => {
  one(json);
  await expect(call()).resolves.toStrictEqual(answer);
});

test.each<ErrorRow>([
  ...[{ json: { group: null } }, missing("example.com")].map((reply): ErrorRow => [
    "no group",
    () => platform.lookupGroup(),
    reply,
    "lookupGroup: there is no group for the e-mail domain of this token (PP1203)",
  ]),
  [
    "another object",
    () => platform.getRoleBinding({ uid: CHILD_UID }),
    { json: { uid: GROUP_UID } },
    `getRoleBinding: the response is not about ${CHILD_UID}; check platform:baseUrl, which is URL (PP4008)`,
  ],
  [
    "an account that is missing",
    () => platform.checkAccountAssociation(check),
    missing(GROUP_UID),
    `checkAccountAssociation: there is no object with the uid ${GROUP_UID} (PP1203)`,
  ],
  [
    "an image that is missing for an architecture",
    () => platform.getImageSize({ ...image, architecture: "s390x" }),
    missing(CHILD_UID),
    `getImageSize: the repository ${CHILD_UID} has no image ${DIGEST} for s390x (PP1203)`,
  ],
  [
    "a library that is missing",
    () => platform.getArtifactVersions({ artifactUid: "pypi-nope" }),
    missing("pypi-nope"),
    "getArtifactVersions: GET /libraries/v2/artifacts/pypi-nope/versions: NOT_FOUND (HTTP 404): Not found: pypi-nope (PP3405)",
  ],
  [
    "an identity without a uid",
    () => platform.lookupIdentity({ issuer: "https://i.example.com", subject: "a|b" }),
    { json: {} },
    "lookupIdentity: the response has no uid for a|b of https://i.example.com (PP2108)",
  ],
])("%s is an error that names it", async (_what, call, reply, message) => {
  context.server.script(() => reply);
  const told = (await errorOf(call())).message;
  expect(told.replace(/http:\/\/127[\d.:]+/, "URL")).toBe(message);
});

test("a check of an account is repeated like a read: it changes nothing", async () => {
  context.configure({ "platform:maxRetries": "1" });
  context.server.script([failure(14, "later"), { json: { status: 1 } }]);
  await expect(platform.checkAccountAssociation(check)).resolves.toMatchObject({ status: "1" });
});

describe("metadata of many vulnerabilities", () => {
  test.each([
    ["long", (i: number) => `CVE-2026-${String((i * 7919) % 2500).padStart(4, "0")}`],
    ["short", (i: number) => i.toString(36)],
  ])("comes in the order of the ids, each once, however many and %s they are", async (_how, idOf) => {
    context.server.script(({ query }) => {
      const ids = query.getAll("ids").sort();
      const at = Number(query.get("page_token") ?? "0");
      const vulnerabilityMetadata = ids.slice(at, at + 100).map((id) => ({ id }));
      return {
        json: { vulnerabilityMetadata, nextPageToken: at + 100 < ids.length ? String(at + 100) : "" },
      };
    });
    const ids = Array.from({ length: 2500 }, (_, i) => idOf(i));
    const answers = await platform.getVulnerabilityMetadata({ ids: [...ids, ...ids.slice(0, 50)] });
    expect(answers.map(({ id }) => id)).toEqual(ids);
    for (const { query, rawQuery } of context.server.requests) {
      expect(query.getAll("ids").length).toBeLessThanOrEqual(1000);
      expect(rawQuery.length).toBeLessThan(8000);
    }
  });
});
