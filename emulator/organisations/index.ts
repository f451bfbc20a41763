import type { Seed } from "../seed";
import { acme } from "./acme";

/** The organisations that the emulator brings along, by name. */
const organisations = { acme } as const satisfies Record<string, Seed>;

export type SeedName = keyof typeof organisations;

export const seedNames = Object.keys(organisations) as readonly SeedName[];

/** @throws Error for a name that is not in the list. */
export function resolveSeed(seed: Seed | SeedName = {}): Seed {
  if (typeof seed !== "string") return seed;
  if (Object.hasOwn(organisations, seed)) return organisations[seed];
  throw new Error(`seed must be an object or one of ${seedNames.join(", ")}, not "${seed}"`);
}
