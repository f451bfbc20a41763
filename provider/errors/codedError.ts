import { errorCodes } from "./registry";
import type { ErrorCode } from "./registry";

/** The code at the end of a message: in brackets, or on a line of its own. */
const SHOWN_CODE = /(?: \((PP\d{4})\)|\n {2}see npx --no pulumi-platform explain (PP\d{4}))$/;

/** A message that ends with its code; one of several lines has it on a line of its own. */
export function withCode(message: string, code: ErrorCode): string {
  if (codeInMessage(message) === code) return message;
  return message.includes("\n")
    ? `${message}\n  see npx --no pulumi-platform explain ${code}`
    : `${message} (${code})`;
}

/** The code at the end of a message; undefined where it has none. */
export function codeInMessage(message: string): ErrorCode | undefined {
  const [, inBrackets, onLine] = SHOWN_CODE.exec(message) ?? [];
  return (inBrackets ?? onLine) as ErrorCode | undefined;
}

/** The code of an error, which need not be a `CodedError`; PP9001 where it has none of ours. */
export function errorCodeOf(error: unknown): ErrorCode {
  const code = error instanceof Error && "errorCode" in error ? error.errorCode : undefined;
  return typeof code === "string" && Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : "PP9001";
}

/**
 * An error with a code. Its message has none, so that another message can quote it: whoever shows it to a person adds
 * the code at the end. An error that quotes another one takes that one's code, which says more.
 */
export class CodedError extends Error {
  constructor(
    readonly errorCode: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The message of what was thrown, which code of others may have thrown without one. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : "unknown error";
}

/** Whether an error is one of the API with this code, as in `ABORTED`, or got no response: `CONNECTION`. */
export function hasCode(error: unknown, code: string): boolean {
  return typeof error === "object" && error !== null && "code" in error && error.code === code;
}
