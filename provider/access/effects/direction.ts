/** What a change does to access, from what weighs most to what weighs least; `unknown` is what cannot be judged. */
const byWeight = ["widened", "unknown", "narrowed", "neutral"] as const;
export type Direction = (typeof byWeight)[number];

/** The direction of one change, with the reason in words; the reason is empty where there is nothing to say. */
export interface Effect {
  readonly direction: Direction;
  readonly reason: string;
}

export const neutral = (reason = ""): Effect => ({ direction: "neutral", reason });
export const widened = (reason: string): Effect => ({ direction: "widened", reason });
export const narrowed = (reason: string): Effect => ({ direction: "narrowed", reason });
export const unknown = (reason: string): Effect => ({ direction: "unknown", reason });

/** The direction of several changes together: one that widens outweighs all others. */
export function combineDirections(directions: Iterable<Direction>): Direction {
  const found = new Set(directions);
  return byWeight.find((direction) => found.has(direction)) ?? "neutral";
}

/** Whether a direction may be more access: an unknown one may. */
export function mayWiden(direction: Direction): boolean {
  return direction === "widened" || direction === "unknown";
}
