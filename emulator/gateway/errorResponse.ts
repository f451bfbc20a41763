import { UnknownFieldError } from "./fieldMask";
import type { GatewayResponse } from "./gateway";
import { QueryError } from "./query";
import { Code, httpStatusOf, knownDetailTypes, StatusError } from "./status";
import { JsonError } from "./strictJson";

/** Converts any error to the status that the gateway returns. */
export function toStatusError(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  if (error instanceof JsonError || error instanceof QueryError || error instanceof UnknownFieldError) {
    return new StatusError(Code.invalidArgument, error.message);
  }
  return new StatusError(Code.internal, error instanceof Error ? error.message : String(error));
}

/** A value without its empty members. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (typeof value !== "object" || value === null) return value;
  const isEmpty = (member: unknown) =>
    Array.isArray(member) ? member.length === 0 : member === null || member === "" || member === 0;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (isEmpty(member) ? [] : [[key, withoutEmpty(member)]])),
  );
}

/** @param verb the response to HEAD has no body. */
export function errorResponse(
  error: StatusError,
  verb = "GET",
  { omitEmpty } = { omitEmpty: false },
): GatewayResponse {
  const headers: Record<string, string> = { "Content-Type": "application/json", ...error.headers };
  if (error.code === Code.unauthenticated) headers["WWW-Authenticate"] = error.message;
  if (error.details.some((detail) => !knownDetailTypes.has(detail["@type"]))) {
    const body = JSON.stringify({ code: Code.internal, message: "failed to marshal error message" });
    return { status: 500, headers: { "Content-Type": "application/json" }, body };
  }
  const status = { code: error.code, message: error.message, details: error.details };
  const body = JSON.stringify(omitEmpty ? withoutEmpty(status) : status);
  return { status: httpStatusOf(error.code), headers, body: verb === "HEAD" ? "" : body };
}
