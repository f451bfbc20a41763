import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../../emulator/gateway/fields";
import type { Call, ServiceResponse, Service } from "../../emulator/gateway/gateway";
import { Gateway } from "../../emulator/gateway/gateway";
import type { Method } from "../../emulator/gateway/routes";
import { invalidArgument, StatusError } from "../../emulator/gateway/status";
import { allMethods } from "../../emulator/tables";

interface WireCase {
  name: string;
  method: string;
  target: string;
  headers?: Record<string, string>;
  body?: string;
  bodyBase64?: string;
  contentBytes?: number;
  /** Which canned response the service returns; by default the plain one. */
  service?: string;
  status: number;
  responseHeaders?: Record<string, string>;
  response: unknown;
  /** What reached the service, if anything did. */
  rpc?: string;
  request?: unknown;
  mask?: string[];
}

const cases = readFileSync(join(__dirname, "wireCases.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as WireCase);

/** The first matching method is called; a method that matches any tail as a uid is registered first. */
const firstMethods: Record<string, string> = {
  "order/architectures-when-repos-are-registered-last": "registry.v2.ReposService/GetRepo",
};

function methodsFor({ name }: WireCase): readonly Method[] {
  const isFirst = ({ rpc }: Method) => rpc === firstMethods[name];
  return [...allMethods.filter(isFirst), ...allMethods.filter((method) => !isFirst(method))];
}

const time = "2026-01-28T12:54:21.189Z";

/** The response of the recorded services by default. */
function plainResponse({ method, request }: Call): Message {
  const { body, verb } = method;
  if (body === undefined) return verb === "GET" && request.uid !== undefined ? { uid: request.uid } : {};
  if (body === "*") return (request.identityMetadata ?? {}) as Message;
  const resource = { ...(request[body] as Message) };
  for (const field of ["createTime", "updateTime"]) {
    if (method.response.byName.has(field)) resource[field] ??= time;
  }
  if (verb === "POST") resource.uid = `${(request.parent ?? "") as string}/0123456789abcdef`;
  return resource;
}

const cannedResponses: Record<string, Message> = {
  big: { uid: "a/1", content: "x".repeat(5 * 1024 * 1024) },
  list2: {
    repos: [
      { uid: "a/1", name: "one", createTime: time },
      { uid: "a/2", name: "two" },
    ],
    nextPageToken: "CqQBV3lK+/==",
    skipped: 2,
    totalCount: "9007199254740993",
  },
  precision: {
    groups: [
      { uid: "s", createTime: "2026-01-02T03:04:05Z", updateTime: "2026-01-02T03:04:05.100Z" },
      { uid: "us", createTime: "2026-01-02T03:04:05.123456Z", updateTime: "2026-01-02T03:04:05.123456789Z" },
    ],
  },
  newenum: { uid: "a/1", catalogTier: 99 },
  identity: {
    uid: "a/1",
    name: "ci",
    lastSeenTime: time,
    claimMatch: { issuer: "https://i.test", subject: "<s>&" },
  },
  advisory: { uid: "a/1", advisoryId: "CGA-x", events: [{ findings: "//4A", fixed: { fixedVersion: "1" } }] },
  github: {
    uid: "a",
    name: "g",
    github: { appInstallations: { "12345": { installations: [{ installationId: "9007199254740993" }] } } },
  },
  token: { token: "tok", expiry: time },
};

const cannedErrors: Record<string, () => StatusError> = {
  badrequest: () => invalidArgument([{ field: "name", description: 'name must match "^[a-z0-9 ._-]{1,}$"' }]),
  terms: () =>
    new StatusError(9, "terms not accepted", [
      {
        "@type": "type.googleapis.com/chainguard.platform.iam.v2.TermsNotAcceptedDetail",
        missing: [{ id: "guardener-tos.v1", label: "Terms of Service", url: "https://example.test/tos" }],
      },
    ]),
  retryinfo: () =>
    new StatusError(8, "slow down", [
      { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1.500s" },
    ]),
  retryheader: () => new StatusError(8, "slow down", [], { "Grpc-Metadata-Retry-After": "7" }),
  unknownany: () => new StatusError(5, "lost", [{ "@type": "type.googleapis.com/unknown.Detail" }]),
};

class StubService implements Service {
  seen: Call | undefined;

  constructor(private readonly canned: string | undefined) {}

  call(call: Call): ServiceResponse | Promise<ServiceResponse> {
    this.seen = call;
    const [kind, which = ""] = (this.canned ?? "").split(":");
    if (kind === "err") throw cannedErrors[which]?.() ?? new StatusError(Number(which), `message ${which}`);
    return { message: this.canned === undefined ? plainResponse(call) : cannedResponses[this.canned]! };
  }
}

function bodyOf(wireCase: WireCase): Buffer {
  if (wireCase.bodyBase64 !== undefined) return Buffer.from(wireCase.bodyBase64, "base64");
  if (wireCase.contentBytes !== undefined) {
    return Buffer.from(JSON.stringify({ content: "x".repeat(wireCase.contentBytes) }));
  }
  return Buffer.from(wireCase.body ?? "");
}

/**
 * A response without what no client may read: the text of what the gateway itself refuses, and how it measures a message.
 */
function withoutWording(response: unknown, { rpc, status }: WireCase): unknown {
  if (typeof response !== "object" || response === null || !("message" in response)) return response;
  const message = String(response.message);
  if (rpc === undefined && status === 400) return { ...response, message: message === "" ? "" : "any" };
  return { ...response, message: message.replace(/larger than max \(\d+ vs\. /, "larger than max (N vs. ") };
}

describe("the gateway returns the recorded responses, and forwards the recorded calls", () => {
  for (const wireCase of cases) {
    test(wireCase.name, async () => {
      const service = new StubService(wireCase.service);
      const gateway = new Gateway(methodsFor(wireCase), service, { matchesRecording: true });
      const response = await gateway.handle({
        method: wireCase.method,
        target: wireCase.target,
        headers: wireCase.headers ?? {},
        body: bodyOf(wireCase),
      });

      expect(service.seen?.method.rpc).toEqual(wireCase.rpc);
      if (wireCase.rpc !== undefined) {
        expect(service.seen?.request).toEqual(wireCase.request);
        expect(service.seen?.updateMask).toEqual(wireCase.mask);
      }
      expect(response.status).toBe(wireCase.status);
      const isJson = response.headers["Content-Type"] === "application/json" && response.body !== "";
      const received: unknown = isJson ? JSON.parse(response.body) : response.body;
      expect(withoutWording(received, wireCase)).toEqual(withoutWording(wireCase.response, wireCase));
      const headers = new Map(
        Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]),
      );
      for (const [name, value] of Object.entries(wireCase.responseHeaders ?? {})) {
        expect(headers.get(name.toLowerCase())).toBe(value);
      }
    });
  }
});
