import { printable } from "./printable";

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

/** The typed details of an error; absent where the response has none. */
export interface ErrorDetails {
  readonly errorInfo?: { reason: string; domain: string; metadata: Record<string, string> };
  readonly fieldViolations: readonly FieldViolation[];
  readonly preconditions: readonly PreconditionViolation[];
  readonly resource?: { resourceType: string; resourceName: string; owner: string; description: string };
  readonly retryDelayMs?: number;
  readonly missingTerms: readonly MissingTerms[];
}

export function recordOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

export function printableText(value: unknown): string {
  return typeof value === "string" ? printable(value) : "";
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.slice(0, 50).map(recordOf) : [];
}

function parseDurationMs(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(value) : null;
  return match ? Number(match[1]) * 1000 : undefined;
}

function localized(value: unknown): Pick<FieldViolation, "localizedMessage"> {
  const { locale, message } = recordOf(value);
  return printableText(message) === ""
    ? {}
    : { localizedMessage: { locale: printableText(locale), message: printableText(message) } };
}

/** The first detail of each type, by the last word of the type's name. */
function detailsByType(details: unknown): ReadonlyMap<string, Record<string, unknown>> {
  const byType = new Map<string, Record<string, unknown>>();
  for (const detail of list(details)) {
    const type = typeof detail["@type"] === "string" ? (detail["@type"].split(/[./]/).at(-1) ?? "") : "";
    if (!byType.has(type)) byType.set(type, detail);
  }
  return byType;
}

function readErrorInfo(info: Record<string, unknown>): ErrorDetails["errorInfo"] {
  const metadata = Object.entries(recordOf(info["metadata"]));
  return {
    reason: printableText(info["reason"]),
    domain: printableText(info["domain"]),
    metadata: Object.fromEntries(metadata.map(([key, value]) => [printable(key), printableText(value)])),
  };
}

function readResource(resource: Record<string, unknown>): ErrorDetails["resource"] {
  return {
    resourceType: printableText(resource["resourceType"]),
    resourceName: printableText(resource["resourceName"]),
    owner: printableText(resource["owner"]),
    description: printableText(resource["description"]),
  };
}

/** The typed details of an error's body. */
export function readDetails(details: unknown): ErrorDetails {
  const byType = detailsByType(details);
  const info = byType.get("ErrorInfo");
  const resource = byType.get("ResourceInfo");
  const retryDelayMs = parseDurationMs(byType.get("RetryInfo")?.["retryDelay"]);
  return {
    ...(info && { errorInfo: readErrorInfo(info) }),
    fieldViolations: list(byType.get("BadRequest")?.["fieldViolations"]).map((violation) => ({
      field: printableText(violation["field"]),
      description: printableText(violation["description"]),
      reason: printableText(violation["reason"]),
      ...localized(violation["localizedMessage"]),
    })),
    preconditions: list(byType.get("PreconditionFailure")?.["violations"]).map((violation) => ({
      type: printableText(violation["type"]),
      subject: printableText(violation["subject"]),
      description: printableText(violation["description"]),
    })),
    ...(resource && { resource: readResource(resource) }),
    ...(retryDelayMs !== undefined && { retryDelayMs }),
    missingTerms: list(byType.get("TermsNotAcceptedDetail")?.["missing"]).map((term) => ({
      id: printableText(term["id"]),
      label: printableText(term["label"]),
      url: printableText(term["url"]),
    })),
  };
}
