import { unescape } from "node:querystring";
import type { Message } from "./fields";
import {
  checkSize,
  decodePercent,
  hasBadEscape,
  invalidUtf8,
  maxMessageBytes,
  readCall,
  splitTarget,
} from "./request";
import { errorResponse, renderMessage } from "./response";
import type { Match, Method } from "./routes";
import { Routes } from "./routes";
import { Code, StatusError } from "./status";

export interface GatewayRequest {
  readonly method: string;
  /** Path and query, still encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface GatewayResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A call of a method of a service. */
export interface Call {
  readonly method: Method;
  /** The decoded request without its field mask. */
  readonly request: Message;
  /** Paths of the field mask; undefined without one. */
  readonly updateMask?: readonly string[];
  /** The source of the mask. */
  readonly maskSource: "query" | "body" | "inferred";
  readonly authorization?: string;
}

export interface ServiceResponse {
  readonly message: Message;
  /** Top-level fields to return; all by default. */
  readonly onlyFields?: ReadonlySet<string>;
}

export interface Service {
  /** @throws StatusError */
  call(call: Call): ServiceResponse | Promise<ServiceResponse>;
}

export interface GatewayOptions {
  /** Respond as the recorded gateway: `{}` to a DELETE, 0 to 9 digits in timestamps. */
  readonly matchesRecording: boolean;
  /** Read for each response, because it may change while the gateway runs. */
  readonly settings?: { readonly omitEmpty: boolean };
}

/** What the gateway decoded from a request, for the log. */
export interface Trace {
  rpc?: string;
  updateMask?: readonly string[];
  ignoreMask?: boolean;
}

/** The HTTP/JSON front of the services: addresses, decoding, field masks, responses and errors. */
export class Gateway {
  private readonly routes: Routes;

  constructor(
    methods: readonly Method[],
    private readonly service: Service,
    private readonly options: GatewayOptions,
  ) {
    this.routes = new Routes(methods);
  }

  async handle(request: GatewayRequest, trace: Trace = {}): Promise<GatewayResponse> {
    try {
      return await this.route(request, trace);
    } catch (error) {
      return errorResponse(error, request.method, this.options.settings);
    }
  }

  private async route(request: GatewayRequest, trace: Trace): Promise<GatewayResponse> {
    const [rawPath, rawQuery] = splitTarget(request.target);
    if (hasBadEscape(rawPath) || !rawPath.startsWith("/")) {
      return {
        status: 400,
        headers: { "Content-Type": "text/plain; charset=utf-8", Connection: "close" },
        body: "400 Bad Request",
      };
    }

    const path = decodePercent(rawPath);
    const match = this.findMatch(request, path ?? unescape(rawPath));
    trace.rpc = match.method.rpc;
    const call = readCall({
      match,
      rawQuery,
      body: request.body,
      isForm: isForm(request),
      ignoreMask: trace.ignoreMask ?? false,
    });
    if (path === undefined) throw invalidUtf8();
    trace.updateMask = call.updateMask;
    const authorization = firstHeader(request, "authorization");
    return this.render(await this.service.call({ ...call, authorization }), match.method);
  }

  /** A form may name another HTTP method in a header, and may also be sent to a GET. */
  private findMatch(request: GatewayRequest, path: string): Match {
    const isFormRequest = isForm(request);
    const override = isFormRequest ? firstHeader(request, "x-http-method-override") : undefined;
    const verb = override?.toUpperCase() ?? request.method;
    const match = this.routes.find(verb, path);
    if (match) return match;
    const other = this.routes.findWithOtherVerb(verb, path);
    if (!other) throw new StatusError(Code.notFound, "Not Found");
    if (isFormRequest && other.method.verb === "GET") return other;
    throw new StatusError(Code.unimplemented, "Method Not Allowed");
  }

  private render({ message, onlyFields }: ServiceResponse, method: Method): GatewayResponse {
    const headers = { "Content-Type": "application/json", "Grpc-Metadata-Content-Type": "application/grpc" };
    if (method.verb === "DELETE" && !this.options.matchesRecording) return { status: 200, headers, body: "" };
    const response = renderMessage(message, method.response, {
      milliseconds: !this.options.matchesRecording,
      onlyFields,
      omitEmpty: this.options.settings?.omitEmpty,
    });
    const body = JSON.stringify(response);
    if (body.length > maxMessageBytes) checkSize(message);
    return { status: 200, headers, body };
  }
}

function isForm(request: GatewayRequest): boolean {
  return (
    request.method === "POST" && firstHeader(request, "content-type") === "application/x-www-form-urlencoded"
  );
}

function firstHeader(request: GatewayRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
