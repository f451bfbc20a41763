export { createEffectSide } from "./context";
export type { EffectContext, EffectSide } from "./context";
export { describeEffects } from "./describeEffects";
export type { FieldEffect } from "./describeEffects";
export { combineDirections, mayWiden } from "./direction";
export type { Direction } from "./direction";
export { unreadReason } from "./judge";
export { compareKeys } from "./sets";
