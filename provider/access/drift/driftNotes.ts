/** What a drift run could not compare, a line each. */
export class DriftNotes {
  /** Lines that make the run incomplete. */
  readonly incomplete = new Set<string>();
  /** Lines that only inform. */
  readonly unresolved = new Set<string>();
}
