import type { SourceLocation } from "../../../documents/sourceLocation";
import type { Report } from "../../report";
import { CauseFinder } from "../causes";
import type { RenderOptions } from "../options";
import { RepositoryLinks } from "../repositoryLinks";
import { formatLocation } from "../words";
import { markup } from "./markup";
import type { Markup } from "./markup";
import { PageIndex } from "./pageIndex";

/** What the parts of a page have in common. */
export class PageContext {
  readonly index: PageIndex;
  readonly causes: CauseFinder;
  readonly links: RepositoryLinks;

  constructor(
    readonly report: Report,
    readonly options: RenderOptions,
  ) {
    this.index = new PageIndex(report);
    this.causes = new CauseFinder(report);
    this.links = new RepositoryLinks(report, options);
  }

  /** `index.ts:12`, as a link where the repository is known. */
  place(location: SourceLocation | undefined): Markup | undefined {
    const place = formatLocation(location, this.options.sourceRoot);
    if (location === undefined || place === undefined) return undefined;
    const parts = place
      .split("/")
      .map((part, index) => (index === 0 ? markup`${part}` : markup`/<wbr>${part}`));
    return linkTo(this.links.line(location), markup`<span class="mono">${parts}</span>`);
  }
}

/** A link to another site, or its text alone. */
export function linkTo(address: string | undefined, text: Markup): Markup {
  return address === undefined ? text : markup`<a href="${address}" rel="noreferrer">${text}</a>`;
}
