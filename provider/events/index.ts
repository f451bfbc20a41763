export { createEventHandler } from "./createEventHandler";
export type { EventHandlerOptions } from "./createEventHandler";
export { EventError } from "./eventError";
export type { EventProblem } from "./eventError";
export type { EventHeaders } from "./headers";
export { verifyEvent } from "./verifyEvent";
export type { PlatformEvent, VerifyEventOptions } from "./verifyEvent";
