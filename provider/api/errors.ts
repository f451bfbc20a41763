import { maskCredentials } from "./credentials";
import { logLine } from "./logText";

/** Names of the google.rpc codes, by number. */
const CODE_NAMES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

export type Code = (typeof CODE_NAMES)[number];

/** The code to take where an answer has a status only: a proxy's, not the API's. */
function codeOfStatus(status: number): Code {
  const known: Record<number, Code> = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "UNIMPLEMENTED",
    408: "UNAVAILABLE",
    409: "ABORTED",
    425: "UNAVAILABLE",
    429: "RESOURCE_EXHAUSTED",
    501: "UNIMPLEMENTED",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
  };
  return known[status] ?? "UNKNOWN";
}

export interface FieldViolation {
  readonly field: string;
  readonly description: string;
  readonly reason: string;
  /** In the language of its locale; absent where the server has none. */
  readonly localizedMessage?: { readonly locale: string; readonly message: string };
}

export interface PreconditionViolation {
  readonly type: string;
  readonly subject: string;
  readonly description: string;
}

export interface MissingTerms {
  readonly id: string;
  readonly label: string;
  readonly url: string;
}

/** The typed details of an error; absent where the answer has none. */
export interface ErrorDetails {
  readonly errorInfo?: { reason: string; domain: string; metadata: Record<string, string> };
  readonly fieldViolations: readonly FieldViolation[];
  readonly preconditions: readonly PreconditionViolation[];
  readonly resource?: { resourceType: string; resourceName: string; owner: string; description: string };
  readonly retryDelayMs?: number;
  readonly missingTerms: readonly MissingTerms[];
}

/** More than any credential is long: what is cut off before it is masked is never shown. */
const MASKED_BEYOND_LIMIT = 8192;

/**
 * Text of a server made safe to print: one line, no control characters, no command to a CI runner, bounded, and without
 * the credentials that this process holds. Whatever a message or a log line quotes goes through here.
 */
export function printable(text: string, limit = 500): string {
  const bounded = text.slice(0, limit + MASKED_BEYOND_LIMIT);
  const clean = logLine(maskCredentials(logLine(bounded)));
  return clean.length > limit ? `${clean.slice(0, limit)} …` : clean;
}

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
  if (!response.fromApi) return `${what}, and the answer is not the Platform API's`;
  return response.message === "" ? what : `${what}: ${response.message}`;
}

/** The request got no usable answer. `outcome` says whether it may have taken effect. */
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

/** Whether an error is one of the API with this code, as in `ABORTED`, or got no answer: `CONNECTION`. */
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

/** A message over 4 MiB, in either direction: the same request meets the same answer. */
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

function record(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? printable(value) : "";
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.slice(0, 50).map(record) : [];
}

function seconds(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(value) : null;
  return match ? Number(match[1]) * 1000 : undefined;
}

function localized(value: unknown): Pick<FieldViolation, "localizedMessage"> {
  const { locale, message } = record(value);
  return text(message) === "" ? {} : { localizedMessage: { locale: text(locale), message: text(message) } };
}

function readDetails(details: unknown): ErrorDetails {
  const byType = new Map<string, Record<string, unknown>>();
  for (const detail of list(details)) {
    const type = typeof detail["@type"] === "string" ? (/[^./]+$/.exec(detail["@type"])?.[0] ?? "") : "";
    if (!byType.has(type)) byType.set(type, detail);
  }
  const info = byType.get("ErrorInfo");
  const resource = byType.get("ResourceInfo");
  const retryDelayMs = seconds(byType.get("RetryInfo")?.["retryDelay"]);
  return {
    ...(info && {
      errorInfo: {
        reason: text(info["reason"]),
        domain: text(info["domain"]),
        metadata: Object.fromEntries(
          Object.entries(record(info["metadata"])).map(([key, value]) => [printable(key), text(value)]),
        ),
      },
    }),
    fieldViolations: list(byType.get("BadRequest")?.["fieldViolations"]).map((violation) => ({
      field: text(violation["field"]),
      description: text(violation["description"]),
      reason: text(violation["reason"]),
      ...localized(violation["localizedMessage"]),
    })),
    preconditions: list(byType.get("PreconditionFailure")?.["violations"]).map((violation) => ({
      type: text(violation["type"]),
      subject: text(violation["subject"]),
      description: text(violation["description"]),
    })),
    ...(resource && {
      resource: {
        resourceType: text(resource["resourceType"]),
        resourceName: text(resource["resourceName"]),
        owner: text(resource["owner"]),
        description: text(resource["description"]),
      },
    }),
    ...(retryDelayMs !== undefined && { retryDelayMs }),
    missingTerms: list(byType.get("TermsNotAcceptedDetail")?.["missing"]).map((term) => ({
      id: text(term["id"]),
      label: text(term["label"]),
      url: text(term["url"]),
    })),
  };
}

/** Milliseconds that a `Retry-After` asks for: seconds or an HTTP date. */
function retryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value.trim())) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** The only maker of an ApiError: from an answer whose status is not 2xx. `body` is parsed JSON or undefined. */
export function apiErrorFrom(
  call: RequestLine,
  response: { status: number; header: (name: string) => string | undefined; body: unknown; now: number },
): ApiError {
  const body = record(response.body);
  const fromApi = typeof body["code"] === "number";
  const details = readDetails(body["details"]);
  const code = fromApi ? (CODE_NAMES[body["code"] as number] ?? "UNKNOWN") : codeOfStatus(response.status);
  return new ApiError(call, {
    status: response.status,
    code,
    message: text(body["message"]),
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
