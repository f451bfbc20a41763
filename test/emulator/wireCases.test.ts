import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../../emulator/gateway/descriptor";
import type { Call, Reply, Service } from "../../emulator/gateway/gateway";
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
  /** Which canned answer the service gave; without it the plain one. */
  service?: string;
  status: number;
  answerHeaders?: Record<string, string>;
  answer: unknown;
  /** What reached the service, if anything did. */
  rpc?: string;
  request?: unknown;
  mask?: string[];
}

const cases = readFileSync(join(__dirname, "wireCases.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as WireCase);

/** The first method that fits answers: here one that takes any tail as a uid was registered so that it is asked first. */
const askedFirst: Record<string, string> = {
  "order/architectures-when-repos-are-registered-last": "registry.v2.ReposService/GetRepo",
};

function methodsFor({ name }: WireCase): readonly Method[] {
  const isFirst = ({ rpc }: Method) => rpc === askedFirst[name];
  return [...allMethods.filter(isFirst), ...allMethods.filter((method) => !isFirst(method))];
}

const time = "2026-01-28T12:54:21.189Z";

/** What the recorded services answered when nothing else was asked of them. */
function plainAnswer({ method, request }: Call): Message {
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

const cannedAnswers: Record<string, Message> = {
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

  call(call: Call): Reply | Promise<Reply> {
    this.seen = call;
    const [kind, which = ""] = (this.canned ?? "").split(":");
    if (which === "slow") return new Promise<Reply>(() => undefined);
    if (kind === "err") throw cannedErrors[which]?.() ?? new StatusError(Number(which), `message ${which}`);
    return { message: this.canned === undefined ? plainAnswer(call) : cannedAnswers[this.canned]! };
  }
}

function bodyOf(wireCase: WireCase): Buffer {
  if (wireCase.bodyBase64 !== undefined) return Buffer.from(wireCase.bodyBase64, "base64");
  if (wireCase.contentBytes !== undefined) {
    return Buffer.from(JSON.stringify({ content: "x".repeat(wireCase.contentBytes) }));
  }
  return Buffer.from(wireCase.body ?? "");
}

describe("the gateway answers what was recorded, and passes on what was seen", () => {
  for (const wireCase of cases) {
    test(wireCase.name, async () => {
      const service = new StubService(wireCase.service);
      const gateway = new Gateway(methodsFor(wireCase), service, { recorded: true });
      const answer = await gateway.handle({
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
      expect(answer.status).toBe(wireCase.status);
      const isJson = answer.headers["Content-Type"] === "application/json" && answer.body !== "";
      expect(isJson ? JSON.parse(answer.body) : answer.body).toEqual(wireCase.answer);
      const headers = new Map(
        Object.entries(answer.headers).map(([name, value]) => [name.toLowerCase(), value]),
      );
      for (const [name, value] of Object.entries(wireCase.answerHeaders ?? {})) {
        expect(headers.get(name.toLowerCase())).toBe(value);
      }
    });
  }
});
