/** A place in the user's program. `file` is relative to the Pulumi project. Lines and columns count from 1. */
export interface SourceLocation {
  readonly file: string;
  /**
   * @asType integer
   * @minimum 1
   */
  readonly line: number;
  /**
   * @asType integer
   * @minimum 1
   */
  readonly column?: number;
}
