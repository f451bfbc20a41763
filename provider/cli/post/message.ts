import type { RenderOptions } from "../../access/render";
import { renderers } from "../../access/render";
import { title as titleOf } from "../../access/render/words";
import { commentMarker, markdown, plain, shorten } from "../../access/render/escape";
import type { Report } from "../../access/report";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is posted, for every host. */
export interface Message {
  /** The hidden first line, by which what was posted is found again. */
  readonly marker: string;
  /** Begins with the marker. */
  readonly body: string;
  /** Of an issue. */
  readonly title: string;
  /** Nothing is found, and everything was looked at. */
  readonly clean: boolean;
  /** Something is found. */
  readonly anything: boolean;
  /** Said when an issue is closed. */
  readonly closingNote: string;
}

/**
 * @param key What tells this comment from others; the stack where it is undefined.
 * @param maxBytes What the host takes.
 */
export function messageOf(
  report: Report,
  key: string | undefined,
  { sourceRoot }: Pick<RenderOptions, "sourceRoot">,
  maxBytes: number,
): Message {
  // A run that looked at something else says nothing of what another has posted.
  const scope = report.scope === undefined ? "" : ` (${report.scope})`;
  const marker = `${key ?? report.stack ?? "default"}${scope}`;
  const stack = `${report.stack === undefined ? "" : `: ${plain(report.stack)}`}${plain(scope)}`;
  const name = report.command === "drift" ? "Access drift" : titleOf(report);
  return {
    marker: commentMarker(report.command, marker),
    body: renderers.md(report, { marker, maxBytes, ...(sourceRoot === undefined ? {} : { sourceRoot }) }),
    title: shorten(`${name}${stack}`, 200),
    clean: report.complete && report.findings.length === 0,
    anything: report.findings.length > 0,
    closingNote: `Closed: a complete run found nothing any more (${markdown(`${report.tool.name} ${report.tool.version}`)}).\n`,
  };
}
