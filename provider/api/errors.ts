import { codeOfNumber, codeOfStatus } from "./errorCodes";
import type { Code } from "./errorCodes";
import { printableText, readDetails, recordOf } from "./errorDetails";
import type { ErrorDetails } from "./errorDetails";
import { printable } from "./printable";

export type { Code } from "./errorCodes";
export type { ErrorDetails } from "./errorDetails";
export { printable } from "./printable";

interface RequestLine {
  readonly method: string;
  /** Path only: a query may hold what nobody should read in a log. */
  readonly path: string;
}

/** The API, or a proxy before it, responded with an error. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly method: string;
  readonly path: string;
  /** The HTTP status. */
  readonly status: number;
  /** The google.rpc code by name; the body's where it has one, else what the status says. */
  readonly code: Code;
  /** The reason of the ErrorInfo; empty where there is none. */
  readonly reason: string;
  readonly details: ErrorDetails;
  /** The message of the body; empty where the body is not the API's. */
  readonly serverMessage: string;
  readonly requestId: string;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Whether the body has the API's form; false for a page of a proxy. */
  readonly fromApi: boolean;

  constructor(
    call: RequestLine,
    response: {
      status: number;
      code: Code;
      message: string;
      details: ErrorDetails;
      requestId: string;
      retryAfterMs: number | undefined;
      fromApi: boolean;
    },
  ) {
    super(describe(call, response));
    this.method = call.method;
    this.path = call.path;
    this.status = response.status;
    this.code = response.code;
    this.details = response.details;
    this.reason = response.details.errorInfo?.reason ?? "";
    this.serverMessage = response.message;
    this.requestId = response.requestId;
    this.retryAfterMs = response.retryAfterMs;
    this.fromApi = response.fromApi;
  }
}

function describe(
  call: RequestLine,
  response: { status: number; code: Code; message: string; fromApi: boolean; requestId: string },
): string {
  const what = `${call.method} ${printable(call.path)}: ${response.code} (HTTP ${response.status})`;
  if (!response.fromApi) return `${what}, and the response is not from the Platform API`;
  return response.message === "" ? what : `${what}: ${response.message}`;
}

/** The request got no usable response. `outcome` says whether it may have taken effect. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code = "CONNECTION";
  /** `notSent`: it was never sent. `unknown`: it may have been carried out. */
  readonly outcome: "notSent" | "unknown";
  /** Whether asking again may help. */
  readonly isTransient: boolean;
  /** Whether it was the encryption that failed, not the way to the server. */
  readonly isTls: boolean;

  constructor(message: string, outcome: "notSent" | "unknown", isTransient: boolean, isTls = false) {
    super(message);
    this.outcome = outcome;
    this.isTransient = isTransient;
    this.isTls = isTls;
  }
}

/** A setting is missing or wrong. The message names it and says what to write. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  /** @param code `CREDENTIAL` where it is the credential itself. */
  constructor(
    message: string,
    readonly code: "CONFIG" | "CREDENTIAL" = "CONFIG",
  ) {
    super(message);
  }
}

/** A credential was refused, or cannot be exchanged. The message names its source and says what to look at. */
export class AuthenticationError extends Error {
  override readonly name = "AuthenticationError";
  readonly code = "AUTHENTICATION";
}

/** Whether an error is one of the API with this code, as in `ABORTED`, or got no response: `CONNECTION`. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === code;
}

function isApiError(error: unknown): error is ApiError {
  return error instanceof Error && error.name === "ApiError";
}

/** A missing resource: code NOT_FOUND *with* a ResourceInfo. A wrong address has none. */
export function isNotFound(error: unknown): boolean {
  return isApiError(error) && error.code === "NOT_FOUND" && error.details.resource !== undefined;
}

export function isPermissionDenied(error: unknown): boolean {
  return hasCode(error, "PERMISSION_DENIED");
}

export function isInvalidArgument(error: unknown): boolean {
  return hasCode(error, "INVALID_ARGUMENT");
}

export function isFailedPrecondition(error: unknown): boolean {
  return hasCode(error, "FAILED_PRECONDITION");
}

/** A message over 4 MiB, in either direction: the same request gets the same response. */
export function isTooLarge(error: unknown): boolean {
  return (
    hasCode(error, "RESOURCE_EXHAUSTED") && isApiError(error) && /larger than max/i.test(error.serverMessage)
  );
}

/** Whether a request that failed so may have been carried out. */
export function hasUnknownOutcome(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === "unknown";
  if (!isApiError(error)) return false;
  if (error.status >= 500) return error.code !== "UNIMPLEMENTED";
  return error.code === "UNAVAILABLE" || error.code === "ABORTED" || error.code === "CANCELLED";
}

/** Milliseconds that a `Retry-After` asks for: seconds or an HTTP date. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The only place that makes an ApiError: from a response whose status is not 2xx. `body` is parsed JSON or undefined. */
export function apiErrorFrom(
  call: RequestLine,
  response: { status: number; header: (name: string) => string | undefined; body: unknown; now: number },
): ApiError {
  const body = recordOf(response.body);
  const fromApi = typeof body["code"] === "number";
  const details = readDetails(body["details"]);
  const code = fromApi ? codeOfNumber(body["code"] as number) : codeOfStatus(response.status);
  return new ApiError(call, {
    status: response.status,
    code,
    message: printableText(body["message"]),
    details,
    requestId: printable(
      response.header("x-request-id") ?? details.errorInfo?.metadata["requestId"] ?? "",
      100,
    ),
    retryAfterMs:
      details.retryDelayMs ??
      retryAfter(
        response.header("retry-after") ?? response.header("grpc-metadata-retry-after"),
        response.now,
      ),
    fromApi,
  });
}
