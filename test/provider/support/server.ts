import { createServer } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TokenSource } from "../../../provider/http/tokens";
import { Client } from "../../../provider/http/client";
import type { ClientOptions } from "../../../provider/http/client";

/** A request as it arrived. */
export interface Recorded {
  readonly method: string;
  /** As it was sent: percent-encoding untouched, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** As it was sent. */
  readonly rawQuery: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed text; undefined where there is none. */
  readonly body: unknown;
  /** When it arrived, in milliseconds. */
  readonly at: number;
}

export interface Reply {
  readonly status?: number;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it stands. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `before`: the connection is cut without an answer. `within`: in the middle of one. */
  readonly cut?: "before" | "within";
  /** Never answers. */
  readonly silent?: true;
  /** Sends a byte every few milliseconds and never ends. */
  readonly drips?: true;
  /** Answers when this is done. */
  readonly after?: Promise<unknown>;
}

export type Replier = (request: Recorded, count: number) => Reply;

/** On a busy machine a test may wait longer than the five seconds after which Node closes a connection that is to be used again. */
const SETTINGS = { keepAliveTimeout: 60_000 };

/** A server on this host that answers as a test says and records what it was asked. */
export class ScriptedServer {
  readonly requests: Recorded[] = [];
  /** How many connections were opened. */
  connections = 0;
  /** The most requests that were under way at once. */
  mostAtOnce = 0;
  private underWay = 0;
  private replier: Replier = () => ({ status: 599, text: "unexpected" });

  private constructor(private readonly server: Server) {}

  static start(): Promise<ScriptedServer> {
    return new ScriptedServer(createServer(SETTINGS)).listen();
  }

  /** One for all tests of a file: call in its body. */
  static ofSuite(): ScriptedServer {
    const scripted = new ScriptedServer(createServer(SETTINGS));
    beforeAll(() => scripted.listen());
    afterAll(() => scripted.close());
    return scripted;
  }

  private async listen(): Promise<this> {
    this.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.serve(request, response);
    });
    this.server.on("connection", () => (this.connections += 1));
    await new Promise<void>((done) => this.server.listen(0, "127.0.0.1", done));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** One reply a request, in this order, or whatever a function says. Forgets what was recorded. */
  script(replies: readonly Reply[] | Replier): this {
    this.requests.length = 0;
    this.mostAtOnce = 0;
    this.replier =
      typeof replies === "function"
        ? replies
        : (request, count) =>
            replies[count] ?? { status: 599, text: `unexpected ${request.method} ${request.path}` };
    return this;
  }

  /** What was asked, as in `GET /iam/v2/groups`. */
  get calls(): string[] {
    return this.requests.map(({ method, path }) => `${method} ${path}`);
  }

  /** Waits until so many requests have come. */
  async arrived(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise(setImmediate);
  }

  last(): Recorded {
    const request = this.requests.at(-1);
    if (!request) throw new Error("nothing was asked");
    return request;
  }

  async close(): Promise<void> {
    const closed = new Promise((done) => this.server.close(done));
    this.server.closeAllConnections();
    await closed;
  }

  private serve(request: IncomingMessage, response: ServerResponse): void {
    this.underWay += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.underWay);
    response.on("close", () => (this.underWay -= 1));
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    request.on("end", () => {
      const [path = "", rawQuery = ""] = (request.url ?? "").split(/\?(.*)/s);
      const recorded: Recorded = {
        method: request.method ?? "",
        path,
        rawQuery,
        query: new URLSearchParams(rawQuery),
        headers: request.headers,
        text,
        body: parsed(text),
        at: performance.now(),
      };
      const reply = this.replier(recorded, this.requests.push(recorded) - 1);
      void Promise.resolve(reply.after).then(() => answer(reply, request, response));
    });
  }
}

/** The JSON of a text; undefined for a form. */
function parsed(text: string): unknown {
  return /^\s*[[{"]/.test(text) ? (JSON.parse(text) as unknown) : undefined;
}

function answer(reply: Reply, request: IncomingMessage, response: ServerResponse): void {
  if (reply.silent) return;
  if (reply.cut === "before") {
    request.socket.destroy();
    return;
  }
  if (reply.drips) {
    response.writeHead(200, { "Content-Type": "application/json" });
    const timer = setInterval(() => response.write(" "), 5);
    response.on("close", () => clearInterval(timer));
    return;
  }
  const isJson = reply.text === undefined;
  const text = reply.text ?? JSON.stringify(reply.json ?? {});
  response.writeHead(reply.status ?? 200, {
    "Content-Type": isJson ? "application/json" : "text/html",
    ...(reply.cut === "within" ? { "Content-Length": String(text.length + 100) } : {}),
    ...reply.headers,
  });
  if (reply.cut === "within") {
    response.write(text, () => request.socket.destroy());
    return;
  }
  response.end(text);
}

const HTTP_STATUS: Readonly<Record<number, number>> = {
  1: 499,
  3: 400,
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  8: 429,
  9: 400,
  10: 409,
  11: 400,
  12: 501,
  14: 503,
  16: 401,
};

/** An error in the API's form. */
export function failure(code: number, message: string, ...details: Record<string, unknown>[]): Reply {
  return { status: HTTP_STATUS[code] ?? 500, json: { code, message, details } };
}

/** A typed detail of an error. */
export function detail(type: string, members: Record<string, unknown>): Record<string, unknown> {
  return { "@type": `type.googleapis.com/google.rpc.${type}`, ...members };
}

/** A missing resource. */
export function missing(uid: string): Reply {
  const info = detail("ResourceInfo", {
    resourceType: "Thing",
    resourceName: uid,
    owner: "",
    description: "",
  });
  return failure(5, `Not found: ${uid}`, info);
}

/** The answer to an address that the API does not have. */
export const wrongAddress: Reply = { status: 404, json: { code: 5, message: "Not Found", details: [] } };

export const htmlPage = "<html><body><h1>502 Bad Gateway</h1></body></html>";

/** A text that must turn up nowhere but in the header that carries it. */
export const TOKEN = "canary-token-3141592653";

/** A source of tokens that never has another one, unless told so. */
export function tokensOf(token: TokenSource["token"], more: Partial<TokenSource> = {}): TokenSource {
  return { token, renew: () => Promise.resolve(false), ...more };
}

/** A client of a server that repeats nothing unless told so. */
export function clientOf(
  { url, token = TOKEN }: { readonly url: string; readonly token?: string },
  options: Partial<ClientOptions> = {},
): Client {
  return new Client({
    baseUrl: url,
    timeoutMs: 60_000,
    maxRetries: 0,
    maxConcurrency: 8,
    tokens: tokensOf(() => Promise.resolve(token)),
    policy: { firstDelayMs: 1, maxDelayMs: 2, maxServerDelayMs: 5000 },
    ...options,
  });
}

/** A promise that a test keeps. */
export function promised(): { readonly promise: Promise<void>; readonly keep: () => void } {
  let keep = (): void => undefined;
  const promise = new Promise<void>((resolve) => (keep = resolve));
  return { promise, keep: () => keep() };
}

/** The error that a promise ends in. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("value" in outcome) throw new Error(`expected an error, not ${JSON.stringify(outcome.value)}`);
  if (!(outcome.error instanceof Error)) throw new Error("what was thrown is no Error");
  return outcome.error;
}
