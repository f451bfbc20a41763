export { createEventHandler } from "./createEventHandler";
export type { EventHandlerOptions } from "./createEventHandler";
export { EventError } from "./verifyEvent";
export type { EventProblem } from "./verifyEvent";
export type { EventHeaders } from "./verifyEvent";
export { verifyEvent } from "./verifyEvent";
export type { PlatformEvent, VerifyEventOptions } from "./verifyEvent";
