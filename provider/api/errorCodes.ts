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

export function codeOfStatus(status: number): Code {
  return codesByStatus[status] ?? "UNKNOWN";
}

/** The code that a body has by its number; undefined for any other number, as a proxy repeats its status there. */
export function codeOfNumber(number: unknown): Code | undefined {
  return typeof number === "number" ? CODE_NAMES[number] : undefined;
}
