import type { Report } from "../report";
import { renderCodequality, renderGithub, renderSarif } from "./annotations";
import { json } from "./escape";
import { renderHtml } from "./html";
import { renderMarkdown } from "./markdown";
import { reportFormats } from "./renderOptions";
import type { ReportFormat, RenderOptions } from "./renderOptions";
import { renderText } from "./text";

export { reportFormats };
export type { ReportFormat, RenderOptions, Repository } from "./renderOptions";

/** Each form of a report. Pure: the same report and options give the same bytes, with a newline at the end. */
export const renderers: Readonly<Record<ReportFormat, (report: Report, options: RenderOptions) => string>> = {
  text: renderText,
  // As it is, by `schema/report.schema.json`. Never cut: a program would take a part for the whole.
  json: (report) => `${json(report)}\n`,
  md: renderMarkdown,
  sarif: renderSarif,
  github: renderGithub,
  codequality: renderCodequality,
  html: renderHtml,
};
