/** The forms of a report. */
export const reportFormats = ["text", "json", "md", "html", "sarif", "github", "codequality"] as const;
export type ReportFormat = (typeof reportFormats)[number];

/** A repository, as the environment of the CI job names it: never as a plan or a report does. */
export interface Repository {
  readonly host: "github" | "gitlab";
  /** `https://github.com/acme/access`: http or https, without credentials, query and a slash at the end. */
  readonly url: string;
}

/** How a report is put into a form. Everything is optional; what a form has no use for, it ignores. */
export interface RenderOptions {
  /** Columns of the terminal; 80 where it is not given. */
  readonly width?: number;
  /** Whether the terminal shows colours: the command line's to decide, by NO_COLOR and the stream. */
  readonly colour?: boolean;
  /** Whether the text shows the commands, code and policy entries that settle each finding. */
  readonly fix?: boolean;
  /** What to do first, in the text: a command is a line of its own. */
  readonly firstSteps?: readonly string[];
  /**
   * The Pulumi project's folder relative to the repository's root, `infra/access`: put before each
   * location, because hosts want paths from the root of the repository.
   */
  readonly sourceRoot?: string;
  /** Where links to lines, the commit and the pull request lead; no links where it is absent. */
  readonly repository?: Repository;
  /** The commit that comments name and links lead to, in hex: the job's, since a report may come from a job of others. */
  readonly commit?: string;
  /** The address of the page of this report: http or https. */
  readonly pageUrl?: string;
  /** The address of the run of CI that keeps the files: http or https. */
  readonly runUrl?: string;
  /** The key of a hidden marker by which a comment is found again; none where it is absent. */
  readonly marker?: string;
  /** The most bytes (UTF-8) that the output may have; each form has its host's limit as the default. */
  readonly maxBytes?: number;
}
