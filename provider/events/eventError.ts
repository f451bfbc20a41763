import { CodedError } from "../errorCodes/codedError";
import type { ErrorCode } from "../errorCodes/registry";
import { logLine } from "../api/logText";

/**
 * Why an event was not accepted:
 * - `malformed`: the request is no event of the platform;
 * - `refused`: the signature, the issuer, the group, the body or the time does not match;
 * - `unavailable`: the issuer's keys could not be fetched, so the event could not be checked.
 */
export type EventProblem = "malformed" | "refused" | "unavailable";

const STATUS: Readonly<Record<EventProblem, number>> = { malformed: 400, refused: 401, unavailable: 503 };

const ERROR_CODES: Readonly<Record<EventProblem, ErrorCode>> = {
  malformed: "PP8001",
  refused: "PP8002",
  unavailable: "PP8003",
};

/** An event that was not accepted. The message contains nothing of the token. */
export class EventError extends CodedError {
  override readonly name = "EventError";
  readonly code = "EVENT";
  /** The status with which a receiver responds: 400, 401, or 503 (then the event is delivered again). */
  readonly status: number;

  constructor(
    readonly problem: EventProblem,
    message: string,
  ) {
    super(ERROR_CODES[problem], logLine(message));
    this.status = STATUS[problem];
  }
}
