export { EventError, verifyEvent } from "./verifyEvent";
export type { EventHeaders, EventProblem, PlatformEvent, VerifyEventOptions } from "./verifyEvent";
