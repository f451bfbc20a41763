import type { Json } from "../../fields/values";
import type { Finding } from "../review/finding";

/** A finding without what all findings of its rule share, and without its fingerprint. */
export interface FindingInput extends Omit<
  Finding,
  "id" | "rule" | "details" | "fingerprint" | "suppression" | "drift" | "advice"
> {
  readonly details?: readonly string[];
  readonly advice: string;
  /** What an exception accepts beside the object itself: its fingerprint changes with it, and no report shows it. */
  pins?: Json;
}
