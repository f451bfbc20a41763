import type { ApiError } from "../../../provider/http/errors";
import { apiErrorFrom, ConfigError, ConnectionError } from "../../../provider/http/errors";
import {
  adviseOnRefusal,
  explain,
  guardErrors,
  HandlerError,
  PartialFailure,
  propertyOf,
} from "../../../provider/lifecycle/messages";
import { detail, htmlPage } from "../support/server";
import { specOf } from "../support/samples";

function errorFrom(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  credential?: string,
): ApiError {
  const baseUrl = "https://api.example.com/v2";
  const call = { method: "PATCH", path: "/iam/v2/identities/x", baseUrl, credential };
  return apiErrorFrom(call, { status, body, now: 0, header: (name) => headers[name] });
}

function told(kind: string, error: unknown, notes: readonly string[] = [], listsBlockers = false): string {
  return explain(specOf(kind), "updating thing", error, notes, listsBlockers).message;
}

describe("a field of the API is named as the program names it", () => {
  test.each([
    ["Identity", "claimMatch.subject", "claimMatch.subject"],
    ["Identity", "identity.claim_match.subject_pattern", "claimMatch.subjectPattern"],
    ["Identity", "claim_match.claim_patterns.job_workflow_ref", "claimMatch.claimPatterns.job_workflow_ref"],
    ["Identity", "identity", "identity"],
    ["Repo", "repo.syncConfig.source", "syncConfig.source"],
    ["Repo", "active_tags[3]", "activeTags[3]"],
    ["Repo", "custom_overlay.accounts.users[0].group_name", "customOverlay.accounts.users[0].groupName"],
    ["Group", "resource_limits", "resourceLimits"],
    ["Group", "", ""],
    ["Group", "a..b", "a..b"],
    ["Group", "[0]", "[0]"],
  ])("%s: %s is %s", (kind, field, property) => {
    expect(propertyOf(specOf(kind), field)).toBe(property);
  });
});

describe("an error contains every detail", () => {
  test("with what was done, code, status, a line for each violation instead of the message, in the program's names, and the request's id", () => {
    const error = errorFrom(
      400,
      {
        code: 3,
        message: "Invalid argument: name: must match",
        details: [
          detail("ErrorInfo", { reason: "INVALID_ARGUMENT", domain: "iam", metadata: {} }),
          detail("BadRequest", {
            fieldViolations: [
              { field: "name", description: "must match the pattern" },
              { field: "identity.claim_match.subject", description: "must not be empty" },
            ],
          }),
        ],
      },
      { "x-request-id": "req-1" },
    );
    expect(told("Identity", error)).toBe(
      [
        "updating thing: INVALID_ARGUMENT (HTTP 400)",
        "  name: must match the pattern",
        "  claimMatch.subject: must not be empty",
        "  request id: req-1",
      ].join("\n"),
    );
  });

  // handlers.test.ts has the whole message of a group that is not empty.
  test("with violated preconditions and notes, each said once", () => {
    const preconditions = (
      message: string,
      violation: Record<string, string>,
      ...more: Record<string, unknown>[]
    ) =>
      errorFrom(400, {
        code: 9,
        message,
        details: [...more, detail("PreconditionFailure", { violations: [violation] })],
      });
    // The server's message may say what is in it; what we list says it again, with uids.
    const children = "it still has children: repos a";
    const notEmpty = { type: "RESOURCE_NOT_EMPTY", subject: "g", description: children };
    const repeated = preconditions(`Precondition failed: ${children}`, notEmpty);
    const advice = "  delete what is below it first";
    const head = "updating thing: FAILED_PRECONDITION (HTTP 400)";
    expect(told("Group", repeated, ["repositories in it: a"], true).split("\n")).toEqual([
      `${head}: it is not empty`,
      "  repositories in it: a",
      advice,
    ]);
    // A list that could not be read leaves the server's words.
    expect(told("Group", repeated, ["repositories in it: a"]).split("\n")).toEqual([
      `${head}: Precondition failed: ${children}`,
      "  repositories in it: a",
      advice,
    ]);
    const quota = { type: "QUOTA", subject: "org/1", description: "full" };
    const reason = detail("ErrorInfo", { reason: "ORG_QUOTA_EXCEEDED", domain: "iam", metadata: {} });
    const other = preconditions("", quota, reason);
    expect(told("Group", other)).toBe(
      "updating thing: FAILED_PRECONDITION (HTTP 400)\n  QUOTA org/1: full\n  reason: ORG_QUOTA_EXCEEDED",
    );
  });

  test("with the resource that prevents it", () => {
    const info = detail("ResourceInfo", { resourceType: "Group", resourceName: "abc", description: "" });
    const equal = errorFrom(409, { code: 6, message: "Already exists", details: [info] });
    expect(told("Group", equal)).toContain("\n  already exists: Group abc");
    const other = errorFrom(403, { code: 7, message: "Denied", details: [info] });
    expect(told("Group", other)).toContain("\n  concerns: Group abc");
  });

  test("with documents that are not accepted", () => {
    const terms = detail("TermsNotAcceptedDetail", {
      missing: [{ id: "d-1", label: "Terms of use", url: "https://example.com/terms" }],
    });
    const error = errorFrom(400, { code: 9, message: "terms", details: [terms] });
    expect(error.errorCode).toBe("PP3406");
    expect(told("Repo", error)).toBe(
      [
        "updating thing: FAILED_PRECONDITION (HTTP 400): terms",
        "  not accepted: Terms of use (d-1) https://example.com/terms",
        '  read these documents, accept them with a TermsAcceptance with documentIds ["d-1"], and add it to dependsOn of this resource',
      ].join("\n"),
    );
  });
});

describe("advice", () => {
  test.each([
    [
      "404 without a resource",
      404,
      { code: 5, message: "Not Found", details: [] },
      "no such API endpoint: https://api.example.com/v2/iam/v2/identities/x; check platform:baseUrl (or PLATFORM_BASE_URL), which ends with the path /v2: leave the path out, or correct it",
    ],
    [
      "403",
      403,
      { code: 7, message: "m" },
      "the identity behind the token lacks a role there that grants this, or the parent does not exist; docs/least-privilege.md of the package says what each kind needs",
    ],
    [
      "429",
      429,
      { code: 8, message: "m" },
      "the server limits requests: lower platform:maxConcurrency, or run again later",
    ],
    [
      "503 with a page",
      503,
      htmlPage,
      "a proxy or load balancer responded at https://api.example.com/v2/iam/v2/identities/x in place of the API, which may pass; if it stays, check platform:baseUrl (or PLATFORM_BASE_URL)",
    ],
  ])("is given for %s", (_name, status, body, line) => {
    const lines = told("Group", errorFrom(status, body)).split("\n");
    expect(lines.slice(1)).toEqual([`  ${line}`]);
  });

  test.each([
    ["PLATFORM_TOKEN", "set a new one with PLATFORM_TOKEN"],
    ["platform:token", "set a new one with `pulumi config set --secret platform:token`"],
    ["platform:tokenFile", "write a new one into the file that platform:tokenFile names"],
  ])("is given for a token of %s", (credential, renewal) => {
    const refused = errorFrom(401, { code: 16, message: "m" }, {}, credential);
    expect(told("Group", refused)).toContain(
      `\n  https://api.example.com/v2 refuses the token of ${credential}: check that it is complete and for this API, or ${renewal}`,
    );
  });
});

test.each([
  [
    "of a parent that is not there",
    404,
    { parentUid: "abc" },
    [expect.stringMatching(/^parentUid: no Group that .* run pulumi up --refresh; doctor prints /)],
  ],
  ["of another object that is not there", 404, { parentUid: "other" }, []],
  ["of a root group", 404, {}, []],
  [
    "of a name that nobody knows",
    400,
    { capabilities: ["CAP_NO_SUCH"] },
    [expect.stringMatching(/^capabilities: /)],
  ],
  ["of what may not be done", 403, { parentUid: "abc" }, []],
])("what the program's own values say %s", (_name, status, inputs, advice) => {
  const code = { 400: 3, 403: 7, 404: 5 }[status];
  const info = detail("ResourceInfo", { resourceType: "Group", resourceName: "abc", description: "" });
  const error = errorFrom(status, { code, message: "m", details: [info] });
  expect(adviseOnRefusal(specOf("Role"), inputs, error)).toEqual(advice);
});

describe("what an error carries", () => {
  test("a sentence in place of a stack, since the engine prints it", () => {
    const errors = [
      new HandlerError("PP4008", "m"),
      new PartialFailure("PP4004", "id", {}, ["a", "b"]),
      explain(specOf("Group"), "what", new Error("m"), []),
      explain(specOf("Group"), "what", errorFrom(500, undefined), []),
    ];
    for (const error of errors) {
      expect(error.stack).toBe("see the error of the resource");
      expect(error).toBeInstanceOf(HandlerError);
      expect(`${error}: ${String(error.stack)}`).toMatch(/^\w+: see the error of the resource$/);
    }
  });

  test("no id, since the engine would store it as a created resource; a partial failure has one on purpose", async () => {
    const strange = Object.assign(new Error("m"), { id: "req-1", properties: {} });
    expect("id" in explain(specOf("Group"), "what", strange, [])).toBe(false);
    const partial = new PartialFailure("PP4004", "uid", { name: "a" }, ["first", "second"]);
    expect(partial).toMatchObject({ id: "uid", properties: { name: "a" }, reasons: ["first", "second"] });
    expect(partial.message).toBe("first\nsecond");
    // The engine prints the reasons, so the last of them ends with the code.
    const thrown = guardErrors(specOf("Group"), [], () => Promise.reject(partial));
    await expect(thrown).rejects.toMatchObject({ reasons: ["first", "second (PP4004)"] });
  });

  test.each([
    [
      "a connection",
      new ConnectionError("PP2103", "GET x: the connection was reset", "unknown", true),
      "GET x: the connection was reset",
    ],
    ["a setting", new ConfigError("PP2002", "PLATFORM_TOKEN is empty"), "PLATFORM_TOKEN is empty"],
    ["a bug", new RangeError("out of range"), "out of range"],
    ["something that is no error", "text", "unknown error"],
    ["nothing", undefined, "unknown error"],
  ])("what was done and the words of %s", (_name, error, words) => {
    const explained = explain(specOf("Group"), 'creating group "a"', error, []);
    expect(explained.message).toBe(`creating group "a": ${words}`);
  });
});
