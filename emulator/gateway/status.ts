/** The codes of google.rpc.Code that are used by name here. */
export const Code = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export type Detail = { readonly "@type": string } & Record<string, unknown>;

/** An error response of a service: a google.rpc.Status, and further headers. */
export class StatusError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly details: readonly Detail[] = [],
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

const httpStatus: Readonly<Record<number, number>> = {
  0: 200,
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

export function httpStatusOf(code: number): number {
  return httpStatus[code] ?? 500;
}

const errorDomain = "iam.chainguard.dev";
const rpcType = (name: string): string => `type.googleapis.com/google.rpc.${name}`;

/** Detail types that the gateway can marshal; an error with any other becomes a bare 500. */
export const knownDetailTypes: ReadonlySet<string> = new Set([
  ...["ErrorInfo", "BadRequest", "PreconditionFailure", "ResourceInfo", "RetryInfo"].map(rpcType),
  "type.googleapis.com/chainguard.platform.iam.v2.TermsNotAcceptedDetail",
]);

export function errorInfo(reason: string): Detail {
  return { "@type": rpcType("ErrorInfo"), reason, domain: errorDomain, metadata: {} };
}

export interface Violation {
  /** Path of the field in JSON names, for example `claimMatch.subjectPattern`. */
  readonly field: string;
  readonly description: string;
}

/** Code 3 that names every offending field. The list must not be empty. */
export function invalidArgument(violations: readonly Violation[]): StatusError {
  const first = violations[0];
  return new StatusError(
    Code.invalidArgument,
    `Invalid argument: ${first?.field ?? ""}: ${first?.description ?? ""}`,
    [
      errorInfo("INVALID_ARGUMENT"),
      {
        "@type": rpcType("BadRequest"),
        fieldViolations: violations.map(({ field, description }) => ({
          field,
          description,
          reason: "",
          localizedMessage: null,
        })),
      },
    ],
  );
}

/** Code 3 without details: what the gateway itself refuses. No client may read the text. */
export function badRequest(message: string): StatusError {
  return new StatusError(Code.invalidArgument, message);
}

/** Code 3 that names one field. */
export function invalidField(field: string, description: string): StatusError {
  return invalidArgument([{ field, description }]);
}

/** Code 5 with ResourceInfo, which distinguishes a missing resource from a wrong address. */
export function notFound(resourceType: string, resourceName: string): StatusError {
  const description = `${resourceType} "${resourceName}" does not exist`;
  return new StatusError(Code.notFound, `Not found: ${description}`, [
    errorInfo("NOT_FOUND"),
    { "@type": rpcType("ResourceInfo"), resourceType, resourceName, owner: "", description },
  ]);
}

export function failedPrecondition(type: string, subject: string, description: string): StatusError {
  return new StatusError(Code.failedPrecondition, `Precondition failed: ${description}`, [
    errorInfo("FAILED_PRECONDITION"),
    { "@type": rpcType("PreconditionFailure"), violations: [{ type, subject, description }] },
  ]);
}

export function alreadyExists(resourceType: string, resourceName: string, description: string): StatusError {
  return new StatusError(Code.alreadyExists, `Already exists: ${description}`, [
    errorInfo("ALREADY_EXISTS"),
    { "@type": rpcType("ResourceInfo"), resourceType, resourceName, owner: "", description },
  ]);
}

/** Code 10: the resource has changed since the caller read it. */
export function aborted(description: string): StatusError {
  return new StatusError(Code.aborted, `Aborted: ${description}`, [errorInfo("ABORTED")]);
}

export function unauthenticated(description: string): StatusError {
  return new StatusError(Code.unauthenticated, `Unauthenticated: ${description}`);
}

export interface TermsDocument {
  readonly id: string;
  readonly label: string;
  readonly url: string;
}

/** Code 9 that names the documents to accept first. */
export function termsNotAccepted(missing: readonly TermsDocument[]): StatusError {
  return new StatusError(Code.failedPrecondition, "Precondition failed: terms are not accepted", [
    errorInfo("FAILED_PRECONDITION"),
    {
      "@type": "type.googleapis.com/chainguard.platform.iam.v2.TermsNotAcceptedDetail",
      missing: missing.map(({ id, label, url }) => ({ id, label, url })),
    },
  ]);
}

export function permissionDenied(description: string): StatusError {
  return new StatusError(Code.permissionDenied, `Permission denied: ${description}`, [
    errorInfo("PERMISSION_DENIED"),
  ]);
}

/** Code 8 with the delay as RetryInfo and as a header with the gateway's prefix. */
export function slowDown(waitMs: number): StatusError {
  return new StatusError(
    Code.resourceExhausted,
    "Resource exhausted: too many requests",
    [
      errorInfo("RATE_LIMIT_EXCEEDED"),
      { "@type": rpcType("RetryInfo"), retryDelay: `${(waitMs / 1000).toFixed(3)}s` },
    ],
    { "Grpc-Metadata-Retry-After": String(Math.max(1, Math.ceil(waitMs / 1000))) },
  );
}
