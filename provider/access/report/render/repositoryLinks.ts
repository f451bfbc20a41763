import type { SourceLocation } from "../../documents/sourceLocation";
import type { Report } from "../report";
import { uriPath } from "./escape";
import type { RenderOptions } from "./options";
import { repositoryPath } from "./words";

const routes = {
  github: { line: "blob", commit: "commit", pullRequest: "pull" },
  gitlab: { line: "-/blob", commit: "-/commit", pullRequest: "-/merge_requests" },
} as const;

/** Addresses of what a report names, in the repository that the CI's environment tells. */
export class RepositoryLinks {
  constructor(
    private readonly report: Report,
    private readonly options: RenderOptions,
  ) {}

  /** A line at the report's commit; undefined where the repository or the commit is unknown. */
  line(location: SourceLocation): string | undefined {
    const { commit, sourceRoot } = this.options;
    const path = repositoryPath(location, sourceRoot);
    // A browser would take .. out of the address, and so leave the repository.
    if (commit === undefined || path.split("/").some((part) => part === ".." || part === "."))
      return undefined;
    return this.address("line", `${commit}/${uriPath(path)}#L${Math.max(1, Math.floor(location.line))}`);
  }

  commit(): string | undefined {
    const { commit } = this.options;
    return commit === undefined ? undefined : this.address("commit", commit);
  }

  pullRequest(): string | undefined {
    const { pullRequest } = this.report.provenance;
    return pullRequest === undefined ? undefined : this.address("pullRequest", pullRequest);
  }

  private address(route: keyof (typeof routes)["github"], rest: string): string | undefined {
    if (this.options.repository === undefined) return undefined;
    const { host, url } = this.options.repository;
    return `${url}/${routes[host][route]}/${rest}`;
  }
}
