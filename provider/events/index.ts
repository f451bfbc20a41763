export { createEventHandler } from "./createEventHandler";
export type { EventHandlerOptions } from "./createEventHandler";
export { EventError, verifyEvent } from "./verifyEvent";
export type { EventHeaders, EventProblem, PlatformEvent, VerifyEventOptions } from "./verifyEvent";
