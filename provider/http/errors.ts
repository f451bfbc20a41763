import { CodedError, errorCodeOf, errorMessage, withCode } from "../errors/codedError";
import type { ErrorCode } from "../errors/registry";
import { printable } from "../text/printable";

/** The google.rpc codes in the order of their numbers, with the code of an error message for each. */
const rpcCodes = {
  OK: "PP3500",
  CANCELLED: "PP3503",
  UNKNOWN: "PP3500",
  INVALID_ARGUMENT: "PP3400",
  DEADLINE_EXCEEDED: "PP3504",
  NOT_FOUND: "PP3404",
  ALREADY_EXISTS: "PP3409",
  PERMISSION_DENIED: "PP3403",
  RESOURCE_EXHAUSTED: "PP3429",
  FAILED_PRECONDITION: "PP3412",
  ABORTED: "PP3410",
  OUT_OF_RANGE: "PP3400",
  UNIMPLEMENTED: "PP3501",
  INTERNAL: "PP3500",
  UNAVAILABLE: "PP3503",
  DATA_LOSS: "PP3500",
  UNAUTHENTICATED: "PP3401",
} as const satisfies Readonly<Record<string, ErrorCode>>;

export type Code = keyof typeof rpcCodes;

const CODE_NAMES = Object.keys(rpcCodes) as readonly Code[];

/** The codes of responses that have a status only: a proxy's, not the API's. */
const codesByStatus: Readonly<Record<number, Code>> = {
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

/** The typed details of an error; empty where the response has none. */
interface ErrorDetails {
  /** Of the ErrorInfo. */
  readonly reason: string;
  readonly requestId: string;
  readonly fieldViolations: readonly { field: string; description: string }[];
  readonly preconditions: readonly { type: string; subject: string; description: string }[];
  readonly resource?: { resourceType: string; resourceName: string };
  readonly retryDelayMs?: number;
  readonly missingTerms: readonly { id: string; label: string; url: string }[];
}

function recordOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function printableText(value: unknown): string {
  return typeof value === "string" ? printable(value) : "";
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.slice(0, 50).map(recordOf) : [];
}

function parseDurationMs(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(value) : null;
  return match ? Number(match[1]) * 1000 : undefined;
}

/** These members of an object, each as a text that can be printed. */
function textMembers<Key extends string>(
  object: Record<string, unknown>,
  ...keys: Key[]
): Record<Key, string> {
  return Object.fromEntries(keys.map((key) => [key, printableText(object[key])])) as Record<Key, string>;
}

/** The first detail of each type, by the last word of the type's name. */
function detailsByType(details: unknown): ReadonlyMap<string, Record<string, unknown>> {
  const byType = new Map<string, Record<string, unknown>>();
  for (const detail of objectsIn(details)) {
    const type = typeof detail["@type"] === "string" ? (detail["@type"].split(/[./]/).at(-1) ?? "") : "";
    if (!byType.has(type)) byType.set(type, detail);
  }
  return byType;
}

/** The typed details of an error's body. */
function readDetails(details: unknown): ErrorDetails {
  const byType = detailsByType(details);
  const info = byType.get("ErrorInfo") ?? {};
  const resource = byType.get("ResourceInfo");
  const retryDelayMs = parseDurationMs(byType.get("RetryInfo")?.["retryDelay"]);
  return {
    ...textMembers(info, "reason"),
    ...textMembers(recordOf(info["metadata"]), "requestId"),
    fieldViolations: objectsIn(byType.get("BadRequest")?.["fieldViolations"]).map((violation) => {
      const { field, description } = textMembers(violation, "field", "description");
      const { message } = textMembers(recordOf(violation["localizedMessage"]), "message");
      return { field, description: description === "" ? message : description };
    }),
    preconditions: objectsIn(byType.get("PreconditionFailure")?.["violations"]).map((violation) =>
      textMembers(violation, "type", "subject", "description"),
    ),
    ...(resource && { resource: textMembers(resource, "resourceType", "resourceName") }),
    ...(retryDelayMs !== undefined && { retryDelayMs }),
    missingTerms: objectsIn(byType.get("TermsNotAcceptedDetail")?.["missing"]).map((term) =>
      textMembers(term, "id", "label", "url"),
    ),
  };
}

/** The settings of the address of the API, where a message cannot know which of them is in use. */
export const BASE_URL_SETTING = "platform:baseUrl (or PLATFORM_BASE_URL)";

/** A server that requests go to, in the words of messages. */
export interface Endpoint {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** As in "the Platform API". */
  readonly name: string;
  /** The setting that holds the address, as in "PLATFORM_BASE_URL". */
  readonly setting: string;
}

export interface RequestLine {
  readonly method: string;
  /** Path only: a query may hold what nobody should read in a log. */
  readonly path: string;
  /** The server that it went to, without a trailing slash. */
  readonly baseUrl?: string;
  /** The setting that holds that address. */
  readonly setting?: string;
  /** When the token that it carried has expired, where the token says so. */
  readonly tokenEnd?: Date;
  /** The setting that its token comes from, as in "PLATFORM_TOKEN". */
  readonly credential?: string;
}

/** The API, or a proxy before it, responded with an error. */
export class ApiError extends CodedError {
  override readonly name = "ApiError";
  /** What to check where it is not the API that responds, and where the token has expired. */
  readonly advice: string | undefined;
  /** The HTTP status. */
  readonly status: number;
  /** The google.rpc code by name; the body's where it has one, else what the status says. */
  readonly code: Code;
  readonly details: ErrorDetails;
  /** The message of the body; empty where the body is not the API's. */
  readonly serverMessage: string;
  readonly requestId: string;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Whether the body has the API's form; false for a page of a proxy. */
  readonly fromApi: boolean;

  constructor(call: RequestLine, response: Refusal) {
    super(errorCodeOfResponse(response), describe(call, response));
    this.advice = adviseOn(call, response);
    this.status = response.status;
    this.code = response.code;
    this.details = response.details;
    this.serverMessage = response.serverMessage;
    this.requestId = response.requestId;
    this.retryAfterMs = response.retryAfterMs;
    this.fromApi = response.fromApi;
  }
}

/** How long a server asks to wait, as the end of a sentence; empty where it does not say. */
export function describeWait({ retryAfterMs }: Pick<ApiError, "retryAfterMs">): string {
  return retryAfterMs === undefined ? "" : `; the server asks to wait ${Math.ceil(retryAfterMs / 1000)} s`;
}

/** What is read of a response that is no success. */
type Refusal = Pick<
  ApiError,
  "status" | "code" | "details" | "serverMessage" | "requestId" | "retryAfterMs" | "fromApi"
>;

/** How the setting that holds a token gets another one. */
function describeRenewal(credential: string): string {
  if (/file$/i.test(credential)) return `write a new one into the file that ${credential} names`;
  return credential.startsWith("platform:")
    ? `set a new one with \`pulumi config set --secret ${credential}\``
    : `set a new one with ${credential}`;
}

/** What a proxy says while the server behind it is not there, or not yet. */
const TRANSIENT_OF_PROXY: readonly Code[] = ["UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"];

function adviseOn(
  { path, baseUrl = "", setting = BASE_URL_SETTING, tokenEnd, credential }: RequestLine,
  { status, code, fromApi, details }: Refusal,
): string | undefined {
  if (code === "UNAUTHENTICATED") {
    // One of an exchange is renewed by itself.
    if (credential === undefined) return tokenEnd && `the token expired at ${tokenEnd.toISOString()}`;
    const renewal = describeRenewal(credential);
    return tokenEnd === undefined
      ? `${baseUrl} refuses the token of ${credential}: check that it is complete and for this API, or ${renewal}`
      : `the token of ${credential} expired at ${tokenEnd.toISOString()}: ${renewal}, or let each run exchange an OIDC token by PLATFORM_IDENTITY`;
  }
  const isUnknownAddress = fromApi ? code === "NOT_FOUND" && details.resource === undefined : status === 404;
  const asked = printable(`${baseUrl}${path}`, 500);
  if (!fromApi && !isUnknownAddress)
    return TRANSIENT_OF_PROXY.includes(code) || status === 500
      ? `a proxy or load balancer responded at ${asked} in place of the API, which may pass; if it stays, check ${setting}`
      : `another server, or a proxy, responds at ${asked}: check ${setting}`;
  if (!isUnknownAddress) return undefined;
  const base = URL.canParse(baseUrl) ? new URL(baseUrl).pathname : "/";
  const ending = base === "/" ? "" : `, which ends with the path ${base}: leave the path out, or correct it`;
  return `no such API endpoint: ${asked}; check ${setting}${ending}`;
}

function describe(call: RequestLine, response: Refusal): string {
  const what = `${call.method} ${printable(call.path)}: ${response.code} (HTTP ${response.status})`;
  const known = adviseOn(call, response);
  const advice = known === undefined ? "" : `; ${known}`;
  const cause = response.serverMessage === "" ? what : `${what}: ${response.serverMessage}`;
  const failure = response.fromApi ? cause : `${what}, and the response is not from the Platform API`;
  return `${failure}${advice}${describeWait(response)}`;
}

function errorCodeOfResponse({ status, code, details, fromApi, serverMessage }: Refusal): ErrorCode {
  if (!fromApi) return { 401: "PP3401" as const, 404: "PP3404" as const }[status] ?? "PP3407";
  if (details.missingTerms.length > 0) return "PP3406";
  if (code === "NOT_FOUND" && details.resource !== undefined) return "PP3405";
  return isSizeLimit(code, serverMessage) ? "PP3413" : rpcCodes[code];
}

/** The request got no usable response. `outcome` says whether it may have taken effect. */
export class ConnectionError extends CodedError {
  override readonly name = "ConnectionError";
  readonly code = "CONNECTION";
  /** `notSent`: it was never sent. `unknown`: it may have been carried out. */
  readonly outcome: "notSent" | "unknown";
  /** Whether asking again may help. */
  readonly isTransient: boolean;
  /** Whether nothing is at the address, or at that of the proxy. */
  readonly isClosed: boolean;

  constructor(
    errorCode: ErrorCode,
    message: string,
    outcome: "notSent" | "unknown",
    isTransient: boolean,
    isClosed = false,
  ) {
    super(errorCode, message);
    this.outcome = outcome;
    this.isTransient = isTransient;
    this.isClosed = isClosed;
  }
}

/** A setting is missing or wrong. The message names it and says what to write. */
export class ConfigError extends CodedError {
  override readonly name = "ConfigError";

  /** @param code `CREDENTIAL` where it is the credential itself. */
  constructor(
    errorCode: ErrorCode,
    message: string,
    readonly code: "CONFIG" | "CREDENTIAL" = "CONFIG",
  ) {
    super(errorCode, message);
  }
}

/** A credential was refused, or cannot be exchanged. The message names its source and says what to look at. */
export class AuthenticationError extends CodedError {
  override readonly name = "AuthenticationError";
  readonly code = "AUTHENTICATION";
}

/** An error of the API's form. A wrong address at a similar server has that form too, so it shows nothing. */
export function isRefusalOfApi(error: unknown): error is ApiError {
  if (!(error instanceof ApiError) || !error.fromApi) return false;
  const isAddress = error.code === "NOT_FOUND" && error.details.resource === undefined;
  return !isAddress && !["UNKNOWN", "UNIMPLEMENTED"].includes(error.code);
}

/** A missing resource: code NOT_FOUND *with* a ResourceInfo. A wrong address has none. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiError && error.code === "NOT_FOUND" && error.details.resource !== undefined;
}

/** A message over 4 MiB, in either direction: the same request gets the same response. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ApiError && isSizeLimit(error.code, error.serverMessage);
}

function isSizeLimit(code: Code, serverMessage: string): boolean {
  return code === "RESOURCE_EXHAUSTED" && /larger than max/i.test(serverMessage);
}

/** Whether a request that failed so may have been carried out. */
export function hasUnknownOutcome(error: unknown): boolean {
  if (error instanceof ConnectionError) return error.outcome === "unknown";
  if (!(error instanceof ApiError)) return false;
  if (error.status >= 500) return error.code !== "UNIMPLEMENTED";
  return error.code === "UNAVAILABLE" || error.code === "ABORTED" || error.code === "CANCELLED";
}

/** Whether a server refused a request for the number of them. */
export function isThrottled(error: unknown): boolean {
  return error instanceof ApiError && error.code === "RESOURCE_EXHAUSTED" && !isTooLarge(error);
}

/**
 * Whether the same request may be sent again.
 * `isIdempotent`: doing it twice is the same as doing it once.
 */
export function mayRetry(error: unknown, isIdempotent: boolean): boolean {
  if (error instanceof ConnectionError) {
    return error.isTransient && (isIdempotent || error.outcome === "notSent");
  }
  if (!(error instanceof ApiError)) return false;
  if (error.code === "RESOURCE_EXHAUSTED") return !isTooLarge(error);
  if (!isIdempotent) return false;
  return (
    error.code === "UNAVAILABLE" || error.code === "ABORTED" || (error.status >= 500 && error.status !== 501)
  );
}

/** What a request that fails so is refused for, a line each. `nameOf` tells what a program calls a field of the API. */
export function describeDetails(
  { code, details, serverMessage }: ApiError,
  nameOf: (field: string) => string = (field) => field,
): string[] {
  const { fieldViolations, preconditions, resource, missingTerms } = details;
  const problem = { NOT_FOUND: "not found", ALREADY_EXISTS: "already exists" }[code as string] ?? "concerns";
  return [
    ...fieldViolations.map(({ field, description }) => `${nameOf(field)}: ${description}`),
    ...preconditions.map(
      ({ type, subject, description }) =>
        `${[type, subject].filter((part) => part !== "").join(" ")}: ${description}`,
    ),
    // The server's message, which is not shown beside violations, mostly says it too.
    ...(resource &&
    (fieldViolations.length > 0 ||
      resource.resourceName === "" ||
      !serverMessage.includes(resource.resourceName))
      ? [`${problem}: ${resource.resourceType} ${resource.resourceName}`.trim()]
      : []),
    ...missingTerms.map(({ id, label, url }) => `not accepted: ${label} (${id}) ${url}`),
  ];
}

/** The message of an error made safe to print, in one line that ends with its code. */
export function printableMessage(error: unknown): string {
  return withCode(printable(errorMessage(error)), errorCodeOf(error));
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
  // A proxy repeats its status there, which is the number of no code.
  const code = typeof body["code"] === "number" ? CODE_NAMES[body["code"]] : undefined;
  const details = readDetails(body["details"]);
  return new ApiError(call, {
    status: response.status,
    code: code ?? codesByStatus[response.status] ?? "UNKNOWN",
    serverMessage: printableText(body["message"]),
    details,
    requestId: printable(response.header("x-request-id") ?? details.requestId, 100),
    retryAfterMs:
      details.retryDelayMs ??
      retryAfter(
        response.header("retry-after") ?? response.header("grpc-metadata-retry-after"),
        response.now,
      ),
    fromApi: code !== undefined,
  });
}

/** The proxy itself failed, not the server behind it. */
export class ProxyError extends CodedError {
  constructor(
    message: string,
    readonly isTransient: boolean,
    /** Whether nothing is at its address. */
    readonly isClosed = false,
  ) {
    super("PP2106", message);
  }
}

/** What a code of Node says of a request that got no response. */
interface ConnectionFailure {
  readonly text: string;
  readonly errorCode: ErrorCode;
  /** The request never left. */
  readonly isNotSent?: true;
  /** Asking again does not help. */
  readonly isPermanent?: true;
}

const connectionFailures: Readonly<Record<string, ConnectionFailure>> = {
  ECONNREFUSED: { text: "connection refused", errorCode: "PP2101", isNotSent: true },
  EHOSTUNREACH: { text: "the host cannot be reached", errorCode: "PP2101", isNotSent: true },
  ENETUNREACH: { text: "the network cannot be reached", errorCode: "PP2101", isNotSent: true },
  ENOTFOUND: {
    text: "the host name does not exist",
    errorCode: "PP2102",
    isNotSent: true,
    isPermanent: true,
  },
  EAI_AGAIN: { text: "the host name could not be resolved", errorCode: "PP2102", isNotSent: true },
  ERR_INVALID_URL: { text: "the request failed", errorCode: "PP2103", isNotSent: true, isPermanent: true },
  ECONNRESET: { text: "the connection was reset", errorCode: "PP2103" },
  EPIPE: { text: "the connection was reset", errorCode: "PP2103" },
  ECONNABORTED: { text: "no response in time", errorCode: "PP2104" },
  ETIMEDOUT: { text: "no response in time", errorCode: "PP2104" },
};

const OTHER_FAILURE: ConnectionFailure = { text: "the request failed", errorCode: "PP2103" };

const UNKNOWN_AUTHORITY =
  "its certificate is issued by an unknown certificate authority; if it is your company's, set NODE_EXTRA_CA_CERTS to a PEM file with that authority's certificate";

/** What a failure of TLS means, and what to do; `%s` stands for the setting that holds the address. */
const tlsFailures: Record<string, string> = {
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT:
    "its certificate is self-signed; if it is your own server, set NODE_EXTRA_CA_CERTS to a PEM file with that certificate",
  CERT_HAS_EXPIRED: "its certificate has expired; renew it on the server, or check the clock of this machine",
  CERT_NOT_YET_VALID: "its certificate is not valid yet; check the clock of this machine",
  CERT_REVOKED: "its certificate has been revoked: do not use this server",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host; check %s",
  EPROTO: "the server does not speak TLS; check %s, and whether a proxy is in between",
};

/** The code of Node that an error has; axios names a response that breaks off, and one that takes too long, by codes of its own. */
function nodeErrorCode(error: unknown): string {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  return { ERR_BAD_RESPONSE: "ECONNRESET", ERR_CANCELED: "ETIMEDOUT" }[code] ?? code;
}

const isTlsFailure = (code: string): boolean =>
  /^(CERT_|ERR_TLS|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|ERR_SSL|EPROTO)/.test(code);

function explainTlsFailure(code: string, setting: string): string {
  const explanation =
    tlsFailures[code.startsWith("ERR_SSL") ? "EPROTO" : code] ??
    "check %s and the TLS configuration of the server";
  return explanation.replace("%s", setting);
}

/** What to look at where nothing answers: an address without a port has the one of its protocol. */
function checkAddress({ baseUrl, setting }: Endpoint): string {
  const { protocol, hostname, port } = new URL(baseUrl);
  if (port !== "") return `check ${setting}: does the server run, and at port ${port}?`;
  return `check ${setting}: without a port it means ${protocol === "https:" ? 443 : 80}; write another as in ${protocol}//${hostname}:8443`;
}

/** The error for a request without a response. Its message has the method and the address; never the body, never a header. */
export function toConnectionError(
  endpoint: Endpoint,
  error: unknown,
  { method, path }: RequestLine,
): ConnectionError {
  const { baseUrl, setting } = endpoint;
  const where = `${method} ${baseUrl}${path}`;
  if (error instanceof ConnectionError) {
    return new ConnectionError(
      error.errorCode,
      `${where}: ${error.message}`,
      error.outcome,
      error.isTransient,
      error.isClosed,
    );
  }
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof ProxyError) {
    const message = `${where}: ${cause.message}`;
    return new ConnectionError("PP2106", message, "notSent", cause.isTransient, cause.isClosed);
  }
  // Axios stopped reading.
  if (error instanceof Error && /^maxContentLength size of \d+ exceeded$/.test(error.message)) {
    const message = `${where}: the response is too large for one of the API; check ${setting}`;
    return new ConnectionError("PP2107", message, "unknown", false);
  }
  const code = nodeErrorCode(error);
  const shown = code === "" ? "" : ` (${code})`;
  if (isTlsFailure(code)) {
    const message = `${where}: the TLS connection failed${shown}: ${explainTlsFailure(code, setting)}`;
    return new ConnectionError("PP2105", message, "notSent", false);
  }
  const { text, errorCode, isNotSent, isPermanent } = connectionFailures[code] ?? OTHER_FAILURE;
  const message = `${where}: ${text}${shown}${isNotSent ? `; ${code === "ECONNREFUSED" ? checkAddress(endpoint) : `check ${setting}`}` : ""}`;
  const outcome = isNotSent ? "notSent" : "unknown";
  return new ConnectionError(errorCode, message, outcome, !isPermanent, errorCode === "PP2101");
}
