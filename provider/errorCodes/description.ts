/** What the documents and `explain` say of an error code. */
export interface CodeDescription {
  readonly title: string;
  readonly meaning: string;
  /** How to see why: a command, or where to look. */
  readonly look: string;
  /** What to do. */
  readonly fix: string;
}

/** Error codes by their names: `PP` and four digits. */
export type CodeTable = Readonly<Record<`PP${number}`, CodeDescription>>;
