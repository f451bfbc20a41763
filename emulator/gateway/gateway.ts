import { isUtf8 } from "node:buffer";
import type { Field, Message, MessageType } from "./descriptor";
import { newMessage, unset } from "./descriptor";
import { decodeMessage } from "./decode";
import { inferMask, UnknownFieldError } from "./fieldMask";
import { decodePercent } from "./percent";
import type { QueryPair } from "./query";
import { applyQuery, parseQuery, QueryError } from "./query";
import { renderMessage } from "./render";
import type { Match, Method } from "./routes";
import { Routes } from "./routes";
import { Code, httpStatusOf, knownDetailTypes, StatusError } from "./status";
import type { JsonNode } from "./strictJson";
import { JsonError, readJson } from "./strictJson";
import { maskSize, maxMessageBytes, wireSize } from "./wireSize";

export interface GatewayRequest {
  readonly method: string;
  /** Path and query as they came, still encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface GatewayAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What reaches a service. */
export interface Call {
  readonly method: Method;
  /** The decoded request without its field mask. */
  readonly request: Message;
  /** Paths of the field mask; undefined where the method has none or got none. */
  readonly updateMask?: readonly string[];
  /** Where the mask came from. */
  readonly maskSource: "query" | "body" | "inferred";
  readonly authorization?: string;
}

export interface Reply {
  readonly message: Message;
  /** Answer these top-level fields only. */
  readonly only?: ReadonlySet<string>;
}

export interface Service {
  /** @throws StatusError */
  call(call: Call): Reply | Promise<Reply>;
}

export interface GatewayOptions {
  /** The right-hand column of contract, section 13: `{}` for a DELETE, 0 to 9 digits in timestamps. */
  readonly recorded: boolean;
  /** Read for each answer: it may be switched while the gateway runs. */
  readonly settings?: { readonly omitEmpty: boolean };
}

/** Tells what a request turned into, for the log. */
export interface Trace {
  rpc?: string;
  updateMask?: readonly string[];
  ignoreMask?: boolean;
}

/** The HTTP/JSON front of the services: addresses, decoding, field masks, the form of answers and errors. */
export class Gateway {
  private readonly routes: Routes;

  constructor(
    methods: readonly Method[],
    private readonly service: Service,
    private readonly options: GatewayOptions,
  ) {
    this.routes = new Routes(methods);
  }

  async handle(request: GatewayRequest, trace: Trace = {}): Promise<GatewayAnswer> {
    try {
      return await this.route(request, trace);
    } catch (error) {
      return errorAnswer(asStatus(error), request.method, this.options.settings);
    }
  }

  private async route(request: GatewayRequest, trace: Trace): Promise<GatewayAnswer> {
    const cut = request.target.indexOf("?");
    const rawPath = cut < 0 ? request.target : request.target.slice(0, cut);
    const rawQuery = cut < 0 ? "" : request.target.slice(cut + 1);
    const path = decodePercent(rawPath, false);
    if ("badEscape" in path || !rawPath.startsWith("/")) {
      return {
        status: 400,
        headers: { "Content-Type": "text/plain; charset=utf-8", Connection: "close" },
        body: "400 Bad Request",
      };
    }

    const form = isForm(request);
    const override = form ? headerOf(request, "x-http-method-override") : undefined;
    const verb = override?.toUpperCase() ?? request.method;
    let match = this.routes.find(verb, path.text);
    if (!match) {
      const other = match === false ? undefined : this.routes.findOther(verb, path.text);
      if (!other) throw new StatusError(Code.notFound, "Not Found");
      if (!form || other.method.verb !== "GET")
        throw new StatusError(Code.unimplemented, "Method Not Allowed");
      match = other;
    }
    trace.rpc = match.method.rpc;
    const call = readCall(match, request, rawQuery, form, path.broken, trace);
    trace.updateMask = call.updateMask;
    const reply = await withDeadline(headerOf(request, "grpc-timeout"), () => this.service.call(call));
    return this.answer(reply, match.method);
  }

  private answer(reply: Reply, method: Method): GatewayAnswer {
    const headers = { "Content-Type": "application/json", "Grpc-Metadata-Content-Type": "application/grpc" };
    if (method.empty && !this.options.recorded) return { status: 200, headers, body: "" };
    const answer = renderMessage(reply.message, method.response, {
      milliseconds: !this.options.recorded,
      only: reply.only,
      omitEmpty: this.options.settings?.omitEmpty,
    });
    const body = JSON.stringify(answer);
    if (body.length > maxMessageBytes) refuseLarge(wireSize(reply.message, method.response));
    return { status: 200, headers, body };
  }
}

function readCall(
  { method, values }: Match,
  request: GatewayRequest,
  rawQuery: string,
  form: boolean,
  pathBroken: boolean,
  trace: Trace,
): Call {
  let message = newMessage();
  let updateMask: string[] | undefined;
  let maskSource: Call["maskSource"] = "inferred";
  const maskField = method.request.fields.find((field) => field.type.kind === "fieldMask");

  if (method.body !== undefined) {
    const { node, text } = readBody(request.body);
    const field = method.body === "*" ? undefined : method.request.byName.get(method.body);
    const type = field ? messageOf(field) : method.request;
    const decoded = node ? decodeMessage(node, type, text) : newMessage();
    if (!field) {
      message = decoded;
      if (maskField && message[maskField.name] !== undefined) {
        updateMask = message[maskField.name] as string[];
        maskSource = "body";
      }
    } else {
      message[field.name] = decoded;
      if (maskField) updateMask = node ? inferMask(node, type) : [];
    }
  }

  if (method.body !== "*") {
    const pairs = queryPairs(rawQuery, form, request.body);
    const bound = new Set(values.map(({ path }) => path[0] ?? ""));
    if (method.body !== undefined) bound.add(method.body);
    const outcome = applyQuery(pairs, method.request, message, bound);
    if (outcome.broken) throw invalidUtf8();
    if (outcome.mask && maskField && !trace.ignoreMask) {
      updateMask = outcome.mask.replaces
        ? [...outcome.mask.paths]
        : [...(updateMask ?? []), ...outcome.mask.paths];
      maskSource = "query";
    }
  }

  if (maskField) unset(message, maskField.name);
  for (const { path, value } of values) {
    if (pathBroken && value.includes("\ufffd")) throw invalidUtf8();
    setPath(message, path, value);
  }
  if (request.body.length > maxMessageBytes / 4) {
    refuseLarge(wireSize(message, method.request) + (updateMask ? maskSize(updateMask) : 0));
  }
  return {
    method,
    request: message,
    updateMask,
    maskSource,
    authorization: headerOf(request, "authorization"),
  };
}

function readBody(body: Buffer): { node: JsonNode | undefined; text: string } {
  const text = body.toString("utf8");
  return { node: readJson(text, !isUtf8(body)), text };
}

function queryPairs(rawQuery: string, form: boolean, body: Buffer): QueryPair[] {
  const pairs = parseQuery(rawQuery);
  if (!form) return pairs;
  // A form body is read as more parameters, but a JSON text in it is none of ours to complain about.
  const text = body.toString("utf8");
  return /^\s*[{[]/.test(text) ? pairs : [...parseQuery(text), ...pairs];
}

function messageOf(field: Field): MessageType {
  if (field.type.kind !== "message") throw new Error(`${field.name} is not a message`);
  return field.type.type;
}

function setPath(message: Message, path: readonly string[], value: string): void {
  const [first = "", ...rest] = path;
  if (rest.length > 0) {
    message[first] ??= newMessage();
    setPath(message[first] as Message, rest, value);
  } else if (value === "") {
    unset(message, first);
  } else {
    message[first] = value;
  }
}

function refuseLarge(size: number): void {
  if (size > maxMessageBytes) {
    throw new StatusError(
      Code.resourceExhausted,
      `grpc: received message larger than max (${size} vs. ${maxMessageBytes})`,
    );
  }
}

function invalidUtf8(): StatusError {
  return new StatusError(Code.internal, "grpc: error while marshaling: string field contains invalid UTF-8");
}

const timeoutUnits: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

async function withDeadline(header: string | undefined, run: () => Reply | Promise<Reply>): Promise<Reply> {
  if (header === undefined) return run();
  const found = /^([0-9]{1,8})([HMSmun])$/.exec(header);
  if (!found) throw new StatusError(Code.invalidArgument, `invalid grpc-timeout: ${header}`);
  const limit = Number(found[1]) * (timeoutUnits[found[2] ?? ""] ?? 0);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new StatusError(Code.deadlineExceeded, "context deadline exceeded")),
      limit,
    );
  });
  try {
    return await Promise.race([Promise.resolve().then(run), deadline]);
  } finally {
    clearTimeout(timer);
  }
}

function isForm(request: GatewayRequest): boolean {
  return (
    request.method === "POST" && headerOf(request, "content-type") === "application/x-www-form-urlencoded"
  );
}

function headerOf(request: GatewayRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function asStatus(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof JsonError || error instanceof QueryError || error instanceof UnknownFieldError) {
    return new StatusError(Code.invalidArgument, error.message);
  }
  return new StatusError(Code.internal, error instanceof Error ? error.message : String(error));
}

/** The members of an error that hold something. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const isEmpty = (member: unknown) =>
    Array.isArray(member) ? member.length === 0 : member === null || member === "" || member === 0;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (isEmpty(member) ? [] : [[key, withoutEmpty(member)]])),
  );
}

/** @param verb an answer to HEAD has no body. */
export function errorAnswer(
  error: StatusError,
  verb = "GET",
  { omitEmpty } = { omitEmpty: false },
): GatewayAnswer {
  const headers: Record<string, string> = { "Content-Type": "application/json", ...error.headers };
  if (error.code === Code.unauthenticated) headers["WWW-Authenticate"] = error.message;
  if (error.details.some((detail) => !knownDetailTypes.has(detail["@type"]))) {
    const body = JSON.stringify({ code: Code.internal, message: "failed to marshal error message" });
    return { status: 500, headers: { "Content-Type": "application/json" }, body };
  }
  const whole = { code: error.code, message: error.message, details: error.details };
  const body = JSON.stringify(omitEmpty ? withoutEmpty(whole) : whole);
  return { status: httpStatusOf(error.code), headers, body: verb === "HEAD" ? "" : body };
}
