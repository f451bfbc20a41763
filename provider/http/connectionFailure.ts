import type { ErrorCode } from "../errors/registry";
import { ConnectionError } from "./errors";
import { ProxyError } from "./tunnel";

/** A server that requests go to, in the words of messages. */
export interface Endpoint {
  /** Absolute, without a trailing slash. */
  readonly baseUrl: string;
  /** As in "the Platform API". */
  readonly name: string;
  /** The setting that holds the address, as in "platform:baseUrl (or PLATFORM_BASE_URL)". */
  readonly setting: string;
}

export interface RequestLine {
  readonly method: string;
  readonly path: string;
}

/** Codes of Node that say: the request never left. */
const NOT_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ERR_INVALID_URL",
]);
const PERMANENT = new Set(["ENOTFOUND", "ERR_INVALID_URL", "ERR_FR_TOO_MANY_REDIRECTS"]);

const connectionFailures: Record<string, string> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "the host name does not exist",
  EAI_AGAIN: "the host name could not be resolved",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the network cannot be reached",
  ECONNRESET: "the connection was reset",
  ECONNABORTED: "no response in time",
  ETIMEDOUT: "no response in time",
  EPIPE: "the connection was reset",
};

/** Error codes by the codes of Node; every other failure broke a connection. */
const failureCodes: Readonly<Record<string, ErrorCode>> = {
  ECONNREFUSED: "PP2101",
  EHOSTUNREACH: "PP2101",
  ENETUNREACH: "PP2101",
  ENOTFOUND: "PP2102",
  EAI_AGAIN: "PP2102",
  ECONNABORTED: "PP2104",
  ETIMEDOUT: "PP2104",
};

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

/** Whether axios stopped reading, because a response is larger than the transport allows. */
const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && /^maxContentLength size of \d+ exceeded$/.test(error.message);

/** The error for a request without a response. Its message has the method and the address; never the body, never a header. */
export function toConnectionError(
  { baseUrl, setting }: Endpoint,
  error: unknown,
  { method, path }: RequestLine,
): ConnectionError {
  const where = `${method} ${baseUrl}${path}`;
  if (error instanceof ConnectionError) {
    return new ConnectionError(
      error.errorCode,
      `${where}: ${error.message}`,
      error.outcome,
      error.isTransient,
    );
  }
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof ProxyError) {
    return new ConnectionError("PP2106", `${where}: ${cause.message}`, "notSent", cause.isTransient);
  }
  if (isTooLarge(error)) {
    const message = `${where}: the response is too large for one of the API; check ${setting}`;
    return new ConnectionError("PP2107", message, "unknown", false);
  }
  const code = nodeErrorCode(error);
  const shown = code === "" ? "" : ` (${code})`;
  if (isTlsFailure(code)) {
    const message = `${where}: the TLS connection failed${shown}: ${explainTlsFailure(code, setting)}`;
    return new ConnectionError("PP2105", message, "notSent", false, true);
  }
  const errorCode = failureCodes[code] ?? "PP2103";
  const outcome = NOT_SENT.has(code) ? "notSent" : "unknown";
  const advice = outcome === "notSent" ? `; check ${setting}` : "";
  const message = `${where}: ${connectionFailures[code] ?? "the request failed"}${shown}${advice}`;
  return new ConnectionError(errorCode, message, outcome, !PERMANENT.has(code));
}
