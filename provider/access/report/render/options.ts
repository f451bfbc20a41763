/** How a report is put into a form. Everything is optional; what a form has no use for, it ignores. */
export interface RenderOptions {
  /** Columns of the terminal; 80 where it is not given. */
  readonly width?: number;
  /** Whether the terminal shows colours: the command line's to decide, by NO_COLOR and the stream. */
  readonly colour?: boolean;
  /**
   * The Pulumi project's folder relative to the repository's root, `infra/access`: put before each
   * location, because hosts want paths from the root of the repository.
   */
  readonly sourceRoot?: string;
  /** The key of a hidden marker by which a comment is found again; none where it is absent. */
  readonly marker?: string;
  /** The most bytes (UTF-8) that the output may have; each form has its host's limit as the default. */
  readonly maxBytes?: number;
}
