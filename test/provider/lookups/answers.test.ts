import * as pulumi from "@pulumi/pulumi";
import type { FieldSpec } from "../../../provider/fields/fieldSpec";
import type { ResourceSpec } from "../../../provider/fields/resourceSpec";
import { isObject } from "../../../provider/fields/values";
import type { Json, Props } from "../../../provider/fields/values";
import { toWire } from "../../../provider/fields/wire";
import * as platform from "../../../provider/index";
import { getRole, ping } from "../../../provider/index";
import { valueOf } from "../../support/fieldValues";
import { ProgramContext } from "../support/program";
import { CHILD_UID, GROUP_UID, IDENTITY_UID, ROLE_UID, ROOT_UID, specs, specOf } from "../support/samples";
import { errorOf, failure, missing, TOKEN, htmlPage, wrongAddress, ScriptedServer } from "../support/server";
import type { Reply } from "../support/server";
import { tryInPreview } from "../../../provider/lookups/invoke";
import { findWrittenUids, trustWrittenUids } from "../../../provider/program/uidSources";

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

const OTHER_UID = "0123456789abcdef0123456789abcdef01234567";
const CUSTOM_UID = `${GROUP_UID}/3333333333333333`;
const viewer = {
  uid: ROLE_UID,
  name: "viewer",
  description: "May look",
  capabilities: ["CAP_REPO_LIST", "CAP_TAG_LIST"],
  createTime: null,
};
const custom = { uid: CUSTOM_UID, name: "viewer", description: "", capabilities: ["CAP_REPO_LIST"] };

const roles = (...all: object[]): Reply => ({ json: { roles: all, nextPageToken: "", skipped: 0 } });

async function told(args: object): Promise<string> {
  const error = await errorOf(getRole(args));
  expect(error).toMatchObject({ name: "LookupError", code: "LOOKUP" });
  expect(String(error.stack)).not.toMatch(/\n\s+at /);
  expect(error.message).not.toContain(TOKEN);
  return error.message;
}

describe("getRole", () => {
  test("distinguishes a built-in role from a custom one of the same name", async () => {
    context.server.script(() => roles({ name: "viewer" }, custom, viewer));
    await expect(getRole({ name: "viewer", builtIn: true })).resolves.toMatchObject({
      uid: ROLE_UID,
      builtIn: true,
    });
    await expect(getRole({ name: "viewer", builtIn: false })).resolves.toStrictEqual({
      uid: CUSTOM_UID,
      name: "viewer",
      description: "",
      capabilities: ["CAP_REPO_LIST"],
      builtIn: false,
      parentUid: GROUP_UID,
    });
  });
});

describe("getRole says", () => {
  const many = Array.from({ length: 21 }, (_, i) => ({
    ...custom,
    uid: `${GROUP_UID}/${(i + 1).toString(16).padStart(16, "0")}`,
  }));

  test("that there are more than twenty of a name, or more than twenty names", async () => {
    context.server.script(() => roles(...many));
    expect((await told({ name: "viewer" })).split("\n").slice(20)).toEqual([
      expect.stringContaining("0000014 (parent: "),
      "  …",
      "  see npx --no pulumi-platform explain PP1204",
    ]);
    context.server.script(({ query }) =>
      query.has("name") ? roles() : roles(...many.map((one, i) => ({ ...one, name: `role ${i + 10}` }))),
    );
    expect(await told({ name: "viewer" })).toContain('"role 29", …');
  });

  test("that there is none, and where it looked", async () => {
    context.server.script(() => roles());
    expect(await told({ name: "viewer" })).toBe(
      'getRole: there is no role with the name "viewer" that this token may see (PP1203)',
    );
    expect(await told({ name: "viewer", parentUid: GROUP_UID })).toBe(
      `getRole: there is no role with the name "viewer" below ${GROUP_UID} that this token may see (PP1203)`,
    );
    context.server.script([missing(ROLE_UID)]);
    expect(await told({ uid: ROLE_UID })).toBe(
      `getRole: there is no object with the uid ${ROLE_UID} (PP1203)`,
    );
  });

  test("which argument the one with the name does not meet", async () => {
    context.server.script(() => roles(viewer));
    expect(await told({ name: "viewer", builtIn: false })).toBe(
      'getRole: the role with the name "viewer" has builtIn true, not false: change that, or leave it out (PP1203)',
    );
  });

  test("where else there is one of the name", async () => {
    context.server.script(({ query }) => (query.has("uidp.children_of") ? roles(custom) : roles(viewer)));
    expect(await told({ name: "viewer", parentUid: OTHER_UID })).toBe(
      [
        `getRole: there is no role with the name "viewer" below ${OTHER_UID} that this token may see`,
        "  elsewhere there is:",
        `  ${ROLE_UID} (parent: none) May look`,
        "  see npx --no pulumi-platform explain PP1203",
      ].join("\n"),
    );
  });

  test("which there are, built-in and custom, and the one that was probably meant", async () => {
    const owner = { ...viewer, uid: OTHER_UID, name: "owner" };
    context.server.script(({ query }) =>
      query.get("name") === null ? roles(viewer, custom, owner) : roles(),
    );
    expect((await told({ name: "viewre" })).split("\n")).toEqual([
      'getRole: there is no role with the name "viewre" that this token may see',
      '  did you mean "viewer"?',
      "  see npx --no pulumi-platform explain PP1203",
    ]);
    expect(context.server.requests).toHaveLength(2);
  });

  test("which there are of those that can be meant", async () => {
    const deployer = { ...custom, name: "deployer" };
    context.server.script(({ query }) => (query.get("name") === null ? roles(viewer, deployer) : roles()));
    for (const [more, list] of [
      [{}, ['  built-in: "viewer"', '  custom: "deployer"']],
      [{ builtIn: true }, ['  built-in: "viewer"']],
      [{ builtIn: false }, ['  custom: "deployer"']],
    ] as const)
      expect((await told({ name: "auditing", ...more })).split("\n").slice(1, -1)).toEqual(list);
  });

  test("that there are several, with each one's uid, parent and description", async () => {
    context.server.script([roles(viewer, { ...custom, description: "Ours\n::error::x" })]);
    expect((await told({ name: "viewer" })).split("\n")).toEqual([
      'getRole: 2 objects have the name "viewer"; narrow by parentUid, or give the uid of one:',
      `  ${ROLE_UID} (parent: none) May look`,
      `  ${CUSTOM_UID} (parent: ${GROUP_UID}) Ours ::error::x`,
      "  see npx --no pulumi-platform explain PP1204",
    ]);
  });
});

test("ping fails where the address is wrong", async () => {
  context.server.script([{ text: htmlPage }, wrongAddress]);
  expect((await errorOf(ping())).message).toMatch(/^ping: .*this is not the Platform API/);
  expect((await errorOf(ping())).message).toMatch(
    /^ping: GET \/ping\/v2\/ping: NOT_FOUND \(HTTP 404\): Not Found; no such API endpoint: http:\S+\/ping\/v2\/ping; check platform:baseUrl /,
  );
});

test("ping prints a line for each request if the log is on, without the token", async () => {
  process.env["PLATFORM_LOG"] = "debug";
  context.server.script([{ json: { response: "pong" } }]);
  const lines: string[] = [];
  const write = jest
    .spyOn(process.stderr, "write")
    .mockImplementation((line) => lines.push(String(line)) > 0);
  await ping();
  write.mockRestore();
  expect(lines).toEqual([
    expect.stringMatching(/^platform: GET \/ping\/v2\/ping -> 200 in \d+ ms \(attempt 1\)\n$/),
  ]);
  expect(lines.join("")).not.toContain(TOKEN);
});

/** Begins another run, as the engine's own process does once. */
const newRun = () =>
  pulumi.runtime.setMocks({
    newResource: ({ inputs }) => ({ id: "id", state: inputs as Record<string, unknown> }),
    call: ({ inputs }) => inputs as Record<string, unknown>,
  });

const group = { uid: GROUP_UID, name: "team" };
const answerGroups = (): void =>
  void context.server.script(() => ({ json: { ...group, groups: [group], roles: [] } }));

describe("outside of a run", () => {
  test("equal concurrent lookups send one request, and later ones another", async () => {
    answerGroups();
    await Promise.all([platform.getGroups(), platform.getGroups(), platform.getGroups({})]);
    expect(context.server.requests).toHaveLength(1);
    await platform.getGroups();
    expect(context.server.requests).toHaveLength(2);
  });
});

describe("in a program's run", () => {
  beforeEach(async () => {
    await newRun();
    context.configure();
  });

  test("equal lookups send one request, whatever the order of their arguments", async () => {
    answerGroups();
    const first = await platform.getGroups({ childrenOf: ROOT_UID, limit: 3 });
    const second = await platform.getGroups({ limit: 3, childrenOf: ROOT_UID });
    expect(second).toStrictEqual(first);
    await platform.getGroup({ uid: GROUP_UID });
    await platform.getGroup({ uid: GROUP_UID });
    expect(context.server.requests).toHaveLength(2);
  });

  test("different lookups send a request each", async () => {
    answerGroups();
    await platform.getGroups();
    await platform.getGroups({ limit: 3 });
    await platform.getGroups({ uids: [ROOT_UID, GROUP_UID] });
    await platform.getGroups({ uids: [GROUP_UID, ROOT_UID] });
    await platform.getGroups({ name: "team" });
    await platform.getGroup({ name: "team" });
    await platform.getRoles();
    expect(context.server.requests).toHaveLength(7);
  });

  test("a failure rejects every waiting caller, and is then forgotten", async () => {
    context.server.script([failure(7, "no"), { json: group }]);
    const ask = () => platform.getGroup({ uid: GROUP_UID });
    const [one, other] = await Promise.all([errorOf(ask()), errorOf(ask())]);
    // In a run a message begins with the line of the program.
    expect(one.message.replace(/^test\/\S+\.test\.ts:\d+: /, "")).toBe(
      `getGroup: GET /iam/v2/groups/${GROUP_UID}: PERMISSION_DENIED (HTTP 403): no (PP3403)`,
    );
    expect(other.message).toBe(one.message);
    await expect(ask()).resolves.toMatchObject({ name: "team" });
    expect(context.server.requests).toHaveLength(2);
  });

  // The engine prints an error once, whoever throws it.
  test.each<[string, boolean, Reply, Record<string, string>]>([
    ["an address without TLS", true, {}, { "platform:baseUrl": "http://api.example.com" }],
    ["a refused token", true, failure(16, "no"), {}],
    ["a wrong address", true, wrongAddress, {}],
    ["a page of a proxy", true, { text: htmlPage }, {}],
    ["a capability that is missing", false, failure(7, "no"), {}],
  ])("%s fails all lookups by one error: %j", async (_cause, isOne, reply, settings) => {
    context.configure(settings);
    context.server.script(() => reply);
    const [one, other] = await Promise.all([
      errorOf(platform.getRole({ name: "viewer" })),
      errorOf(platform.getGroup({ name: "team" })),
    ]);
    expect(one === other).toBe(isOne);
  });

  test("a lookup with other settings sends its own request, to the other server", async () => {
    answerGroups();
    const elsewhere = await ScriptedServer.start();
    elsewhere.script(() => ({ json: { groups: [] } }));
    await expect(platform.getGroups()).resolves.toHaveLength(1);
    context.configure({ "platform:baseUrl": elsewhere.url });
    await expect(platform.getGroups()).resolves.toHaveLength(0);
    context.configure({ "platform:token": "another" });
    await platform.getGroups();
    context.configure();
    await expect(platform.getGroups()).resolves.toHaveLength(1);
    await elsewhere.close();
    expect(context.server.requests.map(({ headers }) => headers.authorization)).toEqual([
      expect.not.stringContaining("another"),
      "Bearer another",
    ]);
  });

  test("another run sends a new request, though it is in the same process", async () => {
    answerGroups();
    await platform.getGroups();
    await newRun();
    context.configure();
    await platform.getGroups();
    expect(context.server.requests).toHaveLength(2);
  });

  test("what a preview asks on its own, it asks at the server of its run", async () => {
    const addressOfRun = () => tryInPreview((client) => Promise.resolve(client.addressAdvice), "not asked");
    const own = await addressOfRun();
    await newRun();
    context.configure({ "platform:baseUrl": "https://other.example" });
    expect([own, await addressOfRun()]).toEqual([
      expect.stringContaining(context.server.url),
      expect.stringContaining("https://other.example"),
    ]);
  });

  test("a provider of its own in one run keeps no other run from asking", async () => {
    pulumi.runtime.setMockOptions(pulumi.runtime.getMonitor(), "project", "stack", true);
    const written = () => findWrittenUids(specOf("Group"), { parentUid: ROOT_UID });
    expect(written()).toHaveLength(1);
    trustWrittenUids();
    expect(written()).toEqual([]);
    await newRun();
    pulumi.runtime.setMockOptions(pulumi.runtime.getMonitor(), "project", "stack", true);
    expect(written()).toHaveLength(1);
  });
});
