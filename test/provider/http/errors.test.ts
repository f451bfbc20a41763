import type { ApiError } from "../../../provider/http/errors";
import { apiErrorFrom, isNotFound, ProxyError, toConnectionError } from "../../../provider/http/errors";
import { detail } from "../support/server";

const NOW = Date.parse("2026-01-01T00:00:00Z");

function errorFrom(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ApiError {
  const call = { method: "GET", path: "/iam/v2/groups/x", baseUrl: "https://api.example.com" };
  return apiErrorFrom(call, { status, body, now: NOW, header: (name) => headers[name] });
}

const NO_ENDPOINT =
  "; no such API endpoint: https://api.example.com/iam/v2/groups/x; check platform:baseUrl (or PLATFORM_BASE_URL)";

describe("the code of an error", () => {
  test.each([
    [1, 499, "CANCELLED", "PP3503"],
    [2, 500, "UNKNOWN", "PP3500"],
    [3, 400, "INVALID_ARGUMENT", "PP3400"],
    [4, 504, "DEADLINE_EXCEEDED", "PP3504"],
    [5, 404, "NOT_FOUND", "PP3404"],
    [6, 409, "ALREADY_EXISTS", "PP3409"],
    [7, 403, "PERMISSION_DENIED", "PP3403"],
    [8, 429, "RESOURCE_EXHAUSTED", "PP3429"],
    [9, 400, "FAILED_PRECONDITION", "PP3412"],
    [10, 409, "ABORTED", "PP3410"],
    [11, 400, "OUT_OF_RANGE", "PP3400"],
    [12, 501, "UNIMPLEMENTED", "PP3501"],
    [13, 500, "INTERNAL", "PP3500"],
    [14, 503, "UNAVAILABLE", "PP3503"],
    [15, 500, "DATA_LOSS", "PP3500"],
    [16, 401, "UNAUTHENTICATED", "PP3401"],
  ])("%i of the body with HTTP %i is %s (%s)", (code, status, name, errorCode) => {
    const error = errorFrom(status, { code, message: "m", details: [] });
    expect(error).toMatchObject({ code: name, errorCode, status, fromApi: true, serverMessage: "m" });
    expect(error.message).toBe(
      `GET /iam/v2/groups/x: ${name} (HTTP ${status}): m${name === "NOT_FOUND" ? NO_ENDPOINT : ""}`,
    );
  });

  test.each([
    [400, "INVALID_ARGUMENT"],
    [401, "UNAUTHENTICATED"],
    [403, "PERMISSION_DENIED"],
    [404, "UNIMPLEMENTED"],
    [405, "UNKNOWN"],
    [408, "UNAVAILABLE"],
    [409, "ABORTED"],
    [418, "UNKNOWN"],
    [425, "UNAVAILABLE"],
    [429, "RESOURCE_EXHAUSTED"],
    [500, "UNKNOWN"],
    [501, "UNIMPLEMENTED"],
    [502, "UNAVAILABLE"],
    [503, "UNAVAILABLE"],
    [504, "DEADLINE_EXCEEDED"],
  ])("HTTP %i of a proxy is taken as %s", (status, name) => {
    const numbers = [status, 17, -1, 1.5, NaN, "5"].map((code) => ({ code, message: "not the API's" }));
    for (const body of [undefined, null, "text", [], {}, { message: "no code" }, ...numbers]) {
      const error = errorFrom(status, body);
      const errorCode = { 401: "PP3401", 404: "PP3404" }[status] ?? "PP3407";
      expect(error).toMatchObject({ code: name, errorCode, status, fromApi: false });
      const address = "https://api.example.com/iam/v2/groups/x";
      const advice = [408, 425, 429, 500, 502, 503, 504].includes(status)
        ? `; a proxy or load balancer responded at ${address} in place of the API, which may pass; if it stays, check platform:baseUrl (or PLATFORM_BASE_URL)`
        : status === 401
          ? ""
          : `; another server, or a proxy, responds at ${address}: check platform:baseUrl (or PLATFORM_BASE_URL)`;
      expect(error.message).toBe(
        `GET /iam/v2/groups/x: ${name} (HTTP ${status}), and the response is not from the Platform API${status === 404 ? NO_ENDPOINT : advice}`,
      );
    }
  });
});

describe("details", () => {
  test("are read by the name that their type ends in", () => {
    const error = errorFrom(400, {
      code: 9,
      message: "Precondition failed: x",
      details: [
        detail("ErrorInfo", {
          reason: "FAILED_PRECONDITION",
          domain: "iam",
          metadata: { requestId: "r-1", n: 5 },
        }),
        detail("BadRequest", {
          fieldViolations: [
            { field: "name", description: "must match", reason: "X", localizedMessage: null },
            { field: "kind", localizedMessage: { locale: "en-GB", message: "not this one" } },
            null,
            "x",
          ],
        }),
        detail("PreconditionFailure", {
          violations: [{ type: "RESOURCE_NOT_EMPTY", subject: "s", description: "d" }],
        }),
        detail("ResourceInfo", {
          resourceType: "Group",
          resourceName: "abc",
          owner: "o",
          description: "gone",
        }),
        detail("RetryInfo", { retryDelay: "1.500s" }),
        {
          "@type": "TermsNotAcceptedDetail",
          missing: [{ id: "1", label: "Terms", url: "https://example.com" }],
        },
        { "@type": "example.com/Strange", x: 1 },
        { "@type": 5 },
        null,
        "text",
      ],
    });
    expect(error.details).toEqual({
      reason: "FAILED_PRECONDITION",
      requestId: "r-1",
      fieldViolations: [
        { field: "name", description: "must match" },
        { field: "kind", description: "not this one" },
        { field: "", description: "" },
        { field: "", description: "" },
      ],
      preconditions: [{ type: "RESOURCE_NOT_EMPTY", subject: "s", description: "d" }],
      resource: { resourceType: "Group", resourceName: "abc" },
      retryDelayMs: 1500,
      missingTerms: [{ id: "1", label: "Terms", url: "https://example.com" }],
    });
    expect(error.details.reason).toBe("FAILED_PRECONDITION");
    expect(error.requestId).toBe("r-1");
    expect(error.retryAfterMs).toBe(1500);
  });

  test("that are absent add nothing", () => {
    for (const details of [undefined, null, [], {}, "x"]) {
      const error = errorFrom(400, { code: 3, message: "m", details });
      expect(error.details).toEqual({
        reason: "",
        requestId: "",
        fieldViolations: [],
        preconditions: [],
        missingTerms: [],
      });
      expect(error).toMatchObject({ requestId: "", retryAfterMs: undefined });
    }
  });

  test("are bounded in number", () => {
    const violations = Array.from({ length: 1000 }, (_, i) => ({ field: `f${i}`, description: "d" }));
    const error = errorFrom(400, {
      code: 3,
      details: [detail("BadRequest", { fieldViolations: violations })],
    });
    expect(error.details.fieldViolations).toHaveLength(50);
  });

  test("use the request id of the header rather than the one in the metadata", () => {
    const body = { code: 3, details: [detail("ErrorInfo", { metadata: { requestId: "inner" } })] };
    expect(errorFrom(400, body, { "x-request-id": "outer" }).requestId).toBe("outer");
    expect(errorFrom(400, body).requestId).toBe("inner");
    expect(errorFrom(400, body, { "x-request-id": "a\nb".repeat(100) }).requestId).toMatch(
      /^a ba b.{90,} …$/,
    );
  });
});

describe("how long a server asks to wait", () => {
  test.each([
    ["seconds", { "retry-after": "7" }, 7000],
    ["parts of a second", { "retry-after": " 0.25 " }, 250],
    ["a date", { "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    ["a date that has passed", { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    ["the service's own header", { "grpc-metadata-retry-after": "3" }, 3000],
    ["a proxy's header first", { "retry-after": "1", "grpc-metadata-retry-after": "3" }, 1000],
    ["nothing readable", { "retry-after": "soon" }, undefined],
    ["nothing", {}, undefined],
  ])("is read from %s", (_name, headers, ms) => {
    expect(errorFrom(429, undefined, headers as Record<string, string>).retryAfterMs).toBe(ms);
  });

  test("is read from RetryInfo before any header", () => {
    const body = { code: 8, details: [detail("RetryInfo", { retryDelay: "2s" })] };
    expect(errorFrom(429, body, { "retry-after": "9" }).retryAfterMs).toBe(2000);
    for (const retryDelay of ["2", 2, "-2s", "2m", ""]) {
      const odd = { code: 8, details: [detail("RetryInfo", { retryDelay })] };
      expect(errorFrom(429, odd, { "retry-after": "9" }).retryAfterMs).toBe(9000);
    }
  });
});

describe("what an error means", () => {
  const resource = detail("ResourceInfo", { resourceType: "Group", resourceName: "x" });

  test("only a missing resource is not found; a wrong address is not", () => {
    expect(isNotFound(errorFrom(404, { code: 5, message: "m", details: [resource] }))).toBe(true);
    expect(isNotFound(errorFrom(404, { code: 5, message: "Not Found", details: [] }))).toBe(false);
    expect(isNotFound(errorFrom(404, undefined))).toBe(false);
    expect(isNotFound(errorFrom(404, { code: 3, details: [resource] }))).toBe(false);
    for (const other of [
      undefined,
      null,
      "x",
      { code: "NOT_FOUND", details: { resource: {} } },
      new Error("x"),
    ]) {
      expect(isNotFound(other)).toBe(false);
    }
  });
});

describe("a request without a response", () => {
  test.each([
    ["PP2101", "ECONNREFUSED"],
    ["PP2102", "ENOTFOUND"],
    ["PP2102", "EAI_AGAIN"],
    ["PP2103", "ECONNRESET"],
    ["PP2104", "ETIMEDOUT"],
    ["PP2103", "EUNHEARDOF", "the request failed (EUNHEARDOF)"],
    ["PP2103", undefined, "GET https://api.example.com/x: the request failed"],
    ["PP2105", "ERR_SSL_WRONG_VERSION_NUMBER", "the server does not speak TLS; check platform:baseUrl"],
    ["PP2105", "CERT_UNTRUSTED", ": check platform:baseUrl and the TLS configuration of the server"],
    ["PP2105", "CERT_HAS_EXPIRED", "its certificate has expired; renew it on the server, or check the clock"],
    ["PP2105", "DEPTH_ZERO_SELF_SIGNED_CERT", "if it is your own server, set NODE_EXTRA_CA_CERTS to"],
    ["PP2105", "ERR_TLS_CERT_ALTNAME_INVALID", "its certificate is for another host; check platform:baseUrl"],
    ["PP2106", ""],
  ])("has the code %s: %s", (errorCode, code, advice = "") => {
    const where = { baseUrl: "https://api.example.com", name: "the API", setting: "platform:baseUrl" };
    const cause = code === "" ? new ProxyError("the proxy refused the connection", false) : undefined;
    const failed = Object.assign(new Error("failed", { cause }), { code });
    expect(toConnectionError(where, failed, { method: "GET", path: "/x" })).toMatchObject({
      errorCode,
      message: expect.stringContaining(advice) as unknown,
    });
  });

  test.each([
    ["https://127.0.0.1", ": without a port it means 443; write another as in https://127.0.0.1:8443"],
    ["http://[::1]/v2", ": without a port it means 80; write another as in http://[::1]:8443"],
    ["https://127.0.0.1:8443", ": does the server run, and at port 8443?"],
  ])("names the port of %s where nothing listens", (baseUrl, advice) => {
    const failed = Object.assign(new Error("failed"), { code: "ECONNREFUSED" });
    const { message } = toConnectionError({ baseUrl, name: "the API", setting: "platform:baseUrl" }, failed, {
      method: "GET",
      path: "/x",
    });
    expect(message).toBe(
      `GET ${baseUrl}/x: connection refused (ECONNREFUSED); check platform:baseUrl${advice}`,
    );
  });
});
