import type { Report } from "../report";
import { renderCodequality } from "./codequality";
import { renderGithub } from "./github";
import { renderHtml } from "./html/page";
import { renderJson } from "./json";
import { renderMarkdown } from "./markdown/renderMarkdown";
import { reportFormats } from "./options";
import type { ReportFormat, RenderOptions } from "./options";
import { renderSarif } from "./sarif";
import { renderText } from "./text/renderText";

export { reportFormats };
export type { ReportFormat, RenderOptions, Repository } from "./options";

/** Each form of a report. Pure: the same report and options give the same bytes, with a newline at the end. */
export const renderers: Readonly<Record<ReportFormat, (report: Report, options: RenderOptions) => string>> = {
  text: renderText,
  json: renderJson,
  md: renderMarkdown,
  sarif: renderSarif,
  github: renderGithub,
  codequality: renderCodequality,
  html: renderHtml,
};
