import { ApiError } from "./errors";
import { isUid } from "./uid";

type JsonObject = Record<string, unknown>;

function hasUid(value: unknown): boolean {
  return value !== null && typeof value === "object" && "uid" in value && isUid(String(value.uid));
}

/**
 * Whether the server has shown itself to be the API, by any response of this run. Only then an empty
 * response means that there is nothing: a wrong address may respond `{}` to everything.
 */
export class ApiRecognition {
  isRecognized = false;

  /** A response that holds a resource, or a list of some. */
  noteResponse(response: JsonObject): void {
    this.isRecognized ||=
      hasUid(response) ||
      Object.values(response).some((member) => Array.isArray(member) && member.some(hasUid));
  }

  /** An error of the API's form; a wrong address at a similar server has that form too. */
  noteError(error: unknown): void {
    if (!(error instanceof ApiError) || !error.fromApi) return;
    const isAddress = error.code === "NOT_FOUND" && error.details.resource === undefined;
    this.isRecognized ||= !isAddress && !["UNKNOWN", "UNIMPLEMENTED"].includes(error.code);
  }
}
